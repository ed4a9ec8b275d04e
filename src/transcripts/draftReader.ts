/**
 * The drafts of one transcript in time order. Programs write records slightly out of order; a file whose lines somebody mixed
 * up is sorted, too, within the window.
 */
import type { JournalDiagnostics, JournalTail } from '../journal/reader.js';
import type { JournalRecord } from '../journal/record.js';
import type { Redact } from '../journal/trim.js';
import type { Draft, Format } from './draft/draft.js';

/** How far records may be out of order; twice as many are held, without their long texts. */
const ORDERED_DRAFTS = 16_384;

export class DraftReader {
  readonly #tail: JournalTail;
  readonly #format: Format;
  readonly #redact: Redact;
  #ready: Draft[] = [];
  #at = 0;
  #waiting: Draft[] = [];
  #isRead = false;
  #lastTime = Number.NaN;
  #sessionId: string | null = null;

  /** @param records read from `tail` already */
  constructor(tail: JournalTail, format: Format, redact: Redact, records: readonly JournalRecord[] = []) {
    this.#tail = tail;
    this.#format = format;
    this.#redact = redact;
    this.#take(records);
  }

  get diagnostics(): JournalDiagnostics {
    return this.#tail.diagnostics;
  }

  /** As named by the first record; known before the first draft is returned. */
  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** @returns the next draft, which {@link take} takes; null at the transcript's end */
  peek(): Draft | null {
    if (this.#at === this.#ready.length) this.#refill();
    return this.#ready[this.#at] ?? null;
  }

  take(): void {
    this.#at += 1;
  }

  #refill(): void {
    while (!this.#isRead && this.#waiting.length < 2 * ORDERED_DRAFTS) {
      const batch = this.#tail.readBatch();
      // The file was rewritten: returned drafts stay returned, waiting ones are void.
      if (batch.restarted) this.#waiting = [];
      this.#take(batch.records);
      this.#isRead = !batch.more;
    }
    this.#waiting.sort((left, right) => left.time - right.time || left.ordinal - right.ordinal);
    const kept = this.#isRead ? 0 : ORDERED_DRAFTS;
    this.#ready = withoutTwins(this.#waiting.splice(0, this.#waiting.length - kept));
    this.#at = 0;
  }

  #take(records: readonly JournalRecord[]): void {
    for (const record of records) {
      this.#sessionId ??= this.#format.sessionId(record);
      for (const draft of this.#format.drafts(record, this.#redact)) this.#wait(draft);
    }
  }

  /**
   * Items of the oldest rollouts, and some records of newer programs, have no time: they are not earlier than the last one that
   * has.
   */
  #wait(draft: Draft): void {
    if (Number.isNaN(draft.time)) {
      if (!Number.isNaN(this.#lastTime)) this.#waiting.push({ ...draft, time: this.#lastTime });
      return;
    }
    this.#lastTime = draft.time;
    this.#waiting.push(draft);
  }
}

/** Drops the repetition of a record in a file. Sorted by time, the two share their instant. */
function withoutTwins(drafts: readonly Draft[]): Draft[] {
  const kept: Draft[] = [];
  let seen = new Set<string>();
  for (const [index, draft] of drafts.entries()) {
    const isAlone = drafts[index - 1]?.time !== draft.time && drafts[index + 1]?.time !== draft.time;
    if (drafts[index - 1]?.time !== draft.time) seen = new Set();
    const text = isAlone ? '' : JSON.stringify(draft);
    if (!isAlone && seen.has(text)) continue;
    seen.add(text);
    kept.push(draft);
  }
  return kept;
}
