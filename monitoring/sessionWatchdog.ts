/**
 * The officer who stays awake. On its schedule it looks at every active session (`checkAllSessions`); in between it sleeps
 * until the first instant at which a rule could become true, and looks at that session only.
 *
 * One loop does all looking, so no two looks meet. What takes long (reports, deliveries) runs in the saga's background.
 * The watchdog never signals an agent: it stores what it wants, and the run's owner acts.
 */
import { Cron } from 'croner';
import { counted } from '../src/counted.js';
import { describeError, FencedError } from '../src/errors.js';
import type { Logger } from '../src/logger.js';
import type { Finding, Incident, Rule } from '../src/model.js';
import type { WorkQueue } from '../src/ports.js';
import type { Service } from '../src/service.js';
import type { Wake } from '../src/store/sessionChange.js';
import type { Wakes } from '../src/store/wakes.js';
import { describeDuration, giveWay, MINUTE, SECOND } from '../src/time.js';
import type { ActedFolders } from './actedFolders.js';
import type { Agenda, Due } from './agenda.js';
import type { BacklogLookOptions, BacklogWatch } from './backlogWatch.js';
import type { BlockedLaneWatch } from './blockedLaneWatch.js';
import type { ExpiryRound } from './expiryRound.js';
import type { IncidentDesk } from './incident/incidentDesk.js';
import { OwnersAlive } from './ownersAlive.js';
import { SaidOnce } from './saidOnce.js';
import { type JudgeContext, SessionJudge } from './sessionJudge.js';
import type { StrayRound } from './strayRound.js';
import type { UnreadableRecords } from './unreadableRecords.js';
import type { WatchdogLease } from './watchdogLease.js';
import { WellSessions } from './wellSessions.js';

/** A tick that takes longer is given up, so that one that hangs does not stop the schedule. */
const TICK_LIMIT_MS = 2 * MINUTE;
/** After a look that failed. */
const RETRY_MS = 5 * SECOND;
/** After a record that changed while it was looked at. */
const CHANGED_MS = SECOND;
/** Others have their turn after so many sessions. */
const MOST_IN_A_ROW = 500;
export interface WatchdogContext extends JudgeContext {
  readonly logger: Logger;
  readonly wakes: Wakes;
  readonly lease: WatchdogLease;
  readonly folders: Pick<ActedFolders, 'actsFor' | 'noteIncidents'>;
  readonly desk: IncidentDesk;
  readonly agenda: Agenda;
  readonly queue: WorkQueue;
  readonly backlog: Pick<BacklogWatch, 'look' | 'worthALookAt'>;
  readonly blockedLanes: Pick<BlockedLaneWatch, 'look'>;
  readonly expiry: Pick<ExpiryRound, 'runIfDue'>;
  readonly strays: Pick<StrayRound, 'runIfDue'>;
  readonly unreadable: Pick<UnreadableRecords, 'setAside'>;
  /** Five fields, UTC. */
  readonly cron: string;
  /** Called after each look at everything that was made in time; must not throw. */
  onTick?(): void;
}

interface LookOptions {
  readonly act: boolean;
  readonly signal?: AbortSignal | undefined;
  /** What is known already of the owners of runs. */
  readonly owners?: OwnersAlive;
}

/** What one look at everything found. */
export interface TickSummary {
  readonly sessions: number;
  readonly healthy: number;
  readonly accused: ReadonlyMap<string, readonly Finding[]>;
  /** By session: what waits in a lane for too long. */
  readonly waiting: ReadonlyMap<string, readonly Finding[]>;
  readonly incidents: number;
  readonly tookMs: number;
}

export class SessionWatchdog implements Service {
  readonly name = 'watchdog';
  private readonly context: WatchdogContext;
  private readonly judge: SessionJudge;
  private readonly well: WellSessions;
  private readonly troubles: SaidOnce;
  private readonly brokenIncidents: SaidOnce;
  private readonly stopping = new AbortController();
  private cron: Cron | null = null;
  private loop: Promise<void> | null = null;
  private tickedAt: number | null = null;
  private unlisten: () => void = () => undefined;

  constructor(context: WatchdogContext) {
    this.context = context;
    this.judge = new SessionJudge(context);
    this.well = new WellSessions(context, this.judge);
    this.troubles = new SaidOnce(context.logger);
    this.brokenIncidents = new SaidOnce(context.logger);
  }

  /** When the last look at everything by the schedule ended, in epoch milliseconds; null before the first. */
  get lastTickAt(): number | null {
    return this.tickedAt;
  }

  /** When the schedule asks for the look after that, in epoch milliseconds; null where it asks for none. */
  get nextTickAt(): number | null {
    return this.cron?.nextRun(new Date(this.tickedAt ?? 0))?.getTime() ?? null;
  }

  async start(): Promise<void> {
    if (this.loop !== null) return;
    const { agenda, wakes, cron, logger } = this.context;
    this.unlisten = wakes.listen((wake) => noteWake(this.context, wake));
    this.cron = new Cron(
      cron,
      { timezone: 'UTC', catch: (error) => logger.error({ err: error }, 'the schedule failed') },
      () => agenda.tick(),
    );
    agenda.tick();
    this.loop = this.watchdogLoop();
  }

  async stop(): Promise<void> {
    this.unlisten();
    this.cron?.stop();
    this.stopping.abort();
    this.context.agenda.wakeUp();
    await this.loop;
  }

  /**
   * One look at every active session and every open incident; logs one line.
   * @param act false only looks: nothing is stored, filed or said
   * @param signal ends the look before its time: what was not looked at stays for the next one
   * @returns what it found
   */
  async checkAllSessions({ act, signal }: LookOptions = { act: true }): Promise<TickSummary> {
    const { clock, watched, store, desk, queue, here, logger } = this.context;
    const begun = clock.monotonic();
    await this.context.gaps.refresh();
    await watched.refresh();
    const leases = await this.leasesOver();
    // Redis looks through the lanes while this process looks through the journals.
    const [accused, lanes] = await Promise.all([
      this.lookAtSessions(leases, { act, signal }),
      store.records.lanesWorthALook(here.host),
    ]);
    let brokenIncidents = 0;
    const incidents = await this.openIncidents(() => {
      brokenIncidents += 1;
    });
    const incidentIds = incidents.map(({ incident_id }) => incident_id);
    if (act) {
      this.context.folders.noteIncidents(incidents);
      await this.context.unreadable.setAside(watched.unreadable, watched.all(), brokenIncidents > 0);
      for (const id of incidentIds) desk.drive(id);
      await queue.pump(lanes);
      this.forgetAllBut(new Set(incidentIds));
    }
    const waiting = await this.lookAtLanes({ act, lanes });
    const summary: TickSummary = {
      sessions: watched.size,
      healthy: watched.size - accused.size,
      accused,
      waiting,
      incidents: incidents.length,
      tookMs: clock.monotonic() - begun,
    };
    logger.info({ open_incidents: incidents.length }, describeTick(summary));
    if (act && signal?.aborted !== true) {
      await this.context.strays.runIfDue();
      await this.context.expiry.runIfDue();
    }
    return summary;
  }

  /**
   * After one look, without the loop: takes its incidents on.
   * @param settled resolves when nothing of them is under way
   * @param driveMs those that ask to be driven within so many milliseconds are
   * @param mostMs milliseconds that it takes at the most
   */
  async seeThrough(settled: () => Promise<void>, driveMs: number, mostMs: number): Promise<void> {
    const { agenda, clock, desk } = this.context;
    const begun = clock.now();
    for (;;) {
      const done = new AbortController();
      const rest = settled().then(() => done.abort());
      await Promise.race([rest, clock.sleep(begun + mostMs - clock.now(), done.signal)]);
      const next = agenda.nextDriveAt;
      if (!done.signal.aborted || next === null || next > begun + driveMs) return;
      await clock.sleep(Math.max(next - clock.now(), 0));
      for (const id of agenda.takeDueIncidents()) desk.drive(id);
    }
  }

  /** @param leases as {@link SessionWatchdog.leasesOver} gives them */
  private async lookAtSessions(
    leases: ReadonlyMap<string, number>,
    { act, signal }: LookOptions,
  ): Promise<ReadonlyMap<string, readonly Finding[]>> {
    const { watched, here, logsFolder } = this.context;
    const owners = new OwnersAlive(here, logsFolder);
    const sessions = watched.all();
    await owners.ask(sessions);
    const accused = new Map<string, readonly Finding[]>();
    for (const [index, session] of sessions.entries()) {
      if (index % MOST_IN_A_ROW === 0) await giveWay();
      const { session_id: id } = session;
      const leaseUntil = leases.get(id) ?? null;
      if (leaseUntil === null && this.well.isUnchanged(session, owners)) continue;
      const findings = await this.lookSafely(id, leaseUntil, { act, signal, owners });
      signal?.throwIfAborted();
      if (findings.length > 0) accused.set(id, findings);
    }
    return accused;
  }

  private async watchdogLoop(): Promise<void> {
    const { agenda, lease, logger } = this.context;
    while (!this.stopping.signal.aborted) {
      const due = await agenda.next(this.stopping.signal);
      if (this.stopping.signal.aborted || !lease.isActing) continue;
      try {
        if (due.tick) await this.tick();
      } catch (error) {
        logger.error({ err: error }, `the watchdog's look at everything failed: ${describeError(error)}`);
      }
      for (const id of due.incidents) this.context.desk.drive(id);
      await this.lookAgainAtAll(due);
      if (due.lanes && !due.tick) await this.lookAgainAtLanes();
    }
  }

  /** So that no memory grows. */
  private forgetAllBut(incidentIds: ReadonlySet<string>): void {
    const { agenda, desk, watched } = this.context;
    agenda.forgetAllBut(watched, incidentIds);
    desk.forgetAllBut(incidentIds);
    this.troubles.forgetAllBut({ has: (id) => watched.has(id) || incidentIds.has(id) });
  }

  private async lookAtLanes(options: BacklogLookOptions): Promise<ReadonlyMap<string, readonly Finding[]>> {
    const { backlog, blockedLanes, agenda } = this.context;
    const { findings, nextLook } = await backlog.look(options);
    if (!options.act) return findings;
    for (const instant of [nextLook, await blockedLanes.look()]) if (instant !== null) agenda.lookAtLanes(instant);
    return findings;
  }

  private async lookAgainAtLanes(): Promise<void> {
    const { agenda, clock, logger } = this.context;
    try {
      await this.lookAtLanes({ act: true });
    } catch (error) {
      agenda.lookAtLanes(clock.now() + RETRY_MS);
      if (error instanceof FencedError) return;
      logger.warn({ err: error }, `what waits is looked at a little later: ${describeError(error)}`);
    }
  }

  private async tick(): Promise<void> {
    const { clock, onTick } = this.context;
    const late = new AbortController();
    const signal = AbortSignal.any([late.signal, this.stopping.signal]);
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const timer = clock.after(TICK_LIMIT_MS, () => late.abort());
    const work = this.checkAllSessions({ act: true, signal });
    await Promise.race([work, ended]).finally(() => timer.cancel());
    if (late.signal.aborted) throw new Error(`it took more than ${describeDuration(TICK_LIMIT_MS)} and is given up`);
    if (signal.aborted) return;
    this.tickedAt = clock.now();
    onTick?.();
  }

  /** What the store does not tell now is looked at a little later, not at the next tick. */
  private async lookAgainAtAll({ told, sessions }: Due): Promise<void> {
    const { agenda, clock, gaps, logger } = this.context;
    const left = new Set([...told, ...sessions]);
    try {
      for (const id of await this.lookOnAt(sessions)) left.delete(id);
      if (left.size > 0) await gaps.refresh();
      for (const id of left) {
        if (this.stopping.signal.aborted) return;
        await this.lookAgain(id);
        left.delete(id);
      }
    } catch (error) {
      for (const later of left) agenda.lookAt(later, clock.now() + RETRY_MS);
      logger.warn({ err: error }, `${left.size} sessions are looked at a little later: ${describeError(error)}`);
    }
  }

  /** @returns those that go on well */
  private async lookOnAt(sessionIds: readonly string[]): Promise<string[]> {
    if (sessionIds.length === 0) return [];
    const { agenda, here, logsFolder } = this.context;
    const leases = await this.leasesOver();
    const owners = new OwnersAlive(here, logsFolder);
    const goOn: string[] = [];
    for (const [index, id] of sessionIds.entries()) {
      if (index % MOST_IN_A_ROW === MOST_IN_A_ROW - 1) await giveWay();
      // What is wrong with one is told when it is looked at closely.
      const nextLook = leases.has(id) ? null : await this.well.lookOn(id, owners).catch(() => null);
      if (nextLook === null) continue;
      agenda.lookAt(id, nextLook);
      goOn.push(id);
    }
    return goOn;
  }

  /** @returns the sessions whose run's lease was over a lease ago, each with its end, epoch milliseconds */
  private leasesOver(): Promise<ReadonlyMap<string, number>> {
    const { clock, runLeaseMs, store } = this.context;
    return store.records.leasesOverBefore(clock.now() - runLeaseMs);
  }

  private async lookAgain(sessionId: string): Promise<void> {
    const { watched, store, desk } = this.context;
    watched.disturb(sessionId);
    const session = await watched.refreshOne(sessionId);
    if (session === null) return this.driveIncidentsAbout(sessionId);
    // What woke us may be what its incident waits for: the proof that its run is dead.
    if (session.incident_id !== null) desk.drive(session.incident_id);
    await this.lookSafely(sessionId, await store.records.leaseUntil(sessionId), { act: true });
  }

  /** A session that ended may be what an incident waits for: its own end, or its revival's. */
  private async driveIncidentsAbout(sessionId: string): Promise<void> {
    for (const incident of await this.openIncidents()) {
      const isAbout = incident.session_id === sessionId || incident.revival_session_id === sessionId;
      if (isAbout) this.context.desk.drive(incident.incident_id);
    }
  }

  private openIncidents(onBroken: () => void = () => undefined): Promise<Incident[]> {
    return this.context.store.records.openIncidents((error) => {
      this.brokenIncidents.error(error.message, error.message);
      onBroken();
    });
  }

  /** One session's failure never stops the others. */
  private async lookSafely(
    sessionId: string,
    leaseUntil: number | null,
    options: LookOptions,
  ): Promise<readonly Finding[]> {
    const { agenda, clock } = this.context;
    try {
      const findings = await this.look(sessionId, leaseUntil, options);
      this.troubles.forget(sessionId);
      return findings;
    } catch (error) {
      if (error instanceof FencedError) return [];
      if (options.act && !options.signal?.aborted) agenda.lookAt(sessionId, clock.now() + RETRY_MS);
      const said = `session ${sessionId} could not be judged: ${describeError(error)}`;
      this.troubles.error(sessionId, said, { err: error, session_id: sessionId });
      return [];
    }
  }

  private async look(
    sessionId: string,
    leaseUntil: number | null,
    { act, signal, owners }: LookOptions,
  ): Promise<readonly Finding[]> {
    const { agenda, desk, clock, watched, folders } = this.context;
    const verdict = await this.judge.judge(sessionId, leaseUntil, owners);
    if (verdict === null) return [];
    const { session, findings } = verdict;
    if (!act || signal?.aborted) return findings;
    agenda.lookAt(sessionId, verdict.nextLook);
    this.well.note(verdict);
    if (!folders.actsFor(session.run?.logs_id)) return findings;
    if (findings.length === 0) {
      // Who cannot see the journal knows nothing of the rules that others found true in it.
      if (!watched.isForeign(session)) await desk.acquit(session);
    } else if (!(await desk.accuse(session, verdict))) agenda.lookAt(sessionId, clock.now() + CHANGED_MS);
    // Its first attempt's incident waits for what becomes of it.
    if (session.attempt === 2) await this.driveIncidentsAbout(session.session_id);
    return findings;
  }
}

function noteWake({ agenda, backlog }: WatchdogContext, wake: Wake): void {
  if ('everything' in wake) agenda.tick();
  if ('lane' in wake || 'session' in wake) agenda.lookAtLanes(backlog.worthALookAt());
  if ('session' in wake) agenda.lookNow(wake.session);
  else if ('outbox' in wake) agenda.lookNow(wake.outbox);
  else if ('stop' in wake) agenda.lookNow(wake.stop);
  else if ('incident' in wake) agenda.driveAt(wake.incident, 0);
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
