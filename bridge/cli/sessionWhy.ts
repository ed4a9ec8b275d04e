/** Why a session is as it is, for the operator: at least as much as the person in the chat was shown. */
import { stepWords } from '../../memory/observed/step.js';
import { whatWasDone } from '../../monitoring/incident/saga/incidentReporter.js';
import { endWords, leadingFinding } from '../../monitoring/incident/texts/incidentEvents.js';
import type { Assessment } from '../../monitoring/verdict/assessSessionHealth.js';
import { describeFinding } from '../../monitoring/verdict/describe.js';
import { describeCrash } from '../../monitoring/verdict/detectors/crash.js';
import { readReason } from '../../monitoring/verdict/detectors/reasons.js';
import { counted } from '../../src/counted.js';
import type { Incident, IncidentOutcome } from '../../src/jobs/incidents.js';
import {
  type AgentSession,
  type DeliveryState,
  isDelivered,
  type OutboxEntry,
  type PassingWait,
} from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import { type RecentToolCall, readRecentToolCalls } from '../../src/journal/readRecentToolCalls.js';
import { redactShapes } from '../../src/log/redact.js';
import { shorten } from '../../src/log/shorten.js';
import { describeDuration, localClock, localTime, systemClock } from '../../src/time.js';
import { laterEnd, openStep } from './incidents.js';

/** Programs rely on this shape. */
export interface Why {
  /** The present or past fault, in a sentence of ours. */
  readonly finding: string;
  /** How the run ended, in the words of the agent or its program. Untrusted; null if they add nothing. */
  readonly untrusted_end: string | null;
  /** The last calls, oldest first. Untrusted. */
  readonly calls: readonly RecentToolCall[];
  /** The actions that were taken; null if there were none. */
  readonly done: string | null;
  readonly issue: string | null;
}

export interface WhyFacts {
  readonly session: AgentSession;
  readonly incident: Incident | null;
  readonly assessment: Assessment | null;
  readonly journal: string;
}

const CALLS_SHOWN = 5;
const LONGEST_CALL = 160;

/** @returns null if nothing is or was wrong with the session */
export async function whyOf({ session, incident, assessment, journal }: WhyFacts): Promise<Why | null> {
  const finding = incident === null ? null : leadingFinding(incident);
  const said = sentenceOf(session, incident, assessment);
  if (said === null) return null;
  return {
    finding: said,
    untrusted_end: endWords(incident?.untrusted_excerpt, finding?.evidence ?? []) || null,
    calls: await readRecentToolCalls(journal, CALLS_SHOWN),
    done: incident === null ? null : whatWasDone(incident),
    issue: incident?.report.url ?? null,
  };
}

export function whyLines({ finding, untrusted_end, calls, done, issue }: Why): (readonly [string, ...string[]])[] {
  const lines: (readonly [string, ...string[]])[] = [['why', finding]];
  if (untrusted_end !== null) lines.push(['it ended', untrusted_end]);
  if (calls.length > 0) lines.push(['last calls', ...calls.map(callLine)]);
  if (done !== null) lines.push(['done', done]);
  if (issue !== null) lines.push(['issue', issue]);
  return lines;
}

function sentenceOf(session: AgentSession, incident: Incident | null, assessment: Assessment | null): string | null {
  const [found] = assessment?.findings ?? [];
  const finding = found ?? (incident === null ? null : leadingFinding(incident));
  if (finding !== null) {
    return describeFinding(finding, incident?.reached === undefined ? null : stepWords(incident.reached));
  }
  if (incident !== null) return `The rule ${incident.rule} was true.`;
  const { status, end_reason: reason } = session;
  if (status !== 'failed' || reason === null) return null;
  return `${endWordsOf(reason)}.`;
}

export function endWordsOf(reason: string): string {
  if (reason === 'cancelled_by_person') return 'by a person';
  // The bridge is lost with its run: the agent itself did nothing wrong.
  if (reason === 'run_lost') return 'its run was lost';
  const read = readReason(reason);
  if (read?.kind === 'lasting') return `${read.what} for ${counted(read.value, read.unit.slice(0, -1))}`;
  return reason.startsWith('run_') ? describeCrash(reason) : reason.replaceAll('_', ' ');
}

const WAITS_FOR: Readonly<Record<PassingWait['for'], string>> = {
  provider: "the model's provider is busy or cannot be reached",
  host: 'the host has nothing left to start an agent with',
};

/** @returns what a waiting message is kept back for, and until when, or how many are before it; none for the next in line */
export async function waitLines(session: AgentSession, { records }: Store, now: number): Promise<[string, string][]> {
  const own = waitWords(session, now);
  if (own !== null || session.status !== 'pending') return own === null ? [] : [['waits', own]];
  const waiting = await records.waitingIn(session.lane);
  const before = waiting.indexOf(session.session_id);
  const [head] = waiting;
  if (before <= 0 || head === undefined) return [];
  const first = await records.session(head);
  const why = first === null ? null : waitWords(first, now);
  const turn = `for its turn: ${counted(before, 'message')} before it in its directory`;
  return [['waits', why === null ? turn : `${turn}; ${head} waits ${why}`]];
}

function waitWords({ status, not_before: until, wait }: AgentSession, now: number): string | null {
  if (status !== 'pending' || until === null || until <= now) return null;
  const what = wait === null ? "the provider's usage limit is reached" : `${WAITS_FOR[wait.for]}, wait ${wait.times}`;
  return `until ${localTime(until)} (in ${describeDuration(until - now)}): ${what}`;
}

/** @returns the state; for a message that could not be sent yet, also the number of tries and their outcome */
export function deliveryWords(state: DeliveryState, outbox: OutboxEntry | null): string {
  if (outbox === null || isDelivered(state) || outbox.last_error === null) return state;
  const { tries, due_at, last_error } = outbox;
  return `${state}, after ${counted(tries, 'attempt')}: ${last_error}; the next one at ${localTime(due_at)}`;
}

function callLine({ at, tool_name, outcome, duration_ms, tool_input }: RecentToolCall): string {
  const how = outcome ?? 'in flight';
  const took = duration_ms === null ? '' : `, ${describeDuration(duration_ms)}`;
  const input = typeof tool_input === 'string' ? tool_input : (JSON.stringify(tool_input) ?? '');
  return `${localClock(at)} ${tool_name} (${how}${took}) ${shorten(redactShapes(input), LONGEST_CALL)}`;
}

const INCIDENTS_SEARCHED = 1_000;

/** The open one, for a message that waits too long that of its folder or queue, else the one that ended the session. */
export async function incidentOf(
  { session_id, incident_id, status }: AgentSession,
  { records }: Store,
): Promise<Incident | null> {
  if (incident_id !== null) return records.incident(incident_id);
  if (status === 'pending') {
    const open = await records.openIncidents();
    return open.find((incident) => incident.session_id === session_id && incident.subject !== undefined) ?? null;
  }
  const closed = await records.closedIncidents(INCIDENTS_SEARCHED);
  return closed.find((incident) => incident.session_id === session_id && incident.subject === undefined) ?? null;
}

const OUTCOMES: Readonly<Record<IncidentOutcome, string>> = {
  recovered: 'recovered',
  answered: 'answered before the run was ended',
  told: 'the chat was notified of the failure',
  cancelled_by_person: 'a person cancelled the message',
  put_back: 'the message was put back into its queue',
  provider_down: 'the provider was down',
  session_gone: 'the record of its session is gone',
  session_pending: 'the message waits again',
  session_failed: 'the session failed',
  revival_gone: 'the record of the second attempt is gone',
  revival_failed: 'the second attempt failed as well',
  revival_cancelled: 'the second attempt was cancelled',
};

export function describeIncident(incident: Incident, revival: AgentSession | null): string {
  const { step, outcome, closed_at, hold } = incident;
  if (closed_at === null && hold?.state === 'held') return `${step}, held by the outage ${hold.incident_id}`;
  if (closed_at === null) return openStep(incident, revival);
  const later = laterEnd(incident, revival);
  const ago = `${describeDuration(Math.max(systemClock.now() - closed_at, 0))} ago`;
  const how = outcome === null ? '' : `: ${OUTCOMES[outcome]}`;
  return `${step}${how}, ${ago}${later === null ? '' : `; ${later}`}`;
}
