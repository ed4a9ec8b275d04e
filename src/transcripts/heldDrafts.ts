/**
 * The drafts of a transcript that is followed, in time order over all its files. Programs write records late: an answer is written
 * when it is complete, with the time of its beginning. So the latest drafts are held for a while, and only older ones are settled.
 */
import { SECOND } from '../time.js';
import type { Draft } from './draft/draft.js';
import { ORDERED_DRAFTS } from './draftReader.js';

/** Seen: an answer that was written 8 s after later words of a person. */
const USUAL_LATENESS_MS = 30 * SECOND;

interface Held {
  readonly draft: Draft;
  /** Empty for the session's own transcript. */
  readonly file: string;
  /** The draft's time, or a later one if it cannot be put in its place any more; UTC epoch milliseconds. */
  readonly at: number;
}

export class HeldDrafts {
  #lateness: number;
  /** In order. */
  #held: Held[] = [];
  /** The drafts of this look. */
  #pulled: Held[] = [];
  /** The drafts of one instant and file that were there before this look. */
  #known: { readonly time: number; readonly file: string; readonly texts: ReadonlySet<string> } | null = null;
  /** The latest instants of all drafts, of those that are settled, and of those of this look. */
  #latest = Number.NEGATIVE_INFINITY;
  #settled = Number.NEGATIVE_INFINITY;
  #inLook = Number.NEGATIVE_INFINITY;
  /** As the last look has left them. */
  #before = { latest: Number.NEGATIVE_INFINITY, settled: Number.NEGATIVE_INFINITY };

  /** @param latenessMs how late drafts may come before everything has to be read again */
  constructor(latenessMs = USUAL_LATENESS_MS) {
    this.#lateness = latenessMs;
  }

  /** Forgets all drafts, but not how late they may be. */
  clear(): void {
    this.#held = [];
    this.#pulled = [];
    this.#latest = Number.NEGATIVE_INFINITY;
    this.#settled = Number.NEGATIVE_INFINITY;
    this.beginLook();
  }

  beginLook(): void {
    this.#before = { latest: this.#latest, settled: this.#settled };
    this.#inLook = Number.NEGATIVE_INFINITY;
  }

  /**
   * @param draft the next in the order of this look
   * @param file its path; empty for the session's own transcript
   * @returns false if it is too late to be put in order: everything has to be read again, and later drafts may then be as late.
   *   So the number of such readings is small however long a transcript grows. In one look no draft is too late
   */
  take(draft: Draft, file: string): boolean {
    const lateness = this.#before.latest - draft.time;
    if (draft.time <= this.#before.settled && lateness > this.#lateness) {
      this.#lateness = 2 * lateness;
      return false;
    }
    if (this.#isTwin(draft, file)) return true;
    this.#inLook = Math.max(this.#inLook, draft.time);
    this.#latest = Math.max(this.#latest, draft.time);
    this.#pulled.push({ draft, file, at: this.#inLook });
    return true;
  }

  /** @returns the drafts that are settled now, in order */
  settle(): Draft[] {
    const isNew = this.#held.length === 0;
    this.#held = isNew ? this.#pulled : this.#held.concat(this.#pulled).sort(inOrder);
    this.#pulled = [];
    this.#known = null;
    const before = this.#latest - this.#lateness;
    let count = this.#held.findIndex(({ at }) => at >= before);
    if (this.#held.length - count > 2 * ORDERED_DRAFTS) count = this.#held.length - ORDERED_DRAFTS;
    if (count <= 0) return [];
    const settled = this.#held.splice(0, count);
    this.#settled = settled.at(-1)?.at ?? this.#settled;
    return settled.map(({ draft }) => draft);
  }

  /** Drafts that are not settled, in order. */
  get waiting(): readonly Draft[] {
    return this.#held.map(({ draft }) => draft);
  }

  /** Whether a record is repeated from an earlier look; those of one look come without repetitions. */
  #isTwin(draft: Draft, file: string): boolean {
    const last = this.#held.at(-1);
    if (last === undefined || last.at < draft.time) return false;
    const { time } = draft;
    // Kept for the next draft, because thousands may have the same instant.
    if (this.#known?.time !== time || this.#known.file !== file) {
      const equals = this.#held.filter((held) => held.draft.time === time && held.file === file);
      this.#known = { time, file, texts: new Set(equals.map((held) => JSON.stringify(held.draft))) };
    }
    return this.#known.texts.has(JSON.stringify(draft));
  }
}

function inOrder(left: Held, right: Held): number {
  if (left.at !== right.at) return left.at - right.at;
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.draft.ordinal - right.draft.ordinal;
}
