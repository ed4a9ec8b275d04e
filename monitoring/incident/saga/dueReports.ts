/** The report of an incident, parallel to its steps: started when due, at most one at a time, its outcome stored. */
import { describeError, FencedError } from '../../../src/errors.js';
import type { Incident, IncidentReport } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { HOUR, isAhead, MINUTE, SECOND } from '../../../src/time.js';
import { logStep, type SagaContext, save } from '../sagaContext.js';
import { eventNameOf } from '../texts/incidentEvents.js';

/** How many times to look again after others changed the record between reading and storing. */
const MOST_TRIES = 20;
/** After a report that broke before it had an outcome, because the store was unreachable. */
const BROKEN_PAUSE_MS = 5 * SECOND;

/** A report about several sessions waits a little for the others; after that GitHub says how long to wait, at most an hour. */
const LONGEST_FIRST_WAIT_MS = MINUTE;
const LONGEST_WAIT_MS = HOUR;

export class DueReports {
  readonly #context: SagaContext;
  readonly #onReported: (incidentId: string) => void;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #pausedUntil = new Map<string, number>();

  /** @param onReported called when a report has ended or broken, so that the incident is looked at */
  constructor(context: SagaContext, onReported: (incidentId: string) => void) {
    this.#context = context;
    this.#onReported = onReported;
  }

  keep(incident: Incident, session: AgentSession | null): void {
    const dueAt = this.dueAt(incident);
    if (dueAt === null || dueAt > this.#context.clock.now()) return;
    const id = incident.incident_id;
    const work = this.#report(id, session).then(() => {
      this.#underWay.delete(id);
      this.#onReported(id);
    });
    this.#underWay.set(id, work);
  }

  /** @returns when the report is to begin, epoch milliseconds; null if it has ended or is in progress */
  dueAt({ incident_id, report }: Incident): number | null {
    if (report.due_at === null || this.#underWay.has(incident_id)) return null;
    return Math.max(this.#dueAtOf(incident_id, report), this.#pausedUntil.get(incident_id) ?? 0);
  }

  get pending(): Promise<void>[] {
    return [...this.#underWay.values()];
  }

  async #report(id: string, session: AgentSession | null): Promise<void> {
    const { logger, clock, reporter, store, refusedTries } = this.#context;
    try {
      // The caller may have read the record before the last report was stored.
      const incident = await store.records.incident(id);
      if (incident === null || incident.report.due_at === null) return;
      if (this.#dueAtOf(id, incident.report) > clock.now()) return;
      refusedTries.note(id);
      await this.#store(incident, session, await reporter.report(incident, session));
      this.#pausedUntil.delete(id);
    } catch (error) {
      this.#pausedUntil.set(id, clock.now() + BROKEN_PAUSE_MS);
      if (error instanceof FencedError) return;
      const said = `incident ${id}: its report failed and will be tried again: ${describeError(error)}`;
      logger.error({ err: error, incident_id: id }, said);
    }
  }

  /** @returns now, if the clock was set back since that was stored, or this process has not met the refusal */
  #dueAtOf(incidentId: string, { due_at, tries, refused }: IncidentReport): number {
    const { clock, refusedTries } = this.#context;
    const now = clock.now();
    if (due_at === null || due_at <= now) return due_at ?? now;
    if (refused === true && refusedTries.isNew(incidentId)) return now;
    return isAhead(due_at, tries === 0 ? LONGEST_FIRST_WAIT_MS : LONGEST_WAIT_MS, now) ? due_at : now;
  }

  async #store(incident: Incident, session: AgentSession | null, report: IncidentReport): Promise<void> {
    const { folders } = this.#context;
    const { records, leases } = this.#context.store;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const current = await records.incident(incident.incident_id);
      if (current === null || current.step === 'closed') return;
      await leases.require(folders.guard());
      if (report.url !== null && current.report.url === null) {
        const line = { step: 'reported', event: eventNameOf(current), action: 'reported' } as const;
        await logStep(this.#context, { ...current, report }, session, line);
      }
      const last_action = current.last_action === 'detected' && report.url !== null ? 'reported' : current.last_action;
      if ((await save(this.#context, current, { report, last_action })) !== null) return;
    }
  }
}

export function hasReportEnded({ report }: Incident): boolean {
  return report.due_at === null;
}
