/**
 * Watches one session without a bridge: by its transcript, or, without one, by its worklog and its directory. It writes a notice
 * when the session is silent for too long, closes it when the session works again, and ends with the session, or after a day.
 */
import { isOpenSession } from '../../memory/condition/condition.js';
import type { Viewer } from '../../memory/sessions/views.js';
import type { Thresholds } from '../../src/config/rules.js';
import { WatchkeeperError } from '../../src/errors.js';
import type { HostCounters } from '../../src/host/counters.js';
import { type Clock, DAY } from '../../src/time.js';
import { OwnGaps } from '../lateness/ownGaps.js';
import { latenessLimits } from '../lateness/standstill.js';
import { ring } from './bell.js';
import { type MonitorLimits, thresholdsOf } from './monitorLimits.js';
import { isReplaced, recordMonitor } from './monitorRecord.js';
import { closingText, driveNotice } from './notices.js';
import { judgeQuietly } from './quietSession.js';
import { mayWork, type Sight, TerminalSession } from './terminalSession.js';
import { WorkspaceActivity } from './workspaceActivity.js';

/** So that no monitor is left behind if the session is never ended. */
const LONGEST_MS = DAY;

export interface MonitorOptions extends MonitorLimits {
  readonly memory: Viewer;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly counters: HostCounters;
  /** Called with each sentence for the person; must not throw. */
  say(sentence: string): void;
}

/** Why a monitor ended. `replaced`: another one has begun. */
export type MonitorEnd = 'session ended' | 'a day is over' | 'replaced' | 'stopped';

export class Monitor {
  readonly #options: MonitorOptions;
  readonly #session: TerminalSession;
  readonly #workspace: WorkspaceActivity;
  readonly #gaps: OwnGaps;
  readonly #thresholds: Thresholds;
  /** Why the last check failed; null if it did not. */
  #trouble: string | null = null;

  constructor(options: MonitorOptions) {
    const { memory, sessionId, clock, counters } = options;
    this.#options = options;
    this.#session = new TerminalSession(memory, sessionId);
    this.#workspace = new WorkspaceActivity(memory, sessionId);
    this.#thresholds = thresholdsOf(options);
    const spans = { thresholds: [this.#thresholds], backlogMs: LONGEST_MS, runLeaseMs: LONGEST_MS };
    const { boundMs } = latenessLimits(spans);
    this.#gaps = new OwnGaps({ clock, counters, here: memory.surroundings.process, boundMs });
  }

  /** A check that fails is tried again. @throws UnreachableError if it cannot be recorded that this process monitors */
  async run(signal: AbortSignal): Promise<MonitorEnd> {
    const { memory, sessionId, clock, intervalMs } = this.#options;
    this.#record();
    const end = clock.monotonic() + LONGEST_MS;
    while (!signal.aborted) {
      const sight = await this.#check();
      if (sight === null) return 'session ended';
      if (isReplaced(memory, sessionId) === true) return 'replaced';
      const leftMs = end - clock.monotonic();
      if (leftMs <= 0) return 'a day is over';
      // An instant at which it would be silent is met exactly.
      const sleepMs = Math.min(Math.max(sight.nextLook - clock.now(), 1), intervalMs, leftMs);
      this.#gaps.sleeps(sleepMs);
      await clock.sleep(sleepMs, signal);
    }
    return 'stopped';
  }

  /** @throws UnreachableError */
  #record(): void {
    const { memory, sessionId, intervalMs, checks } = this.#options;
    recordMonitor(memory, sessionId, { interval_ms: intervalMs, checks });
  }

  /** @returns as {@link runOnce}; a trouble is said once, as long as it lasts */
  async #check(): Promise<Pick<Sight, 'nextLook'> | null> {
    try {
      const sight = await this.runOnce();
      const { memory, sessionId } = this.#options;
      if (sight !== null && isReplaced(memory, sessionId) === null) this.#record();
      this.#trouble = null;
      return sight;
    } catch (error) {
      if (!(error instanceof WatchkeeperError)) throw error;
      if (error.message !== this.#trouble) this.#options.say(`cannot look, and tries again: ${error.message}`);
      this.#trouble = error.message;
      return { nextLook: Number.POSITIVE_INFINITY };
    }
  }

  /** @returns null if the session is not active any more @throws UnreachableError if it cannot be read or written */
  async runOnce(): Promise<Sight | null> {
    const { memory, say } = this.#options;
    const now = this.#gaps.now();
    const options = { now, thresholds: this.#thresholds, gaps: this.#gaps.of() };
    let sight = await this.#session.look(options);
    if (sight === null || !isOpenSession(sight.log.recorded)) return null;
    if (sight.assessment === null && mayWork(sight)) {
      const activity = this.#workspace.look();
      if (activity === 'changed') sight = (await this.#session.look(options)) ?? sight;
      if (activity !== 'unknown') sight = judgeQuietly(sight, options);
    }
    const [finding = null] = sight.findings;
    const driven = driveNotice(memory, sight, mayWork(sight) ? finding : null);
    if (driven?.change === 'closed') say(closingText(sight));
    if (driven?.change === 'opened') {
      say(driven.notice.sentence);
      const { process: here } = memory.surroundings;
      // The terminal of the monitor, too, if it has one.
      ring(here, here);
    }
    return sight;
  }
}
