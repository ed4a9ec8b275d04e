/**
 * The officer who stays awake. On its schedule it looks at every active session (`checkAllSessions`); in between it sleeps
 * until the first instant at which a rule could become true, and looks at that session only.
 *
 * One loop does all looking, so no two looks overlap. Slow work (reports, deliveries) runs in the saga's background. The
 * watchdog never signals an agent: it stores its wish, and the run's owner acts.
 */

import { Cron } from 'croner';
import type { Rule } from '../src/config/rules.js';
import { counted } from '../src/counted.js';
import { describeError, FencedError } from '../src/errors.js';
import type { Finding } from '../src/jobs/findings.js';
import type { WorkQueue } from '../src/jobs/ports.js';
import type { LaneView } from '../src/jobs/records.js';
import type { Wake, Wakes } from '../src/jobs/wakes.js';
import type { Service } from '../src/service.js';
import { describeDuration, MINUTE, SECOND } from '../src/time.js';
import type { ActedFolders } from './actors/actedFolders.js';
import type { WatchdogLease } from './actors/watchdogLease.js';
import type { BacklogWatch } from './rounds/backlogWatch.js';
import type { BlockedLaneWatch } from './rounds/blockedLaneWatch.js';
import type { UnreadableRecords } from './rounds/unreadableRecords.js';
import { type LookContext, type LookOptions, RETRY_MS, SessionLooks } from './watch/sessionLooks.js';

/** How long a single look waits for the reports and messages that it started. */
const SETTLE_MS = 30 * SECOND;
/** A tick that takes longer is abandoned, so that a hanging one does not stop the schedule. */
const TICK_LIMIT_MS = 2 * MINUTE;

export interface WatchdogContext extends LookContext {
  readonly wakes: Wakes;
  readonly lease: WatchdogLease;
  readonly folders: ActedFolders;
  readonly queue: WorkQueue;
  readonly backlog: BacklogWatch;
  readonly blockedLanes: BlockedLaneWatch;
  /** In this order, after each look at everything: each works if its time has come, and never throws. */
  readonly rounds: readonly { runIfDue(): Promise<void> }[];
  readonly unreadable: UnreadableRecords;
  /** Five fields, UTC. */
  readonly cron: string;
  /** Called after each full check that finished in time; must not throw. */
  onTick?(): void;
}

/** The findings of one full check. */
export interface TickSummary {
  readonly sessions: number;
  readonly healthy: number;
  readonly accused: ReadonlyMap<string, readonly Finding[]>;
  /** Messages that have waited in a lane for too long, by session. */
  readonly waiting: ReadonlyMap<string, readonly Finding[]>;
  readonly incidents: number;
  readonly tookMs: number;
}

export class SessionWatchdog implements Service {
  readonly name = 'watchdog';
  readonly #context: WatchdogContext;
  readonly #looks: SessionLooks;
  readonly #stopping = new AbortController();
  #cron: Cron | null = null;
  #loop: Promise<void> | null = null;
  #tickedAt: number | null = null;
  #unlisten: () => void = () => undefined;

  constructor(context: WatchdogContext) {
    this.#context = context;
    this.#looks = new SessionLooks(context);
  }

  /** Epoch milliseconds; null before the first. One left to the acting watchdog counts: a standby that takes over is not late. */
  get lastTickAt(): number | null {
    return this.#tickedAt;
  }

  /** When the next scheduled full check is due, in epoch milliseconds; null if none is scheduled. */
  get nextTickAt(): number | null {
    return this.#cron?.nextRun(new Date(this.#tickedAt ?? 0))?.getTime() ?? null;
  }

  async start(): Promise<void> {
    if (this.#loop !== null) return;
    const { agenda, wakes, cron, logger } = this.#context;
    this.#unlisten = wakes.listen((wake) => noteWake(this.#context, wake));
    this.#cron = new Cron(
      cron,
      { timezone: 'UTC', catch: (error) => logger.error({ err: error }, 'the schedule failed') },
      () => agenda.tick(),
    );
    agenda.tick();
    this.#loop = this.#watchdogLoop();
  }

  async stop(): Promise<void> {
    this.#unlisten();
    this.#cron?.stop();
    this.#stopping.abort();
    this.#context.agenda.wakeUp();
    await this.#loop;
  }

  /** @param act false only looks: nothing is stored, filed or sent @param signal leaves the rest for the next look */
  async checkAllSessions({ act, signal }: LookOptions = { act: true }): Promise<TickSummary> {
    const { clock, watched, store, saga, queue, here, logger } = this.#context;
    const begun = clock.monotonic();
    await this.#context.gaps.refresh();
    await watched.refresh();
    // Redis checks the lanes while this process reads the journals.
    const [accused, lanes] = await Promise.all([
      this.#looks.lookAtAll({ act, signal }),
      store.records.lanesWorthALook(here.host),
    ]);
    const { incidents, isOneBroken } = await this.#looks.openIncidents();
    const incidentIds = incidents.map(({ incident_id }) => incident_id);
    if (act) {
      this.#context.folders.noteIncidents(incidents);
      await this.#context.unreadable.setAside(watched.unreadable, watched.all(), isOneBroken);
      for (const id of incidentIds) saga.drive(id);
      await queue.pump(lanes);
      this.#looks.forgetAllBut(new Set(incidentIds));
    }
    const waiting = await this.#lookAtLanes(act, lanes);
    const summary: TickSummary = {
      sessions: watched.size,
      healthy: watched.size - accused.size,
      accused,
      waiting,
      incidents: incidents.length,
      tookMs: clock.monotonic() - begun,
    };
    logger.info({ open_incidents: incidents.length }, describeTick(summary));
    if (act && signal?.aborted !== true) for (const round of this.#context.rounds) await round.runIfDue();
    return summary;
  }

  /** Only looks if another watchdog acts. @param driveMs incidents that are due within this many milliseconds are driven */
  async lookAndAct(driveMs: number): Promise<TickSummary> {
    const { lease, logger } = this.#context;
    if (!lease.isActing) logger.warn('another watchdog acts for this logs folder; this one only looks');
    const summary = await this.checkAllSessions({ act: lease.isActing });
    await this.#driveIncidents(driveMs);
    return summary;
  }

  async #driveIncidents(driveMs: number): Promise<void> {
    const { agenda, clock, saga } = this.#context;
    const begun = clock.now();
    for (;;) {
      const done = new AbortController();
      const rest = saga.settle().then(() => done.abort());
      await Promise.race([rest, clock.sleep(begun + SETTLE_MS - clock.now(), done.signal)]);
      const next = agenda.nextDriveAt;
      if (!done.signal.aborted || next > begun + driveMs) return;
      await clock.sleep(Math.max(next - clock.now(), 0));
      for (const id of agenda.takeDueIncidents()) saga.drive(id);
    }
  }

  async #watchdogLoop(): Promise<void> {
    const { agenda, backlog, lease, logger, clock } = this.#context;
    while (!this.#stopping.signal.aborted) {
      const due = await agenda.next(this.#stopping.signal);
      if (this.#stopping.signal.aborted) continue;
      if (!lease.isActing) {
        if (due.tick) this.#tickedAt = clock.now();
        continue;
      }
      // New messages send no wake from here on, so they are found at this instant.
      if (due.tick || due.lanes) agenda.lookAtLanes(backlog.newcomersAt());
      try {
        if (due.tick) await this.#tick();
      } catch (error) {
        logger.error({ err: error }, `the watchdog's round failed: ${describeError(error)}`);
      }
      for (const id of due.incidents) this.#context.saga.drive(id);
      await this.#looks.lookAtDue(due, this.#stopping.signal);
      if (due.lanes && !due.tick) await this.#lookAgainAtLanes();
    }
  }

  async #tick(): Promise<void> {
    const { clock, onTick } = this.#context;
    const late = new AbortController();
    const signal = AbortSignal.any([late.signal, this.#stopping.signal]);
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const timer = clock.after(TICK_LIMIT_MS, () => late.abort());
    const work = this.checkAllSessions({ act: true, signal });
    await Promise.race([work, ended]).finally(() => timer.cancel());
    if (late.signal.aborted) throw new Error(`it took more than ${describeDuration(TICK_LIMIT_MS)} and was abandoned`);
    if (signal.aborted) return;
    this.#tickedAt = clock.now();
    onTick?.();
  }

  async #lookAtLanes(act: boolean, lanes?: readonly LaneView[]): Promise<ReadonlyMap<string, readonly Finding[]>> {
    const { backlog, blockedLanes, agenda } = this.#context;
    const { findings, nextLook, unread } = await backlog.look(act, lanes);
    if (!act) return findings;
    await this.#context.unreadable.setWaitingAside(unread);
    for (const instant of [nextLook, await blockedLanes.look()]) if (instant !== null) agenda.lookAtLanes(instant);
    return findings;
  }

  async #lookAgainAtLanes(): Promise<void> {
    const { agenda, clock, logger } = this.#context;
    try {
      await this.#lookAtLanes(true);
    } catch (error) {
      agenda.lookAtLanes(clock.now() + RETRY_MS);
      if (error instanceof FencedError) return;
      logger.warn({ err: error }, `waiting messages will be checked a little later: ${describeError(error)}`);
    }
  }
}

function noteWake({ agenda, backlog }: WatchdogContext, wake: Wake): void {
  const { everything, session, lane, outbox, stop, incident } = wake;
  if (everything) agenda.tick();
  const overAt = lane === undefined && session === undefined ? null : backlog.mayBeOverAt();
  if (overAt !== null) agenda.lookAtLanes(overAt);
  for (const id of new Set([session, outbox, stop])) if (id !== undefined) agenda.lookNow(id);
  if (incident !== undefined) agenda.driveAt(incident, 0);
}

function describeTick({ sessions, healthy, accused, waiting, tookMs }: TickSummary): string {
  const byRule = new Map<Rule, number>();
  for (const findings of accused.values()) {
    const rule = findings[0]?.rule;
    if (rule !== undefined) byRule.set(rule, (byRule.get(rule) ?? 0) + 1);
  }
  const sick = [...byRule].map(([rule, count]) => `, ${count} ${rule}`).join('');
  const stuck = waiting.size === 0 ? '' : `, ${waiting.size} backlog`;
  return `watchdog: ${counted(sessions, 'session')}, ${healthy} healthy${sick}${stuck}, ${describeDuration(tookMs)}`;
}
