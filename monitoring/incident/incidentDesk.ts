/** Where findings become incidents: at most one open per session; further rules join it. */

import { describeError, FencedError } from '../../src/errors.js';
import type { Logger } from '../../src/logger.js';
import type { AgentSession, Finding, Rule, RuleAction } from '../../src/model.js';
import type { Guard } from '../../src/store/incidentTransitions.js';
import type { Store } from '../../src/store/store.js';
import type { Clock } from '../../src/time.js';
import { describeFinding } from '../describe.js';
import { joiningFindings, newIncident } from './newIncident.js';
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
  guard(): Guard;
  /** Called when an incident wants to be looked at again, in epoch milliseconds. */
  lookAgainAt(incidentId: string, instant: number): void;
}

export class IncidentDesk {
  private readonly context: DeskContext;

  constructor(context: DeskContext) {
    this.context = context;
  }

  /** Opens an incident, or lets the findings join the open one, and drives it. */
  async accuse(session: AgentSession, evidence: Evidence): Promise<void> {
    if (session.incident_id === null) await this.open(session, evidence);
    else await this.join(session.incident_id, evidence);
  }

  /** No rule is true any more: an incident that only reports is over. */
  async acquit(session: AgentSession): Promise<void> {
    const incident =
      session.incident_id === null ? null : await this.context.store.records.incident(session.incident_id);
    if (incident !== null && !incident.acting && incident.step === 'detected')
      await this.context.saga.closeHealthy(incident.incident_id);
  }

  /** Takes an incident as far as it gets; in the background, because reporting may be slow. */
  drive(incidentId: string): void {
    const { saga, logger, clock, lookAgainAt } = this.context;
    saga.advance(incidentId).then(
      (instant) => {
        if (instant !== null) lookAgainAt(incidentId, instant);
      },
      (error: unknown) => {
        if (error instanceof FencedError) return;
        logger.error({ err: error, incident_id: incidentId }, `incident ${incidentId} waits: ${describeError(error)}`);
        lookAgainAt(incidentId, clock.now() + RETRY_MS);
      },
    );
  }

  private async open(session: AgentSession, evidence: Evidence): Promise<void> {
    const { store, clock, logger, guard } = this.context;
    const incident = newIncident(clock, { session, notRevivedBecause: null, ...evidence });
    if (!(await store.incidents.open(session, incident, guard()))) return;
    for (const finding of evidence.findings) {
      logger.warn(
        { session_id: session.session_id, incident_id: incident.incident_id, rule: finding.rule, since: finding.since },
        `session ${session.session_id}: ${describeFinding(finding)}`,
      );
    }
    this.drive(incident.incident_id);
  }

  private async join(incidentId: string, { findings, actions }: Evidence): Promise<void> {
    const { store, logger, guard } = this.context;
    const incident = await store.records.incident(incidentId);
    const joining = incident === null ? null : joiningFindings(incident, findings, actions);
    if (incident === null || joining === null) return;
    if ((await store.incidents.save(incident, joining, guard())) === null) return;
    logger.warn(
      { incident_id: incidentId },
      `incident ${incidentId}: ${joining.findings.map((finding) => finding.rule).join(', ')}`,
    );
    this.drive(incidentId);
  }
}

const RETRY_MS = 5_000;
