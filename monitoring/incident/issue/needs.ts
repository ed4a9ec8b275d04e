/** The action that an incident needs from a person: the first line of its issue. */
import type { Incident, IncidentOutcome } from '../../../src/jobs/incidents.js';
import { type PlainReason, readReason } from '../../verdict/detectors/reasons.js';
import { leadingReason } from '../texts/incidentEvents.js';

export interface Needs {
  /** `nobody_yet` while the watchdog is working on it; `nobody` if it ended well. */
  readonly who: 'person' | 'nobody_yet' | 'nobody';
  /** A sentence: what to do, or why nothing is to be done. */
  readonly what: string;
}

/** Remedies for a person to apply before the message is sent again. */
const REMEDIES: Readonly<Partial<Record<PlainReason, string>>> = {
  run_failed_to_start: "The agent's program cannot be started: `watchkeeper doctor` says why.",
  run_failed_authentication: "Renew the agent's credentials: they were refused.",
  run_failed_credit: "Add credit to the agent's account: there is none left.",
  run_failed_misconfigured:
    "Correct the agent's settings, such as its model, version or network: how it ended says which.",
  run_failed_rate_limit: "The provider's limit is reached: wait for its end, or raise it.",
  run_failed_provider_unavailable:
    "The model's provider was busy or unreachable for longer than messages wait: send the message again when it works.",
  run_failed_conversation_unusable: 'The conversation cannot be continued: send the message in a new one (/new).',
  run_failed_context_overflow: 'The conversation no longer fits the model: send the message in a new conversation.',
  run_lease_expired:
    'Redis was out of reach for longer than `timings.runLeaseMs`: find out why in its log and in that of the bridge.',
  run_interrupted_too_often:
    'Every attempt was interrupted, by its bridge or a limit of the provider: the log of the bridge says by which.',
};

/** The agent did nothing wrong: the words of its conversation would lead nowhere. */
const SERVICE_ENDED =
  'Find out why the service that ran the agent ended: see the end of its log, and what its supervisor and the kernel logged. The message is not tried again.';

const GOOD_ENDS: Readonly<Partial<Record<IncidentOutcome, string>>> = {
  answered: 'the answer arrived after all.',
  cancelled_by_person: 'a person cancelled the message.',
  revival_cancelled: 'a person cancelled the second attempt.',
  put_back: 'the run was interrupted, and the message is back in its queue.',
  session_pending: 'the message is back in its queue.',
};

export function needsOf(incident: Incident): Needs {
  const { outcome } = incident;
  if (outcome === null) return needsMeanwhile(incident);
  if (outcome === 'recovered') return { who: 'nobody', what: howItRecovered(incident) };
  const goodEnd = GOOD_ENDS[outcome];
  if (goodEnd !== undefined) return { who: 'nobody', what: goodEnd };
  return { who: 'person', what: whatToDo(incident) };
}

function needsMeanwhile(incident: Incident): Needs {
  const { rule, subject, session_id, is_running_noted, acting, attempt, not_revived_because } = incident;
  if (rule === 'backlog') {
    const stuck = subject?.kind === 'lane' ? 'A waiting message is not started' : 'Nothing picks up messages';
    return { who: 'person', what: `${stuck}: \`watchkeeper doctor\` says why.` };
  }
  if (rule === 'provider_outage') return { who: 'nobody_yet', what: 'messages wait until the provider answers.' };
  if (!acting) {
    const what = `This rule only reports, so the run continues: \`watchkeeper cancel ${session_id}\` ends it.`;
    return { who: 'person', what };
  }
  if (is_running_noted) return { who: 'nobody_yet', what: 'the second attempt is running.' };
  return attempt === 1 && not_revived_because === null
    ? { who: 'nobody_yet', what: 'the message is tried once more.' }
    : { who: 'person', what: whatToDo(incident) };
}

function howItRecovered({ rule, acting, subject, failed_later: later, revival_session_id }: Incident): string {
  if (rule === 'provider_outage') return 'the provider answers again.';
  if (later !== undefined) {
    const where = later.url ?? `\`watchkeeper session ${revival_session_id}\``;
    return `the second attempt failed later, and ${where} says what that needs.`;
  }
  return acting && subject === undefined ? 'the second attempt answered the message.' : 'it is over.';
}

function whatToDo(incident: Incident): string {
  const { rule, outcome, attempt, revival_session_id } = incident;
  if (outcome === 'session_gone' || outcome === 'revival_gone') {
    return 'Redis lost its record of the message: the person who asked must send it again.';
  }
  if (rule === 'provider_outage')
    return 'The provider was unavailable for too long: messages failed and must be sent again.';
  const reason = readReason(leadingReason(incident));
  const remedy = reason?.kind === 'plain' ? REMEDIES[reason.reason] : undefined;
  if (remedy !== undefined) return remedy;
  if (rule === 'orphan' && revival_session_id === null) return SERVICE_ENDED;
  return attempt === 2 || revival_session_id !== null
    ? 'Find out why both attempts failed. The message is not tried again.'
    : 'Find out why the attempt failed. The message is not tried again.';
}
