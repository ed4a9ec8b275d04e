/**
 * The drafts of a file in the order of its records. For the story of a session that order decides, not the times: a clock may be set
 * back between two records, and programs write some records late.
 */
import { MINUTE } from '../time.js';
import type { Draft } from './draft/draft.js';

/**
 * A record that is earlier than the one before it gets that one's time, so that times go on, too. Farther back than this, a clock was
 * wrong before or is wrong now, and the record keeps its time: otherwise one record from the future would date all that follow.
 */
const MOST_SET_BACK_MS = 10 * MINUTE;
/** A program may write its latest records a second time. Among so many drafts a repetition is recognised. */
const MOST_REPEATED = 32;

export class FileOrder {
  #lastTime = Number.NEGATIVE_INFINITY;
  /** The latest drafts, as their records have them; once they are {@link MOST_REPEATED}, the oldest is at `#oldest`. */
  readonly #recent: Draft[] = [];
  #oldest = 0;

  /** @returns the draft, not earlier than the one before it; null if it is a repetition */
  next(draft: Draft): Draft | null {
    const { time } = draft;
    if (time <= this.#lastTime && this.#isRepeated(draft)) return null;
    this.#remember(draft);
    if (time < this.#lastTime && this.#lastTime - time <= MOST_SET_BACK_MS) return { ...draft, time: this.#lastTime };
    this.#lastTime = time;
    return draft;
  }

  #isRepeated(draft: Draft): boolean {
    const equals = this.#recent.filter(({ time }) => time === draft.time);
    if (equals.length === 0) return false;
    const text = JSON.stringify(draft);
    return equals.some((known) => JSON.stringify(known) === text);
  }

  #remember(draft: Draft): void {
    if (this.#recent.length < MOST_REPEATED) {
      this.#recent.push(draft);
      return;
    }
    this.#recent[this.#oldest] = draft;
    this.#oldest = (this.#oldest + 1) % MOST_REPEATED;
  }
}
