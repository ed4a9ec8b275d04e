/**
 * The fold of one journal, kept incrementally.
 *
 * A verdict must not depend on the lines' order of arrival, only on their times (ties: file order). Folding is only possible in
 * time order, so the timeline consists of three parts:
 *
 * - `settled`: the state after all entries but the latest few, folded once and for ever;
 * - `recent`: the latest `window` entries, sorted, not folded yet: a line that comes late finds its place among them.
 * A judgement folds them into a copy of `settled`, a few microseconds;
 * - `heldBack`: entries from the future, until their time comes.
 *
 * If a source presumes lines, `presumed` are the entries that come after all of these as long as nothing more is written.
 *
 * So memory does not grow with the journal. A line that is older than the window can no longer be put in order, a clock that
 * was set back cannot be followed, and only the earliest of thousands of future lines are held. Then {@link
 * Timeline.needsRebuild} says so, and the whole journal is folded again with a wider window. With {@link WIDEST_WINDOW} any
 * order of that many lines gives the exact state; a line that is even later is left out and counted.
 *
 * All instants are UTC epoch milliseconds.
 */
import { SECOND } from '../../../src/time.js';
import { USUAL_TAIL } from './callTail.js';
import type { Entry } from './entry.js';
import { foldEntry } from './fold.js';
import { copyState, newState, type TimelineState } from './state.js';

/** A line this far ahead of the clock does not count as future yet: clocks differ by as much. */
const CLOCK_SKEW_MS = SECOND;
/** Our own journals are written in order; one line may overtake another. Each takes memory in every session. */
const USUAL_WINDOW = 1;
export const WIDEST_WINDOW = 131_072;
const MOST_HELD_BACK = 1_024;
/** One for all: nearly always nothing is held back. */
const NONE: readonly Entry[] = [];

export class Timeline {
  /** How many entries a late line may be late by. */
  readonly window: number;
  readonly #settled: TimelineState;
  /** By time, those of one instant in the order of the file; so are those that are held back. */
  #recent = NONE;
  #heldBack = NONE;
  #presumed = NONE;
  /** The latest instant that was requested: nothing up to it counts as future any more, even if the clock is set back. */
  #horizon = Number.NEGATIVE_INFINITY;
  #settledUntil = Number.NEGATIVE_INFINITY;
  /** The earliest future entry for which there was no room. */
  #forgottenFrom = Number.POSITIVE_INFINITY;
  #cameTooLate = 0;

  /** @param longestTail how many calls of each agent are remembered for the loop rule */
  constructor(window = USUAL_WINDOW, longestTail = USUAL_TAIL) {
    this.#settled = newState(longestTail);
    this.window = window;
  }

  /** Entries that came too late to be put in order. While the window can be widened, fold the journal again instead. */
  get cameTooLate(): number {
    return this.#cameTooLate;
  }

  /** @param entries in the order of the file; those more than {@link CLOCK_SKEW_MS} after `now` are held back */
  add(entries: readonly Entry[], now: number): void {
    this.#horizon = Math.max(this.#horizon, now + CLOCK_SKEW_MS);
    const recent = [...this.#recent];
    const ahead: Entry[] = [];
    for (const entry of this.#heldBack.length === 0 ? entries : [...this.#heldBack, ...entries]) {
      if (entry.time > this.#horizon) ahead.push(entry);
      else if (entry.time < this.#settledUntil) this.#cameTooLate += 1;
      else recent.push(entry);
    }
    this.#recent = sortByTime(recent);
    this.#holdBack(sortByTime(ahead));
    // More than the window wait before they settle: one by one would move all of them each time.
    if (this.#recent.length >= this.window + Math.ceil(this.window / 4)) this.#settle();
  }

  /** @param entries in order, not earlier than any that was added; they replace those of the last call */
  presume(entries: readonly Entry[]): void {
    this.#presumed = entries;
  }

  /** @returns whether {@link Timeline.at} would not be exact, so that the journal has to be folded again */
  needsRebuild(now: number): boolean {
    const horizon = now + CLOCK_SKEW_MS;
    return (
      this.#settledUntil > horizon ||
      (this.#forgottenFrom <= horizon && Number.isFinite(this.#forgottenFrom)) ||
      (this.#cameTooLate > 0 && this.window < WIDEST_WINDOW)
    );
  }

  /** @returns the state at that instant; a copy, the timeline does not change */
  at(now: number): TimelineState {
    const horizon = now + CLOCK_SKEW_MS;
    const state = copyState(this.#settled);
    for (const entries of [this.#recent, this.#heldBack, this.#presumed]) {
      for (const entry of entries) {
        if (entry.time > horizon) return state;
        foldEntry(state, entry);
      }
    }
    return state;
  }

  /** @returns the first instant after `now` at which a line that is held back counts; null if there is none */
  nextRelease(now: number): number | null {
    const horizon = now + CLOCK_SKEW_MS;
    const isAhead = (entry: Entry) => entry.time > horizon;
    const ahead = this.#recent.find(isAhead) ?? this.#heldBack.find(isAhead) ?? this.#presumed.find(isAhead);
    const next = Math.min(ahead?.time ?? Number.POSITIVE_INFINITY, this.#forgottenFrom);
    return Number.isFinite(next) ? next - CLOCK_SKEW_MS : null;
  }

  lastInstant(): number | null {
    const last = [this.#presumed, this.#heldBack, this.#recent].find((entries) => entries.length > 0)?.at(-1);
    const time = last?.time ?? this.#settledUntil;
    return Number.isFinite(time) ? time : null;
  }

  #settle(): void {
    const settled = this.#recent.slice(0, this.#recent.length - this.window);
    for (const entry of settled) foldEntry(this.#settled, entry);
    this.#settledUntil = settled.at(-1)?.time ?? this.#settledUntil;
    this.#recent = this.#recent.slice(settled.length);
  }

  /** The farthest future is forgotten. */
  #holdBack(ahead: readonly Entry[]): void {
    const room = Math.max(MOST_HELD_BACK, this.window);
    this.#heldBack = ahead.length === 0 ? NONE : ahead.slice(0, room);
    this.#forgottenFrom = Math.min(this.#forgottenFrom, ahead[room]?.time ?? Number.POSITIVE_INFINITY);
  }
}

/** In place; most are in order already. */
function sortByTime(entries: Entry[]): Entry[] {
  const isSorted = entries.every(({ time }, index) => index === 0 || time >= (entries[index - 1]?.time ?? 0));
  return isSorted ? entries : entries.sort((left, right) => left.time - right.time);
}
