/**
 * Looks whether the model of a run has been silent for long, so that the chat learns of it before the watchdog finds it. It reads
 * the run's own journal, as the watchdog does, but only after nothing was heard for that long: a busy agent costs nothing.
 */

import { assessSessionHealth, quietSince } from '../../monitoring/verdict/assessSessionHealth.js';
import type { SessionContext } from '../../monitoring/verdict/owedWork.js';
import { isActivity } from '../../monitoring/verdict/timeline/entry.js';
import { JournalFollower } from '../../monitoring/watch/journalFollower.js';
import type { Thresholds } from '../../src/config/rules.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import { type Clock, SECOND, type Timer } from '../../src/time.js';

/** A call in flight, or a limit of the provider, may end at any time. */
const LOOK_EVERY_MS = 10 * SECOND;

export interface QuietContext {
  readonly clock: Clock;
  readonly thresholds: Thresholds;
  /** The path of the run's own journal. */
  readonly journal: string;
  readonly run: Pick<SessionContext, 'started_at'>;
  /** A journal that lacks lines is silent, whatever the agent does. */
  isTorn(): boolean;
  /** Aborts when the run is asked to end. */
  readonly stopped: AbortSignal;
  /** @param since epoch milliseconds; null if the agent works again, or was never silent */
  show(since: number | null): void;
}

export class QuietWord {
  readonly #context: QuietContext;
  /** By the monotonic clock, which stands still while the host sleeps. */
  #heardAt: number;
  #since: number | null = null;
  #journal: JournalFollower | null = null;
  #timer: Timer | null = null;
  #isOver = false;

  constructor(context: QuietContext) {
    this.#context = context;
    this.#heardAt = context.clock.monotonic();
  }

  /** Takes a line of the run. If it shows that the agent works again, the word is taken back. */
  heard(line: JournalEvent): void {
    if (!isActivity(line)) return;
    this.#heardAt = this.#context.clock.monotonic();
    this.#say(null);
  }

  /** Looks until it is ended or the run is stopped. @param onFault called once if a look fails: there is no further one */
  begin(onFault: (error: unknown) => void): void {
    this.#lookAgainIn(this.#context.thresholds.quiet_ms + 1, onFault);
  }

  /** Nothing is shown any more. */
  end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  get #hasEnded(): boolean {
    return this.#isOver || this.#context.stopped.aborted;
  }

  /** Only a timer waits: nearly every run ends before it, and an abortable wait costs as much as a write to a file. */
  #lookAgainIn(delayMs: number, onFault: (error: unknown) => void): void {
    this.#timer = this.#context.clock.after(delayMs, () => void this.#lookOn(onFault).catch(onFault));
  }

  async #lookOn(onFault: (error: unknown) => void): Promise<void> {
    if (this.#hasEnded) return;
    const { clock, thresholds } = this.#context;
    const dueInMs = this.#heardAt + thresholds.quiet_ms + 1 - clock.monotonic();
    const nextInMs = dueInMs > 0 ? dueInMs : await this.#look();
    if (!this.#hasEnded) this.#lookAgainIn(nextInMs, onFault);
  }

  async #look(): Promise<number> {
    const { clock, thresholds, run } = this.#context;
    if (this.#context.isTorn()) return LOOK_EVERY_MS;
    // Most runs end before the first look.
    this.#journal ??= new JournalFollower(this.#context.journal);
    const journal = this.#journal;
    const heardAt = this.#heardAt;
    const now = clock.now();
    await journal.look(now);
    const { refused, newer_lines: newer } = journal.diagnostics;
    if (refused !== null || newer > 0 || this.#hasEnded || heardAt !== this.#heardAt) return LOOK_EVERY_MS;
    const assessment = assessSessionHealth(journal.timeline, thresholds, now, { status: 'active', ...run });
    this.#say(quietSince(assessment, thresholds, now));
    // The journal's lines are a little younger than the events.
    const leftMs = thresholds.quiet_ms + 1 - (assessment.clock.silence_ms ?? 0);
    return leftMs > 0 ? Math.min(leftMs, LOOK_EVERY_MS) : LOOK_EVERY_MS;
  }

  #say(since: number | null): void {
    if (since === this.#since) return;
    this.#since = since;
    this.#context.show(since);
  }
}
