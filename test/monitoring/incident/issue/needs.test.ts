/** What an issue says in its first line: whether an incident needs a person, and what for. */
import { describe, expect, test } from '@jest/globals';
import { needsOf } from '../../../../monitoring/incident/issue/needs.js';
import { newIncident } from '../../../../monitoring/incident/newIncident.js';
import { findCrash } from '../../../../monitoring/verdict/detectors/crash.js';
import { DEFAULT_ACTIONS } from '../../../../src/config/projects.js';
import type { Incident } from '../../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import { ManualClock } from '../../../harness/clock.js';

function incidentOf(changes: Partial<Incident> = {}, reason = 'run_failed_exit_1'): Incident {
  const session = { session_id: 'tg_popoto_-1_2', project_key: 'popoto', attempt: 1 } as AgentSession;
  const facts = { session, findings: [findCrash(reason, 0)], actions: DEFAULT_ACTIONS, notRevivedBecause: null };
  const rest = { untrustedExcerpt: null, toolCount: 1, lastToolCall: null };
  return { ...newIncident(new ManualClock(), { ...facts, ...rest }), ...changes };
}

describe('an open incident', () => {
  test.each<[string, Partial<Incident>, string, string]>([
    ['that will be tried again', {}, 'nobody_yet', 'the message is tried once more.'],
    [
      'whose second attempt failed',
      { attempt: 2 },
      'person',
      'Find out why both attempts failed. The message is not tried again.',
    ],
    [
      'that is not tried again',
      { not_revived_because: 'the project says so' },
      'person',
      'Find out why the attempt failed. The message is not tried again.',
    ],
    [
      'that is only reported',
      { rule: 'loop', acting: false },
      'person',
      'This rule only reports, so the run continues: `watchkeeper cancel tg_popoto_-1_2` ends it.',
    ],
    ['whose message is run again', { is_running_noted: true }, 'nobody_yet', 'the second attempt is running.'],
    ['of a queue', { rule: 'backlog' }, 'person', 'Nothing picks up messages: `watchkeeper doctor` says why.'],
    [
      'of one folder, while others may work',
      { rule: 'backlog', subject: { kind: 'lane', lane: 'host-a:/srv/popoto' } },
      'person',
      'A waiting message is not started: `watchkeeper doctor` says why.',
    ],
    ['of a provider', { rule: 'provider_outage' }, 'nobody_yet', 'messages wait until the provider answers.'],
  ])('%s', (_, changes, who, what) => {
    expect(needsOf(incidentOf(changes))).toEqual({ who, what });
  });
});

describe('an incident that has ended', () => {
  test.each<[NonNullable<Incident['outcome']>, string]>([
    ['recovered', 'the second attempt answered the message.'],
    ['answered', 'the answer arrived after all.'],
    ['cancelled_by_person', 'a person cancelled the message.'],
    ['revival_cancelled', 'a person cancelled the second attempt.'],
    ['put_back', 'the run was interrupted, and the message is back in its queue.'],
    ['session_pending', 'the message is back in its queue.'],
  ])('%s needs nobody', (outcome, what) => {
    expect(needsOf(incidentOf({ outcome }))).toEqual({ who: 'nobody', what });
  });

  test.each([
    ['https://github.com/harbour/popoto/issues/46', 'https://github.com/harbour/popoto/issues/46 says'],
    [null, '`watchkeeper session tg_popoto_-1_2_r1` says'],
  ])('of an earlier version whose second attempt failed later says where that is: %s', (url, where) => {
    const failed_later = { incident_id: 'B', rule: 'crash', url } as const;
    const ended = incidentOf({ outcome: 'recovered', revival_session_id: 'tg_popoto_-1_2_r1', failed_later });
    expect(needsOf(ended)).toEqual({
      who: 'nobody',
      what: `the second attempt failed later, and ${where} what that needs.`,
    });
  });

  test('by itself needs nobody, and claims no second attempt', () => {
    const what = 'it is over.';
    expect(needsOf(incidentOf({ outcome: 'recovered', acting: false }))).toEqual({ who: 'nobody', what });
    const lane = { kind: 'lane', lane: 'host-a:/srv/popoto' } as const;
    expect(needsOf(incidentOf({ outcome: 'recovered', subject: lane }))).toEqual({ who: 'nobody', what });
  });

  test.each<[string, string]>([
    ['run_failed_to_start', "The agent's program cannot be started: `watchkeeper doctor` says why."],
    ['run_failed_authentication', "Renew the agent's credentials: they were refused."],
    ['run_failed_credit', "Add credit to the agent's account: there is none left."],
    [
      'run_failed_misconfigured',
      "Correct the agent's settings, such as its model, version or network: how it ended says which.",
    ],
    ['run_failed_rate_limit', "The provider's limit is reached: wait for its end, or raise it."],
    [
      'run_failed_context_overflow',
      'The conversation no longer fits the model: send the message in a new conversation.',
    ],
    [
      'run_lease_expired',
      'Redis was out of reach for longer than `timings.runLeaseMs`: find out why in its log and in that of the bridge.',
    ],
    [
      'run_interrupted_too_often',
      'Every attempt was interrupted, by its bridge or a limit of the provider: the log of the bridge says by which.',
    ],
    ['run_failed_exit_1', 'Find out why the attempt failed. The message is not tried again.'],
  ])('reported as a failure, after %s', (reason, what) => {
    expect(needsOf(incidentOf({ outcome: 'told' }, reason))).toEqual({ who: 'person', what });
  });

  test.each<1 | 2>([1, 2])(
    'because the service that ran attempt %i ended: that end is what a person looks for',
    (attempt) => {
      expect(needsOf(incidentOf({ rule: 'orphan', attempt, outcome: 'told' }, 'run_lost'))).toEqual({
        who: 'person',
        what: 'Find out why the service that ran the agent ended: see the end of its log, and what its supervisor and the kernel logged. The message is not tried again.',
      });
    },
  );

  test.each<[NonNullable<Incident['outcome']>, Partial<Incident>, string]>([
    [
      'revival_failed',
      { revival_session_id: 'tg_popoto_-1_2_r1' },
      'Find out why both attempts failed. The message is not tried again.',
    ],
    ['session_gone', {}, 'Redis lost its record of the message: the person who asked must send it again.'],
    ['revival_gone', {}, 'Redis lost its record of the message: the person who asked must send it again.'],
    [
      'provider_down',
      { rule: 'provider_outage' },
      'The provider was unavailable for too long: messages failed and must be sent again.',
    ],
  ])('%s needs a person', (outcome, changes, what) => {
    expect(needsOf(incidentOf({ outcome, ...changes }))).toEqual({ who: 'person', what });
  });
});
