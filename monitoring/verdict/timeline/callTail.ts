/**
 * An agent's latest calls in the order of their requests, for the loop rule. (Judgement rules, 13-15.)
 *
 * Consecutive equal calls with equal results are one run with a count, so that a loop of any length takes one entry. One array
 * of plain numbers holds the runs: 24 bytes each, and copied at once.
 */
import type { Thresholds } from '../../../src/config/rules.js';
import { UNKNOWN_FINGERPRINT } from './fingerprint.js';

/** Runs that are remembered: enough for the default thresholds, see {@link tailFor}. */
export const USUAL_TAIL = 25;
const LONGEST_TAIL = 4_096;
/** Runs of calls in flight that may follow a cycle. */
const MOST_IN_FLIGHT = 10;
/** The numbers of a run in the array: its input, its output, its count. */
const WIDTH = 3;
const OUTPUT = 1;
const COUNT = 2;

/** @returns how many runs must be remembered so that the longest cycle is found despite a few calls in flight */
export function tailFor({ cycle_repeats, cycle_max_period }: Thresholds): number {
  const needed = cycle_repeats * cycle_max_period + MOST_IN_FLIGHT;
  return needed > LONGEST_TAIL ? USUAL_TAIL : Math.max(USUAL_TAIL, needed);
}

export interface CallRun {
  readonly input: number;
  /** Unknown while the call is in flight. */
  readonly output: number;
  readonly count: number;
  /** Whether the result came. */
  readonly settled: boolean;
}

export class CallTail {
  lastTool = '';
  /** When the latest result came, UTC epoch milliseconds. */
  lastSettledAt = 0;
  readonly #longest: number;
  /** A negative count marks a run that waits: it is the number of its only call, negated. */
  #numbers: number[] = [];
  /** The latest call's batch, and the array index at which its runs begin. */
  #batch: string | null = null;
  #batchFrom = 0;
  #lastNumber = 0;

  constructor(longest = USUAL_TAIL) {
    this.#longest = longest;
  }

  copy(): CallTail {
    const copy = new CallTail(this.#longest);
    copy.#numbers = this.#numbers.slice();
    copy.#batch = this.#batch;
    copy.#batchFrom = this.#batchFrom;
    copy.#lastNumber = this.#lastNumber;
    copy.lastTool = this.lastTool;
    copy.lastSettledAt = this.lastSettledAt;
    return copy;
  }

  /** Forgets every call; a result that one of them still waits for will find nothing. */
  clear(): void {
    this.#remove(0, this.#numbers.length);
  }

  /** Makes no list, because most calls are new. @param longest the calls of the longest round that is a loop */
  mayRepeat(longest: number): boolean {
    let at = this.#numbers.length - WIDTH;
    while (at >= 0 && this.#at(at + COUNT) < 0) at -= WIDTH;
    if (at < 0) return false;
    if (this.#at(at + COUNT) > 1) return true;
    const input = this.#at(at);
    const first = Math.max(0, at - longest * WIDTH);
    for (let before = at - WIDTH; before >= first; before -= WIDTH) if (this.#at(before) === input) return true;
    return false;
  }

  /** Oldest first. */
  runs(): CallRun[] {
    const runs: CallRun[] = [];
    for (let at = 0; at < this.#numbers.length; at += WIDTH) {
      const count = this.#at(at + COUNT);
      runs.push({ input: this.#at(at), output: this.#at(at + OUTPUT), count: Math.max(count, 1), settled: count > 0 });
    }
    return runs;
  }

  /** @param input fingerprint of tool and input @returns the call's number; zero if its batch holds it already */
  request(input: number, batch: string, tool: string): number {
    if (batch !== this.#batch) {
      this.#batch = batch;
      this.#batchFrom = this.#numbers.length;
    }
    for (let at = this.#batchFrom; at < this.#numbers.length; at += WIDTH) if (this.#numbers[at] === input) return 0;
    this.#lastNumber += 1;
    this.lastTool = tool;
    if (this.#numbers.length >= this.#longest * WIDTH) this.#shift(input, UNKNOWN_FINGERPRINT, -this.#lastNumber);
    // A tail that was full has room. In others pushing would reserve spare room, which adds up over thousands of tails.
    else if (this.#lastNumber > this.#longest) this.#numbers.push(input, UNKNOWN_FINGERPRINT, -this.#lastNumber);
    else this.#numbers = this.#numbers.concat([input, UNKNOWN_FINGERPRINT, -this.#lastNumber]);
    return this.#lastNumber;
  }

  /** @param number of {@link CallTail.request} @param output fingerprint @param time UTC epoch milliseconds */
  settle(number: number, output: number, time: number): void {
    if (number === 0) return;
    const at = this.#waiting(number);
    if (at < 0) return;
    this.#numbers[at + OUTPUT] = output;
    this.#numbers[at + COUNT] = 1;
    this.lastSettledAt = time;
    // Not beyond the ends: once code has done so, engines read arrays slowly there.
    if (at + WIDTH < this.#numbers.length && this.#areEqual(at, at + WIDTH)) this.#merge(at);
    if (at > 0 && this.#areEqual(at - WIDTH, at)) this.#merge(at - WIDTH);
  }

  /** @returns the place of the run that waits for this call's result; below zero if it is forgotten */
  #waiting(number: number): number {
    let at = this.#numbers.length - WIDTH;
    while (at >= 0 && this.#numbers[at + COUNT] !== -number) at -= WIDTH;
    return at;
  }

  #areEqual(left: number, right: number): boolean {
    const areSettled = this.#at(left + COUNT) > 0 && this.#at(right + COUNT) > 0;
    return areSettled && this.#at(left) === this.#at(right) && this.#at(left + OUTPUT) === this.#at(right + OUTPUT);
  }

  /** Merges the run at `at` with the next one. */
  #merge(at: number): void {
    this.#numbers[at + WIDTH + COUNT] = this.#at(at + COUNT) + this.#at(at + WIDTH + COUNT);
    this.#remove(at, WIDTH);
  }

  /** Adds a run in place of the oldest one. Numbers are moved singly: for so few, `splice` takes several times as long. */
  #shift(input: number, output: number, count: number): void {
    const numbers = this.#numbers;
    const last = numbers.length - WIDTH;
    for (let at = 0; at < last; at += 1) numbers[at] = this.#at(at + WIDTH);
    numbers[last] = input;
    numbers[last + OUTPUT] = output;
    numbers[last + COUNT] = count;
    this.#batchFrom = Math.max(0, this.#batchFrom - WIDTH);
  }

  #remove(from: number, count: number): void {
    this.#numbers.splice(from, count);
    if (from < this.#batchFrom) this.#batchFrom = Math.max(from, this.#batchFrom - count);
  }

  /** Beyond the ends nothing is known. */
  #at(place: number): number {
    return this.#numbers[place] ?? UNKNOWN_FINGERPRINT;
  }
}
