/**
 * An agent's latest calls in the order of their requests, for the loop rule. (Judgement rules, 13-15.)
 *
 * Equal calls with equal results that follow each other are one run with a count, so that a loop of any length takes one
 * place. Arrays of plain numbers hold the runs: 40 bytes each, and copied at once.
 */
import type { Thresholds } from '../../src/model.js';
import { UNKNOWN_FINGERPRINT } from './fingerprint.js';

/** Runs that are remembered: enough for the default thresholds, see {@link tailFor}. */
export const USUAL_TAIL = 32;
const LONGEST_TAIL = 4_096;
/** How many runs are forgotten at a time. */
const FORGOTTEN = 8;

/**
 * @param thresholds what makes a loop
 * @returns how many runs must be remembered so that the longest cycle is found beside a few calls in flight
 */
export function tailFor({ cycle_repeats, cycle_max_period }: Thresholds): number {
  const needed = cycle_repeats * cycle_max_period + 2 * FORGOTTEN;
  return needed > LONGEST_TAIL ? USUAL_TAIL : Math.max(USUAL_TAIL, needed);
}

/** Equal calls in a row. */
export interface CallRun {
  readonly input: number;
  /** Unknown while the call is in flight. */
  readonly output: number;
  readonly count: number;
  /** Whether the result came. */
  readonly settled: boolean;
}

export class CallTail {
  readonly #longest: number;
  #inputs: number[] = [];
  #outputs: number[] = [];
  #batches: number[] = [];
  #counts: number[] = [];
  /** The number of the call that a run waits for; zero once it is settled. */
  #pending: number[] = [];
  #lastNumber = 0;
  #lastTool = '';
  #lastSettledAt = 0;

  /** @param longest how many runs are remembered */
  constructor(longest = USUAL_TAIL) {
    this.#longest = longest;
  }

  copy(): CallTail {
    const copy = new CallTail(this.#longest);
    copy.#inputs = this.#inputs.slice();
    copy.#outputs = this.#outputs.slice();
    copy.#batches = this.#batches.slice();
    copy.#counts = this.#counts.slice();
    copy.#pending = this.#pending.slice();
    copy.#lastNumber = this.#lastNumber;
    copy.#lastTool = this.#lastTool;
    copy.#lastSettledAt = this.#lastSettledAt;
    return copy;
  }

  /** Forgets every call; a result that one of them still waits for will find nothing. */
  clear(): void {
    this.#remove(0, this.#inputs.length);
  }

  /** The tool of the latest call. */
  get lastTool(): string {
    return this.#lastTool;
  }

  /** When the latest result came, UTC epoch milliseconds. */
  get lastSettledAt(): number {
    return this.#lastSettledAt;
  }

  /** Oldest first. */
  runs(): CallRun[] {
    return this.#inputs.map((input, index) => ({
      input,
      output: this.#outputs[index] ?? UNKNOWN_FINGERPRINT,
      count: this.#counts[index] ?? 0,
      settled: this.#pending[index] === 0,
    }));
  }

  /**
   * @param input fingerprint of tool and input
   * @param batch fingerprint of the batch
   * @returns the call's number for its result; zero for a call that its batch holds already: it counts once
   */
  request(input: number, batch: number, tool: string): number {
    for (let index = this.#inputs.length - 1; index >= 0 && this.#batches[index] === batch; index -= 1) {
      if (this.#inputs[index] === input) return 0;
    }
    if (this.#inputs.length >= this.#longest) this.#remove(0, FORGOTTEN);
    this.#lastNumber += 1;
    this.#lastTool = tool;
    this.#inputs.push(input);
    this.#outputs.push(UNKNOWN_FINGERPRINT);
    this.#batches.push(batch);
    this.#counts.push(1);
    this.#pending.push(this.#lastNumber);
    return this.#lastNumber;
  }

  /**
   * @param number as {@link CallTail.request} gave it
   * @param output fingerprint of the result
   * @param time the result's instant, UTC epoch milliseconds
   */
  settle(number: number, output: number, time: number): void {
    if (number === 0) return;
    const index = this.#pending.lastIndexOf(number);
    if (index < 0) return;
    this.#outputs[index] = output;
    this.#pending[index] = 0;
    this.#lastSettledAt = time;
    if (this.#areEqual(index, index + 1)) this.#merge(index);
    if (this.#areEqual(index - 1, index)) this.#merge(index - 1);
  }

  #areEqual(left: number, right: number): boolean {
    const areSettled = this.#pending[left] === 0 && this.#pending[right] === 0;
    return areSettled && this.#inputs[left] === this.#inputs[right] && this.#outputs[left] === this.#outputs[right];
  }

  /** Makes one run of the one at `index` and the next one. */
  #merge(index: number): void {
    this.#counts[index + 1] = (this.#counts[index] ?? 0) + (this.#counts[index + 1] ?? 0);
    this.#remove(index, 1);
  }

  #remove(from: number, count: number): void {
    for (const numbers of [this.#inputs, this.#outputs, this.#batches, this.#counts, this.#pending]) {
      numbers.splice(from, count);
    }
  }
}
