/** A run's journal. A full disk must not end a healthy run: it is logged once, and the record says that lines are missing. */

import { describeError } from '../../src/errors.js';
import { leastSinceBootMs } from '../../src/host/counters.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import { withoutTexts } from '../../src/journal/texts.js';
import { dropUnsent, markUnsent } from '../../src/journal/unsent.js';
import { JournalWriter } from '../../src/journal/writer.js';
import { isoTime, SECOND, type Timer } from '../../src/time.js';
import type { AgentEnd } from '../agents/program/contract.js';
import type { RunContext } from './runContext.js';

/** One commit of the file system takes every line of that time. */
const SYNC_WITHIN_MS = SECOND / 2;

export class RunJournal {
  readonly #context: RunContext;
  readonly #sessionId: string;
  #writer: JournalWriter | null = null;
  #missing = 0;
  #isRefused = false;
  /** Due while lines are not on the disk yet; null if there are none. */
  #syncing: Timer | null = null;

  /** Opens the journal; never throws, like everything here. */
  constructor(context: RunContext, sessionId: string) {
    this.#context = context;
    this.#sessionId = sessionId;
    this.#orSay(() => this.#open());
  }

  /** Whether it could not be opened at once, or lacks a line. */
  get isTorn(): boolean {
    return this.#isRefused || this.#missing > 0;
  }

  /**
   * Appends the first line. Without it, a run that is lost counts as an attempt.
   * @param acceptedAt when its message was accepted, epoch milliseconds
   */
  begin(runId: string, acceptedAt: number): void {
    const sinceBootMs = leastSinceBootMs(this.#context.clock);
    this.append({
      event: 'run_start',
      run_id: runId,
      boot_id: this.#context.here.boot_id,
      ...(sinceBootMs !== null && { since_boot_ms: Math.floor(sinceBootMs) }),
      accepted_at: isoTime(acceptedAt),
    });
  }

  append(line: JournalEvent): void {
    const { texts } = this.#context.settings.memory;
    const isWritten = this.#orSay(() => void this.#open().append(texts ? line : withoutTexts(line)));
    if (!isWritten) this.#missing += 1;
    else if (this.#isRefused) this.#sayWell();
    if (isWritten) this.#syncing ??= this.#context.clock.after(SYNC_WITHIN_MS, () => this.#sync());
  }

  /** A power failure must not hide the first attempt's work from the second one. */
  #sync(): void {
    this.#syncing = null;
    this.#writer?.sync().catch((err: unknown) => this.#sayRefused(err));
  }

  /**
   * Appends the last line and closes. The sender of an answer first makes that line survive a crash of the host
   * (`bridge/chat/chatRouter.ts`), so that no lane waits for the disk. Until the answer is handed over, any process that finds
   * it may send it: a watchdog that is ending the run may be faster than the run.
   */
  end(end: AgentEnd): void {
    const answer = end.kind === 'answered' ? { answer: end.answer } : {};
    this.append({ event: 'session_end', reason: end.kind, ...answer });
    this.#syncing?.cancel();
    // The sender of an answer syncs it.
    if (end.kind === 'answered') this.#syncing = null;
    else this.#sync();
    this.#orSay(() => this.#writer?.close());
    if (end.kind === 'answered') markUnsent(this.#logsFolder, this.#sessionId, this.#context.here.boot_id);
  }

  /** Called before the answer is stored: from then on it may have been sent. */
  handOver(): void {
    dropUnsent(this.#logsFolder, this.#sessionId);
  }

  get #logsFolder(): string {
    return this.#context.settings.logsFolder;
  }

  #open(): JournalWriter {
    if (this.#writer === null) {
      const { clock, redact } = this.#context;
      this.#writer = JournalWriter.open({ logsFolder: this.#logsFolder, sessionId: this.#sessionId, clock, redact });
    }
    return this.#writer;
  }

  #orSay(work: () => unknown): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.#sayRefused(error);
      return false;
    }
  }

  #sayRefused(error: unknown): void {
    if (!this.#isRefused) {
      const said = `session ${this.#sessionId}: ${describeError(error)}; its run continues, judged by its record alone`;
      this.#context.logger.error({ err: error, session_id: this.#sessionId }, said);
    }
    this.#isRefused = true;
  }

  #sayWell(): void {
    this.#isRefused = false;
    const fields = { session_id: this.#sessionId, missing_lines: this.#missing };
    const said = `session ${this.#sessionId}: its journal can be written again, ${this.#missing} are missing`;
    this.#context.logger.warn(fields, said);
  }
}
