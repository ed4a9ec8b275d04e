/**
 * The drafts of one transcript, for the judgement in time order, for the story of a session in the order of the file. Programs write
 * records slightly out of order; by time, a file with mixed-up lines is sorted, too, within the window.
 */
import type { JournalDiagnostics, JournalTail } from '../journal/reader.js';
import type { JournalRecord } from '../journal/record.js';
import type { Draft, Format } from './draft/draft.js';
import { inDirectory } from './draft/inDirectory.js';
import type { Trimmer } from './draft/trimmer.js';
import { placeAfter, Repetitions } from './fileOrder.js';

/** How far records may be out of order; twice as many are held, without their long texts, and as many again of one instant. */
export const ORDERED_DRAFTS = 16_384;
/** `time`: lines of different instants may be mixed up. `file`: the order of the records counts. */
export type DraftOrder = 'time' | 'file';

const NONE: readonly Draft[] = [];

export interface DraftReaderOptions {
  readonly format: Format;
  readonly trimmer: Trimmer;
  /** Read from the file already. */
  readonly records?: readonly JournalRecord[];
  readonly order?: DraftOrder;
}

export class DraftReader {
  /** As named by the first record; known before the first draft is returned. */
  sessionId: string | null = null;
  /** As the first record says that names one. */
  directory: string | null = null;
  readonly #tail: JournalTail;
  readonly #format: Format;
  readonly #trimmer: Trimmer;
  /** In order, returned one by one. */
  #ready = NONE;
  #taken = 0;
  #waiting: Draft[] = [];
  #isRead = false;
  #lastTime = Number.NaN;
  #isVoid = false;
  /** Null if drafts are put in time order. */
  readonly #repetitions: Repetitions | null;
  /** The place of the last draft that was taken. */
  #place = Number.NEGATIVE_INFINITY;

  constructor(tail: JournalTail, { format, trimmer, records = [], order = 'time' }: DraftReaderOptions) {
    this.#tail = tail;
    this.#format = format;
    this.#trimmer = trimmer;
    this.#repetitions = order === 'file' ? new Repetitions() : null;
    this.#take(records);
  }

  get diagnostics(): JournalDiagnostics {
    return this.#tail.diagnostics;
  }

  /** @returns the next draft, which {@link take} takes; null at the transcript's end */
  peek(): Draft | null {
    while (!this.isReady) this.prepare();
    return this.#ready[this.#taken] ?? null;
  }

  /** Whether {@link peek} reads nothing. */
  get isReady(): boolean {
    return this.#taken < this.#ready.length || this.#isRead;
  }

  /** Reads one chunk that {@link peek} needs, for a caller that has other work in between. */
  prepare(): void {
    const batch = this.#tail.readBatch();
    // The file was rewritten: returned drafts stay returned, waiting ones are void.
    if (batch.restarted) this.#waiting = [];
    this.#isVoid ||= batch.restarted;
    this.#take(batch.records);
    this.#isRead = !batch.more;
    if (this.#repetitions !== null) this.#takeAsTheyAre();
    else if (this.#isRead || this.#waiting.length >= 2 * ORDERED_DRAFTS) this.#arrange();
  }

  /** @returns where the next draft stands among those of other files; infinite at the transcript's end */
  get nextPlace(): number {
    const draft = this.peek();
    if (draft === null) return Number.POSITIVE_INFINITY;
    return this.#repetitions === null ? draft.time : placeAfter(this.#place, draft);
  }

  take(): void {
    const draft = this.#ready[this.#taken];
    if (draft !== undefined && this.#repetitions !== null) this.#place = placeAfter(this.#place, draft);
    this.#taken += 1;
    if (this.#taken < this.#ready.length) return;
    // A follower of a transcript keeps this reader for long.
    this.#ready = NONE;
    this.#taken = 0;
  }

  /** The file was rewritten, replaced or removed: returned drafts are void. */
  get isVoid(): boolean {
    return this.#isVoid;
  }

  /** After the transcript's end, looks again for appended lines; their drafts may be earlier than the ones before. */
  readOn(): void {
    this.#isRead = false;
  }

  #takeAsTheyAre(): void {
    this.#ready = this.#waiting;
    this.#waiting = [];
    this.#taken = 0;
  }

  #arrange(): void {
    this.#waiting.sort((left, right) => left.time - right.time || left.ordinal - right.ordinal);
    const settled = this.#isRead ? this.#waiting.length : this.#settled();
    this.#ready = withoutTwins(this.#waiting.splice(0, settled));
    this.#taken = 0;
  }

  /** How many drafts are before the window. Those of one instant stay together, unless they are many: they may be twins. */
  #settled(): number {
    let settled = this.#waiting.length - ORDERED_DRAFTS;
    const least = Math.max(settled - ORDERED_DRAFTS, 0);
    while (settled > least && this.#waiting[settled - 1]?.time === this.#waiting[settled]?.time) settled -= 1;
    return settled;
  }

  #take(records: readonly JournalRecord[]): void {
    for (const record of records) {
      this.sessionId ??= this.#format.sessionId(record);
      const directory = this.#format.directory(record);
      this.directory ??= directory;
      const left = directory === this.directory ? null : directory;
      for (const draft of this.#format.drafts(record, this.#trimmer))
        this.#wait(left === null ? draft : inDirectory(draft, left));
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
    if (this.#repetitions?.has(draft) === true) return;
    this.#lastTime = draft.time;
    this.#waiting.push(draft);
  }
}

/** @returns the one whose next draft is the earliest, the first of several; null if no reader has one */
export function earliestOf(readers: readonly DraftReader[]): DraftReader | null {
  const [only] = readers;
  if (readers.length === 1 && only !== undefined) return only.peek() === null ? null : only;
  let first: DraftReader | null = null;
  let place = Number.POSITIVE_INFINITY;
  for (const reader of readers) {
    const next = reader.nextPlace;
    if (next >= place) continue;
    first = reader;
    place = next;
  }
  return first;
}

/** Drops the repetition of a record in a file. Sorted by time, the two share their instant. */
function withoutTwins(drafts: readonly Draft[]): Draft[] {
  const seen = new Set<string>();
  return drafts.filter(({ time }, index) => {
    const isFirst = drafts[index - 1]?.time !== time;
    if (isFirst && drafts[index + 1]?.time !== time) return true;
    if (isFirst) seen.clear();
    const text = JSON.stringify(drafts[index]);
    const isTwin = seen.has(text);
    seen.add(text);
    return !isTwin;
  });
}
