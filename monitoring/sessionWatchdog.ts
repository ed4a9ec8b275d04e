/**
 * The officer who stays awake. On its schedule it looks at every active session (`checkAllSessions`); in between it sleeps
 * until the first instant at which a rule could become true, and looks at that session only.
 *
 * One loop does all looking, so no two looks meet. What takes long (reports, deliveries) runs in the saga's background.
 * The watchdog never signals an agent: it stores what it wants, and the run's owner acts.
 */
import { Cron } from 'croner';
import { DEFAULT_ACTIONS } from '../src/config/projects.js';
import type { Project } from '../src/config/settings.js';
import { describeError, FencedError } from '../src/errors.js';
import { isProcessAlive } from '../src/host/identity.js';
import type { Logger } from '../src/logger.js';
import { type AgentSession, DEFAULT_THRESHOLDS, type Finding, type ProcessIdentity, type Rule } from '../src/model.js';
import type { WorkQueue } from '../src/ports.js';
import type { Service } from '../src/service.js';
import type { Wake } from '../src/store/sessionChange.js';
import type { Store } from '../src/store/store.js';
import type { Wakes } from '../src/store/wakes.js';
import { type Clock, describeDuration, MINUTE } from '../src/time.js';
import type { Agenda } from './agenda.js';
import { findOrphan } from './detectors/orphan.js';
import type { IncidentDesk } from './incident/incidentDesk.js';
import type { WatchdogLease } from './watchdogLease.js';
import type { WatchedSessions } from './watchedSessions.js';

/** A tick that takes longer is left to itself, so that one that hangs does not stop the schedule. */
const TICK_LIMIT_MS = 2 * MINUTE;
/** A session must not go unwatched because its project was taken out of the configuration. */
const RULES_OF_UNKNOWN_PROJECTS = { thresholds: DEFAULT_THRESHOLDS, actions: DEFAULT_ACTIONS };

export interface WatchdogContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly wakes: Wakes;
  readonly lease: WatchdogLease;
  readonly watched: WatchedSessions;
  readonly desk: IncidentDesk;
  readonly agenda: Agenda;
  readonly queue: WorkQueue;
  readonly here: ProcessIdentity;
  /** Five fields, UTC. */
  readonly cron: string;
  readonly runLeaseMs: number;
  projectOf(key: string): Project | null;
}

/** What one look at everything found. */
export interface TickSummary {
  readonly sessions: number;
  readonly healthy: number;
  readonly accused: ReadonlyMap<string, readonly Finding[]>;
  readonly incidents: number;
  readonly tookMs: number;
}

export class SessionWatchdog implements Service {
  readonly name = 'watchdog';
  private readonly context: WatchdogContext;
  private readonly stopping = new AbortController();
  private cron: Cron | null = null;
  private loop: Promise<void> | null = null;
  private unlisten: () => void = () => undefined;

  constructor(context: WatchdogContext) {
    this.context = context;
  }

  async start(): Promise<void> {
    if (this.loop !== null) return;
    const { agenda, wakes, cron, logger } = this.context;
    this.unlisten = wakes.listen((wake) => noteWake(agenda, wake));
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
   * @returns what it found
   */
  async checkAllSessions({ act }: { act: boolean } = { act: true }): Promise<TickSummary> {
    const { clock, watched, store, desk, queue, logger, agenda } = this.context;
    const begun = clock.monotonic();
    await watched.refresh();
    const leasesOver = new Set(await store.records.leasesOverBefore(clock.now() - this.context.runLeaseMs));
    const accused = new Map<string, readonly Finding[]>();
    for (const id of watched.ids()) {
      const findings = await this.lookSafely(id, leasesOver.has(id), act);
      if (findings.length > 0) accused.set(id, findings);
    }
    const incidents = await store.records.openIncidents();
    if (act) {
      for (const incident of incidents) desk.drive(incident.incident_id);
      await queue.pump();
      agenda.forgetAllBut(
        watched.ids(),
        incidents.map((incident) => incident.incident_id),
      );
    }
    const summary: TickSummary = {
      sessions: watched.ids().length,
      healthy: watched.ids().length - accused.size,
      accused,
      incidents: incidents.length,
      tookMs: clock.monotonic() - begun,
    };
    logger.info({ open_incidents: incidents.length }, describeTick(summary));
    return summary;
  }

  private async watchdogLoop(): Promise<void> {
    const { agenda, lease, clock, logger } = this.context;
    while (!this.stopping.signal.aborted) {
      const due = await agenda.next(this.stopping.signal);
      if (this.stopping.signal.aborted || !lease.isActing) continue;
      try {
        if (due.tick) await withinLimit(clock, TICK_LIMIT_MS, this.checkAllSessions());
        for (const id of due.sessions) await this.lookAgain(id);
        for (const id of due.incidents) this.context.desk.drive(id);
      } catch (error) {
        logger.error(
          { err: error },
          `the watchdog's look failed and is repeated at the next tick: ${describeError(error)}`,
        );
      }
    }
  }

  private async lookAgain(sessionId: string): Promise<void> {
    const session = await this.context.watched.refreshOne(sessionId);
    if (session === null) return this.driveIncidentsAbout(sessionId);
    // What woke us may be what its incident waits for: the proof that its run is dead.
    if (session.incident_id !== null) this.context.desk.drive(session.incident_id);
    await this.lookSafely(sessionId, false, true);
  }

  /** A session that ended may be what an incident waits for: its own end, or its revival's. */
  private async driveIncidentsAbout(sessionId: string): Promise<void> {
    for (const incident of await this.context.store.records.openIncidents()) {
      const isAbout = incident.session_id === sessionId || incident.revival_session_id === sessionId;
      if (isAbout) this.context.desk.drive(incident.incident_id);
    }
  }

  /** One session's failure never stops the others. */
  private async lookSafely(sessionId: string, isLeaseOver: boolean, act: boolean): Promise<readonly Finding[]> {
    try {
      return await this.look(sessionId, isLeaseOver, act);
    } catch (error) {
      if (error instanceof FencedError) return [];
      this.context.logger.error(
        { err: error, session_id: sessionId },
        `session ${sessionId} could not be judged: ${describeError(error)}`,
      );
      return [];
    }
  }

  private async look(sessionId: string, isLeaseOver: boolean, act: boolean): Promise<readonly Finding[]> {
    const { watched, clock, agenda, desk } = this.context;
    const session = watched.get(sessionId);
    if (session === null) return [];
    const rules = this.context.projectOf(session.project_key) ?? RULES_OF_UNKNOWN_PROJECTS;
    const now = clock.now();
    const assessment = await watched.assess(sessionId, rules.thresholds, now);
    if (assessment === null) return [];
    const orphan = this.orphanOf(session, isLeaseOver, now);
    const found = orphan === null ? assessment.findings : [orphan, ...assessment.findings];
    const findings = found.filter((finding) => rules.actions[finding.rule] !== 'off');
    if (!act) return findings;
    // A result moves the deadline to at least one silence after it, so a look per silence misses nothing in between.
    const inOneSilence = now + rules.thresholds.silence_ms;
    agenda.lookAt(sessionId, Math.min(assessment.next_deadline ?? inOneSilence, inOneSilence));
    if (findings.length === 0) await desk.acquit(session);
    else {
      await desk.accuse(session, {
        findings,
        actions: rules.actions,
        toolCount: assessment.tool_count,
        lastToolCall: assessment.last_tool_call,
      });
    }
    await this.driveIncidentsOfRevival(session);
    return findings;
  }

  private async driveIncidentsOfRevival(session: AgentSession): Promise<void> {
    if (session.attempt === 2) await this.driveIncidentsAbout(session.session_id);
  }

  private orphanOf(session: AgentSession, isLeaseOver: boolean, now: number): Finding | null {
    const { run } = session;
    // A run that its incident had ended is not lost.
    const isEnded = session.released !== null && session.incident_id !== null;
    if (run === null || isEnded) return null;
    const { here, runLeaseMs } = this.context;
    const owner = `process ${run.owner.pid} on ${run.owner.host}`;
    const isOwnerAlive = isProcessAlive(run.owner, here);
    const leaseUntil = isLeaseOver ? now - runLeaseMs - 1 : now;
    return findOrphan({ isOwnerAlive, owner, leaseUntil, leaseMs: runLeaseMs }, now);
  }
}

function noteWake(agenda: Agenda, wake: Wake): void {
  if ('everything' in wake) agenda.tick();
  if ('session' in wake) agenda.lookAt(wake.session, 0);
  else if ('outbox' in wake) agenda.lookAt(wake.outbox, 0);
  else if ('incident' in wake) agenda.driveAt(wake.incident, 0);
}

function describeTick({ sessions, healthy, accused, tookMs }: TickSummary): string {
  const byRule = new Map<Rule, number>();
  for (const findings of accused.values()) {
    const rule = findings[0]?.rule;
    if (rule !== undefined) byRule.set(rule, (byRule.get(rule) ?? 0) + 1);
  }
  const sick = [...byRule].map(([rule, count]) => `, ${count} ${rule}`).join('');
  return `watchdog: ${sessions} sessions, ${healthy} healthy${sick}, ${describeDuration(tookMs)}`;
}

async function withinLimit(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const isLate = clock.sleep(limitMs, done.signal).then(() => !done.signal.aborted);
  const isDone = work.then(() => false);
  const wasLate = await Promise.race([isDone, isLate]).finally(() => done.abort());
  if (wasLate) throw new Error(`a tick took more than ${describeDuration(limitMs)}`);
}
