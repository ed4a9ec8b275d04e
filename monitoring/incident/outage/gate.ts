/**
 * The gate between a session's incident and its irreversible steps: its issue and its second attempt. A session that is
 * unhealthy alone passes. One that is unhealthy together with many others is held: its run is ended and proven dead as usual,
 * its lane stays held, and its message waits for what `outageSteps.ts` decides about the outage.
 *
 * The first incidents must not pass before the others have come. So while enough sessions are active, a first one waits for a
 * few seconds, and for up to a minute if enough others are about to fall silent to make it an outage.
 */
import { firstAttemptId } from '../../../src/ids.js';
import type { Incident, OutageHold } from '../../../src/jobs/incidents.js';
import { outagePartSubject, providerSubject } from '../../../src/jobs/names.js';
import { isAhead, SECOND } from '../../../src/time.js';
import { type SagaContext, save, wake } from '../sagaContext.js';
import { waitingText } from '../texts/chatTexts.js';
import { correlated, couldBeOutage, signOfOutage, TOGETHER_MS } from './evidence.js';
import { newOutage, SETTLE_MS } from './outageIncidents.js';

const LOOK_AGAIN_MS = SECOND;

/** `wait`: neither report nor go beyond the end of the run, until an instant (epoch ms) or a wake. */
export type Admission =
  | { readonly kind: 'pass' }
  | { readonly kind: 'wait'; readonly until: number | null }
  /** The incident was changed: look again. */
  | { readonly kind: 'changed' };

const PASS: Admission = { kind: 'pass' };
const CHANGED: Admission = { kind: 'changed' };

export class OutageGate {
  readonly #context: SagaContext;
  /** By message, the incident that is a sign of an outage, and since when: both attempts of one message are one sign. */
  readonly #signs = new Map<string, readonly [incidentId: string, at: number]>();
  /** Incidents that had to wait, with the instant at which they passed; null while they wait. */
  readonly #waits = new Map<string, number | null>();

  constructor(context: SagaContext) {
    this.#context = context;
  }

  async admit(incident: Incident): Promise<Admission> {
    if (incident.subject !== undefined || incident.step === 'opened') return PASS;
    if (incident.hold !== undefined) return this.#admitHeld(incident, incident.hold);
    const isBeforeFork = ['detected', 'stopping', 'released'].includes(incident.step) && incident.outcome === null;
    const at = signOfOutage(incident);
    if (!isBeforeFork || at === null) return PASS;
    const outage = await this.#context.store.records.incidentAbout(providerSubject(incident.logs_id));
    if (outage !== null && outage.outcome === null) return this.#join(incident, outage);
    this.#signs.set(firstAttemptId(incident.session_id), [incident.incident_id, at]);
    const together = correlated(this.#signs.values(), at, this.#context.sessions.active());
    if (together.length > 0) return this.#open(incident, together);
    return this.#settle(incident, at);
  }

  /** @returns when an incident that had waited here passed, UTC epoch milliseconds; null if it did not wait */
  passedAt({ incident_id, hold }: Incident): number | null {
    return hold === undefined ? (this.#waits.get(incident_id) ?? null) : null;
  }

  forgetAllBut(incidentIds: ReadonlySet<string>): void {
    this.#forgetSigns((id) => !incidentIds.has(id));
    for (const id of this.#waits.keys()) if (!incidentIds.has(id)) this.#waits.delete(id);
  }

  #forgetSigns(isOver: (incidentId: string) => boolean): void {
    for (const [message, [id]] of this.#signs) if (isOver(id)) this.#signs.delete(message);
  }

  async #open(incident: Incident, together: readonly string[]): Promise<Admission> {
    const { store, clock, logger, folders, sessions } = this.#context;
    const found = await Promise.all(together.map((id) => store.records.incident(id)));
    const affected = found.filter((one): one is Incident => one !== null && !isOver(one));
    const isGone = (id: string) => together.includes(id) && !affected.some(({ incident_id }) => incident_id === id);
    this.#forgetSigns(isGone);
    if (correlated(this.#signs.values(), signOfOutage(incident) ?? 0, sessions.active()).length === 0) return CHANGED;
    const outage = await newOutage(this.#context, affected);
    if (outage === null) return { kind: 'wait', until: clock.now() + LOOK_AGAIN_MS };
    if (!(await store.incidents.openAbout(outage, folders.guard()))) return CHANGED;
    const said = `${outage.findings[0]?.evidence.join('; ')}: their messages wait until one of them works again`;
    logger.warn({ incident_id: outage.incident_id, sessions: affected.map(({ session_id }) => session_id) }, said);
    for (const { incident_id } of [outage, ...affected]) wake(this.#context, incident_id);
    return CHANGED;
  }

  async #join(incident: Incident, outage: Incident): Promise<Admission> {
    const hold: OutageHold = { incident_id: outage.incident_id, state: 'held', is_told: false };
    const joined = await save(this.#context, incident, { hold });
    if (joined !== null) {
      this.#forgetSigns((id) => id === incident.incident_id);
      wake(this.#context, outage.incident_id);
    }
    return CHANGED;
  }

  /** An outage whose record is lost must not hold incidents for ever. */
  async #admitHeld(incident: Incident, hold: OutageHold): Promise<Admission> {
    const { store, chat } = this.#context;
    const isReported = incident.report.due_at === null;
    if (hold.state !== 'held' && isReported) return PASS;
    const outage = await store.records.incident(hold.incident_id);
    if (outage === null || outage.step === 'closed') {
      const part = await store.records.incidentAbout(outagePartSubject(hold.incident_id, incident.project_key));
      // Its project's issue is not filed yet; the outage's decision is carried out without it.
      if (part !== null && hold.state !== 'held') return PASS;
      const report = { ...incident.report, due_at: null, state: 'given_up' } as const;
      const isOwed = !isReported && part === null;
      const state = hold.state === 'held' ? 'go' : hold.state;
      await save(this.#context, incident, { hold: { ...hold, state }, ...(isOwed && { report }) });
      return CHANGED;
    }
    const isWaiting = incident.step === 'released' && incident.outcome === null && hold.state === 'held';
    if (isWaiting && !hold.is_told) {
      await chat.showProgress(incident.session_id, waitingText(incident));
      await save(this.#context, incident, { hold: { ...hold, is_told: true } });
      wake(this.#context, outage.incident_id);
      return CHANGED;
    }
    return hold.state === 'held' ? { kind: 'wait', until: null } : PASS;
  }

  async #settle(incident: Incident, at: number): Promise<Admission> {
    const { clock, sessions } = this.#context;
    const { incident_id: id } = incident;
    const now = clock.now();
    const detectedAt = incident.detected_at ?? now;
    const active = sessions.active();
    if (!couldBeOutage(active, active)) return PASS;
    if (typeof this.#waits.get(id) === 'number') return PASS;
    if (isAhead(detectedAt + SETTLE_MS, SETTLE_MS, now)) return this.#wait(id, detectedAt + SETTLE_MS);
    if (now <= at + TOGETHER_MS) {
      const near = [...this.#signs.values()].filter(([, instant]) => Math.abs(instant - at) <= TOGETHER_MS);
      const mayCome = near.length + (await sessions.soonSilent(TOGETHER_MS));
      if (couldBeOutage(mayCome, active)) return this.#wait(id, now + LOOK_AGAIN_MS);
    }
    if (this.#waits.has(id)) this.#waits.set(id, now);
    return PASS;
  }

  #wait(incidentId: string, until: number): Admission {
    this.#waits.set(incidentId, null);
    return { kind: 'wait', until };
  }
}

/** Its message has its end, also if something about it is still to be reported: nothing of it can wait. */
function isOver({ step, outcome }: Incident): boolean {
  return step === 'told' || outcome !== null;
}
