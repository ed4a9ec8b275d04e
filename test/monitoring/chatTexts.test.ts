import { describe, expect, test } from '@jest/globals';
import { FAILURE_PARAGRAPH, failureText, progressText } from '../../monitoring/incident/chatTexts.js';
import { newIncident } from '../../monitoring/incident/newIncident.js';
import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import type { AgentSession, Finding, Incident, Rule } from '../../src/model.js';
import { ManualClock } from '../harness/clock.js';

const REASONS: Readonly<Record<Rule, string>> = {
  crash: 'run_failed_exit_1',
  orphan: 'run_lost',
  error_cascade: 'error_cascade_of_6',
  silence: 'silent_for_15_minutes',
  runaway: 'running_for_125_minutes',
  loop: 'loop_of_5',
  backlog: 'waiting_for_12_minutes',
};
const JARGON = /batch|in flight|\bstore\b|\blane\b|\bruns?\b|orphan|cascade|\brule\b|\d\d:\d\d|_/;

function incidentOf(rule: Rule, changes: Partial<Incident> = {}): Incident {
  const session = { session_id: 'tg_popoto_-1_2', project_key: 'popoto', attempt: 1 } as AgentSession;
  const finding: Finding = {
    rule,
    reason: REASONS[rule],
    since: '2026-02-05T10:00:00.000Z',
    evidence: ['no activity since 09:45:00', 'the last 6 batches failed'],
    waits_considered: [
      {
        kind: 'tool',
        owner: 'Bash (call_2)',
        since: '2026-02-05T09:45:00.000Z',
        until: '2026-02-05T10:00:00.000Z',
        excuses: false,
        why: 'its 15 min were over at 10:00:00',
      },
    ],
  };
  const facts = { session, findings: [finding], actions: DEFAULT_ACTIONS, notRevivedBecause: null };
  const incident = newIncident(new ManualClock(), {
    ...facts,
    untrustedExcerpt: null,
    toolCount: 1,
    lastToolCall: null,
  });
  return { ...incident, ...changes };
}

describe('what the chat hears of an incident', () => {
  test.each(Object.keys(REASONS) as Rule[])(
    '(%s) holds no word that only operators know, and no time of day',
    (rule) => {
      for (const attempt of [1, 2] as const) {
        expect(failureText(incidentOf(rule, { attempt })).split('\n\n').slice(1).join()).not.toMatch(JARGON);
        expect(progressText(incidentOf(rule, { attempt }))).not.toMatch(JARGON);
      }
    },
  );

  test('says what failed, how it ended, what comes next, and where to read on', () => {
    const incident = incidentOf('crash', { attempt: 2, untrusted_excerpt: 'its last words: no space left' });
    const reported = { ...incident, report: { ...incident.report, url: 'https://github.com/x/y/issues/4' } };
    expect(failureText(reported).split('\n\n')).toEqual([
      FAILURE_PARAGRAPH,
      'What failed: the agent ended with exit code 1 and without an answer.',
      'How it ended: its last words: no space left',
      'This was the second attempt, so I stop here. Send the message again if I should start over.',
      'Issue: https://github.com/x/y/issues/4',
    ]);
  });

  test('names how long it was silent, and the tool that it waited for', () => {
    expect(progressText(incidentOf('silence'))).toBe(
      'The first attempt failed: nothing was heard of the agent for 15 min; it was waiting for Bash, which did not come back. I am trying once more.',
    );
  });
});
