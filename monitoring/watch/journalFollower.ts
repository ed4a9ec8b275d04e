/** Keeps the timeline of one journal up to date; folds the whole journal again if the timeline is no longer exact. */
import type { PollingList } from '../../src/config/polling.js';
import { type JournalDiagnostics, type JournalSource, JournalTail } from '../../src/journal/reader.js';
import type { JournalRecord } from '../../src/journal/record.js';
import { giveWay } from '../../src/time.js';
import { USUAL_TAIL } from '../verdict/timeline/callTail.js';
import { type Entry, isUntimed, toEntry } from '../verdict/timeline/entry.js';
import { Timeline, WIDEST_WINDOW } from '../verdict/timeline/timeline.js';

/** A window that was too narrow is made this many times wider. */
const WINDOW_GROWTH = 128;
const NONE: readonly JournalRecord[] = [];

export interface FollowDiagnostics extends JournalDiagnostics {
  /** Lines that came too late to be put in order, even in the widest window. */
  readonly misplaced_lines: number;
  /** Lines with an event but no instant, or an impossible one. */
  readonly untimed_lines: number;
}

export class JournalFollower {
  readonly #tail: JournalSource;
  readonly #polling: PollingList | undefined;
  #timeline = new Timeline();
  #longestTail = USUAL_TAIL;
  #sessionId: string | null = null;
  #untimed = 0;
  #presumed = NONE;

  /** @param journal its path, which need not exist yet, or another source of its lines */
  constructor(journal: string | JournalSource, polling?: PollingList) {
    this.#tail = typeof journal === 'string' ? new JournalTail(journal) : journal;
    this.#polling = polling;
  }

  /** As of the last look. */
  get timeline(): Timeline {
    return this.#timeline;
  }

  get sessionId(): string | null {
    return this.#sessionId;
  }

  get diagnostics(): FollowDiagnostics {
    const { cameTooLate } = this.#timeline;
    return { ...this.#tail.diagnostics, misplaced_lines: cameTooLate, untimed_lines: this.#untimed };
  }

  /** If the timeline remembered fewer calls than `tailFor` returned, the next look folds the whole journal again. */
  remember(longestTail: number): void {
    if (longestTail <= this.#longestTail) return;
    this.#longestTail = longestTail;
    this.#startAfresh(this.#timeline.window);
    this.#tail.rewind();
  }

  /**
   * Reads on to the journal's end, yielding after each chunk. Unreadable parts are counted in {@link
   * JournalFollower.diagnostics}.
   * @param now UTC epoch milliseconds; lines from after it are held back. Infinite: none is
   * @returns whether anything was read, or is presumed now
   * @throws the file system's error if this process, not the file, is the reason that nothing can be read
   */
  async look(now: number): Promise<boolean> {
    let changed = false;
    let batch = this.#tail.readBatch();
    while (batch.records.length > 0 || batch.restarted || batch.more) {
      changed = true;
      if (batch.restarted) this.#startAfresh(this.#timeline.window);
      this.#timeline.add(this.#toEntries(batch.records), now);
      if (!batch.more) break;
      await giveWay();
      batch = this.#tail.readBatch();
    }
    if (!this.#timeline.needsRebuild(now)) return this.#presume() || changed;
    const { cameTooLate, window } = this.#timeline;
    this.#startAfresh(cameTooLate > 0 ? Math.min(WIDEST_WINDOW, window * WINDOW_GROWTH) : window);
    this.#tail.rewind();
    await this.look(now);
    return true;
  }

  /** @returns whether anything else is presumed than before */
  #presume(): boolean {
    const presumed = this.#tail.presumed?.() ?? NONE;
    if (presumed === this.#presumed) return false;
    this.#presumed = presumed;
    this.#timeline.presume(this.#toEntries(presumed));
    return true;
  }

  #startAfresh(window: number): void {
    this.#untimed = 0;
    this.#presumed = NONE;
    this.#timeline = new Timeline(window, this.#longestTail);
  }

  #toEntries(records: readonly JournalRecord[]): Entry[] {
    const entries: Entry[] = [];
    for (const record of records) {
      if (this.#sessionId === null && typeof record.session_id === 'string') this.#sessionId = record.session_id;
      const entry = toEntry(record, this.#polling);
      if (entry !== null) entries.push(entry);
      else if (isUntimed(record)) this.#untimed += 1;
    }
    return entries;
  }
}
