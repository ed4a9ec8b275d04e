/** Turns findings into incidents: at most one open per session; further rules join it. */
import type { Rule, RuleAction } from '../../../src/config/rules.js';
import { describeError, FencedError, WatchkeeperError } from '../../../src/errors.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { Store } from '../../../src/jobs/store.js';
import type { Logger } from '../../../src/log/logger.js';
import { SaidOnce } from '../../../src/log/saidOnce.js';
import type { Clock } from '../../../src/time.js';
import type { Acting } from '../../actors/actedFolders.js';
import type { WatchedRecord } from '../../actors/watchedRecord.js';
import { joiningFindings, newIncident } from '../newIncident.js';
import type { IncidentAgenda } from '../sagaContext.js';
import { logAccusation } from '../texts/incidentLog.js';
import type { IncidentSaga } from './saga.js';

export interface Evidence {
  readonly findings: readonly Finding[];
  readonly actions: Readonly<Record<Rule, RuleAction>>;
  readonly toolCount: number;
  /** ISO 8601. */
  readonly lastToolCall: string | null;
}

export interface DeskContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly saga: IncidentSaga;
  readonly folders: Acting;
  readonly agenda: IncidentAgenda;
}

export class IncidentDesk {
  private readonly context: DeskContext;
  private readonly troubles: SaidOnce;

  constructor(context: DeskContext) {
    this.context = context;
    this.troubles = new SaidOnce(context.logger);
  }

  /**
   * Opens an incident, or adds the findings to the open one, and drives it.
   * @returns false if a record has changed, or is about to: look again
   */
  async accuse(session: WatchedRecord, evidence: Evidence): Promise<boolean> {
    return session.incident_id === null ? this.open(session, evidence) : this.join(session.incident_id, evidence);
  }

  /** No rule is true any more: an incident that only reports has ended. */
  async acquit(session: WatchedRecord): Promise<void> {
    const incident =
      session.incident_id === null ? null : await this.context.store.records.incident(session.incident_id);
    if (incident !== null && !incident.acting && incident.step === 'detected')
      await this.context.saga.closeHealthy(incident.incident_id);
  }

  /** The trouble behind an incident that only reports has ended: it closes as soon as its report has finished. */
  closeHealthy(incidentId: string): Promise<void> {
    return this.context.saga.closeHealthy(incidentId);
  }

  /** Takes an incident as far as possible; in the background, because reporting may be slow. */
  drive(incidentId: string): void {
    const { saga, clock, agenda } = this.context;
    saga.advance(incidentId).then(
      (instant) => {
        this.troubles.forget(incidentId);
        if (instant !== null) agenda.driveAt(incidentId, instant);
      },
      (error: unknown) => {
        if (error instanceof FencedError) return;
        const said = `incident ${incidentId} waits: ${describeError(error)}`;
        this.troubles.error(incidentId, said, { err: error, incident_id: incidentId });
        const isHopeless = error instanceof WatchkeeperError && !error.retryable;
        // A tick drives it all the same: people may have repaired the record.
        if (!isHopeless) agenda.driveAt(incidentId, clock.now() + RETRY_MS);
      },
    );
  }

  /** Forgets which log lines were written for incidents that are closed. */
  forgetAllBut(incidentIds: ReadonlySet<string>): void {
    this.troubles.forgetAllBut(incidentIds);
    this.context.saga.forgetAllBut(incidentIds);
  }

  private async open(watched: WatchedRecord, evidence: Evidence): Promise<boolean> {
    const { store, clock, logger, saga, folders } = this.context;
    const session = await store.records.session(watched.session_id);
    if (session === null || session.rev !== watched.rev) return false;
    if (await saga.spares(session, evidence.findings)) return false;
    const incident = newIncident(clock, { session, notRevivedBecause: null, untrustedExcerpt: null, ...evidence });
    if (!(await store.incidents.open(session, incident, folders.guard()))) return false;
    logAccusation(logger, incident, evidence.findings);
    this.drive(incident.incident_id);
    return true;
  }

  private async join(incidentId: string, { findings, actions }: Evidence): Promise<boolean> {
    const { store, logger, folders } = this.context;
    const incident = await store.records.incident(incidentId);
    const joining = incident === null ? null : joiningFindings(incident, findings, actions);
    if (incident === null || joining === null) return true;
    if ((await store.incidents.save(incident, joining, folders.guard())) === null) return false;
    logAccusation(logger, incident, joining.findings.slice(incident.findings.length));
    this.drive(incidentId);
    return true;
  }
}

const RETRY_MS = 5_000;
