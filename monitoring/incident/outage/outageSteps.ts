/**
 * An outage, step by step. A decision is first stored in the outage's own record and then applied to the incidents that it
 * holds. Applying it again changes nothing, so a crash anywhere resumes.
 *
 * down ──▶ probing ──▶ releasing ──▶ over
 * ▲ │        │            │
 * └─┼────────┴────────────┘  the message that was released is accused again
 * └──▶ giving_up ──▶ over     probed often enough, or no message is left to probe with
 *
 * The probe is the second attempt of one of the waiting messages. Its first successful call, or its answer, releases the next
 * one, and so on: one at a time, so that a provider that comes back weak is not overrun. Once the provider has answered, a
 * message that works long without a call delays the next one by at most a minute.
 */
import type { Incident, IncidentOutcome, OutageCourse, OutageHold } from '../../../src/jobs/incidents.js';
import { MINUTE } from '../../../src/time.js';
import { decide, type Progress, type SagaContext, save, saveAndLook, wake } from '../sagaContext.js';
import { TOGETHER_MS } from './evidence.js';
import { countIn, findOutage, keepParts, membersOf, shareReport } from './outageIncidents.js';

/** Before the second probe, the third, … Each probe uses up the second attempt of a message, so there are few. */
const PAUSES_MS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE];
const MOST_PROBES = PAUSES_MS.length + 1;
const PATIENCE_MS = MINUTE;

/** The fate of the message that was released last. */
type Verdict = 'works' | 'fails' | 'open' | 'says_nothing';

export class OutageSteps {
  readonly #context: SagaContext;

  constructor(context: SagaContext) {
    this.#context = context;
  }

  async advance(outage: Incident): Promise<Progress> {
    const { course } = outage;
    const members = await membersOf(this.#context, outage.incident_id);
    await shareReport(this.#context, outage, members);
    await keepParts(this.#context, outage, members);
    if (outage.outcome !== null || course === undefined) return { waitUntil: null };
    if (members.length > 0 && !course.has_members) return this.#save(outage, { ...course, has_members: true });
    if (members.length > countIn(outage)) {
      // Its reported size follows its real one.
      const finding = findOutage(members, this.#context.sessions.active(), outage.project_key);
      return saveAndLook(this.#context, outage, { findings: [finding] });
    }
    const waiting = members.filter(isWaiting);
    if (course.phase === 'down') return this.#probe(outage, course, members, waiting);
    if (course.phase === 'giving_up') return this.#letAllGo(outage, waiting, 'give_up', 'provider_down');
    return this.#follow(outage, course, waiting);
  }

  async #probe(
    outage: Incident,
    course: OutageCourse,
    members: readonly Incident[],
    waiting: readonly Incident[],
  ): Promise<Progress> {
    const now = this.#context.clock.now();
    const filledAt = outage.opened_at + TOGETHER_MS;
    if (!course.has_members && now < filledAt) return { waitUntil: filledAt };
    if (waiting.length === 0) {
      // If all their projects only report, it lasts as long as their findings.
      const goesOn = course.out === null && members.some(({ outcome }) => outcome === null);
      return goesOn ? { waitUntil: null } : decide(this.#context, outage, 'recovered');
    }
    if (now < course.next_probe_at) return { waitUntil: course.next_probe_at };
    if (course.probes >= MOST_PROBES) return this.#save(outage, { ...course, phase: 'giving_up' });
    const next = waiting.find(isReady);
    if (next !== undefined) {
      const { probes } = course;
      return this.#letGo(outage, { ...course, phase: 'probing', probes: probes + 1 }, next);
    }
    return waiting.some(mayBeReady) ? { waitUntil: null } : this.#save(outage, { ...course, phase: 'giving_up' });
  }

  async #follow(outage: Incident, course: OutageCourse, waiting: readonly Incident[]): Promise<Progress> {
    const { clock, store } = this.#context;
    const out = course.out === null ? null : await store.records.incident(course.out);
    if (out?.hold?.state === 'held') await this.#setHold(out, 'go');
    const verdict = await this.#verdictOn(out);
    const now = clock.now();
    const patienceEnds = (course.out_since ?? now) + PATIENCE_MS;
    if (verdict === 'works') return this.#releaseNext(outage, course, waiting);
    if (verdict === 'open') {
      if (course.phase === 'probing') return { waitUntil: null };
      return now < patienceEnds ? { waitUntil: patienceEnds } : this.#releaseNext(outage, course, waiting);
    }
    // It was cancelled, or the like: that says nothing about the provider.
    const probes = verdict === 'fails' ? Math.max(course.probes, 1) : Math.max(course.probes - 1, 0);
    const pauseMs = verdict === 'fails' ? (PAUSES_MS[probes - 1] ?? 0) : 0;
    return this.#save(outage, { ...course, phase: 'down', probes, next_probe_at: now + pauseMs });
  }

  async #releaseNext(outage: Incident, course: OutageCourse, waiting: readonly Incident[]): Promise<Progress> {
    const releasing = { ...course, phase: 'releasing', probes: 0 } as const;
    const next = waiting.find(isReady);
    if (next !== undefined) return this.#letGo(outage, releasing, next);
    if (waiting.some(mayBeReady)) {
      return course.phase === 'releasing' ? { waitUntil: null } : this.#save(outage, releasing);
    }
    // The rest already had a second attempt: their chats are notified.
    return this.#letAllGo(outage, waiting, 'go', 'recovered');
  }

  async #letAllGo(
    outage: Incident,
    waiting: readonly Incident[],
    state: 'go' | 'give_up',
    outcome: IncidentOutcome,
  ): Promise<Progress> {
    for (const incident of waiting) await this.#setHold(incident, state);
    // One of them may have been changed by another process: look again before the end.
    return waiting.length > 0 ? 'look' : decide(this.#context, outage, outcome);
  }

  async #letGo(outage: Incident, course: OutageCourse, incident: Incident): Promise<Progress> {
    const { clock, logger } = this.#context;
    const { session_id, incident_id } = incident;
    const what =
      course.phase === 'probing' ? 'is tried: does the provider answer?' : 'may continue: the provider answers';
    const said = `outage: the message of session ${session_id} ${what}`;
    logger.info({ incident_id: outage.incident_id, session_id }, said);
    return this.#save(outage, { ...course, out: incident_id, out_since: clock.now() });
  }

  async #verdictOn(out: Incident | null): Promise<Verdict> {
    if (out === null) return 'says_nothing';
    if (out.outcome === 'recovered' || out.outcome === 'answered') return 'works';
    const { records } = this.#context.store;
    const revival = out.revival_session_id === null ? null : await records.session(out.revival_session_id);
    const accusation = typeof revival?.incident_id === 'string' ? await records.incident(revival.incident_id) : null;
    if (accusation?.acting) return 'fails';
    if (out.outcome === 'revival_failed') return 'fails';
    if (out.outcome !== null) return 'says_nothing';
    if (revival === null) return 'open';
    const hasWorked = revival.status === 'completed' || (await this.#context.hasWorked(revival.session_id));
    return hasWorked ? 'works' : 'open';
  }

  #save(outage: Incident, course: OutageCourse): Promise<'look'> {
    return saveAndLook(this.#context, outage, { course });
  }

  async #setHold(incident: Incident, state: OutageHold['state']): Promise<void> {
    if (incident.hold === undefined) return;
    await save(this.#context, incident, { hold: { ...incident.hold, state } });
    wake(this.#context, incident.incident_id);
  }
}

export function whatWasDoneAboutOutage(outage: Incident): string {
  const { outcome } = outage;
  switch (outcome) {
    case null:
      return 'Affected runs are ended if their rules act; their messages are kept and their chats notified. One message is tried from time to time. When it works, the others follow one at a time.';
    case 'recovered':
      return `The outage is over; it affected ${countIn(outage)} sessions. The waiting messages were run again, one at a time.`;
    case 'provider_down':
      return `It affected ${countIn(outage)} sessions. Every retry failed, so the chats of the waiting messages were notified of the failure.`;
    default:
      return `It ended: ${outcome.replaceAll('_', ' ')}.`;
  }
}

/** Its message is held back; a project that only reports holds nothing back. */
function isWaiting({ hold, acting, outcome }: Incident): boolean {
  return hold?.state === 'held' && acting && outcome === null;
}

function mayBeReady({ attempt, not_revived_because }: Incident): boolean {
  return attempt === 1 && not_revived_because === null;
}

function isReady(incident: Incident): boolean {
  return mayBeReady(incident) && incident.step === 'released' && incident.hold?.is_told === true;
}
