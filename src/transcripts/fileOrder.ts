/**
 * The drafts of a file in the order of its records. For the story of a session that order decides, not the times: a clock may be set
 * back between two records, and programs write some records late.
 */
import { MINUTE } from '../time.js';
import type { Draft } from './draft/draft.js';

/** Farther back than this, a clock was wrong before or is wrong now. */
const MOST_SET_BACK_MS = 10 * MINUTE;
/** A program may write its latest records a second time. Among so many drafts a repetition is recognised. */
const MOST_REPEATED = 32;

/**
 * Where a draft stands among those of other files, by time.
 * @param last of the draft before it in its file
 * @returns its time, or that of the draft before it if that is a little later: one record from the future must not hold up all that
 *   follow
 */
export function placeAfter(last: number, { time }: Draft): number {
  return last > time && last - time <= MOST_SET_BACK_MS ? last : time;
}

/** Recognises records that are written twice. */
export class Repetitions {
  #latest = Number.NEGATIVE_INFINITY;
  /** Once they are {@link MOST_REPEATED}, the oldest is at `#oldest`. */
  readonly #recent: Draft[] = [];
  #oldest = 0;

  /** @returns whether the draft is there already; else it is remembered */
  has(draft: Draft): boolean {
    if (draft.time <= this.#latest && this.#isKnown(draft)) return true;
    this.#latest = Math.max(this.#latest, draft.time);
    if (this.#recent.length < MOST_REPEATED) this.#recent.push(draft);
    else {
      this.#recent[this.#oldest] = draft;
      this.#oldest = (this.#oldest + 1) % MOST_REPEATED;
    }
    return false;
  }

  #isKnown(draft: Draft): boolean {
    const equals = this.#recent.filter(({ time }) => time === draft.time);
    if (equals.length === 0) return false;
    const text = JSON.stringify(draft);
    return equals.some((known) => JSON.stringify(known) === text);
  }
}
