import { describe, expect, test } from '@jest/globals';
import { newIncident } from '../../../../monitoring/incident/newIncident.js';
import {
  FAILURE_PARAGRAPH,
  failureText,
  inPlainWords,
  progressText,
} from '../../../../monitoring/incident/texts/chatTexts.js';
import { findCrash } from '../../../../monitoring/verdict/detectors/crash.js';
import { DEFAULT_ACTIONS } from '../../../../src/config/projects.js';
import type { Finding } from '../../../../src/jobs/findings.js';
import type { Incident } from '../../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import { MINUTE, SECOND } from '../../../../src/time.js';
import { ManualClock } from '../../../harness/clock.js';

const CRASH = findCrash('run_failed_exit_1', 0);

function incidentOf(finding: Finding, changes: Partial<Incident> = {}): Incident {
  const session = { session_id: 'tg_popoto_-1_2', project_key: 'popoto', attempt: 1 } as AgentSession;
  const facts = { session, findings: [finding], actions: DEFAULT_ACTIONS, notRevivedBecause: null };
  const rest = { untrustedExcerpt: null, toolCount: 1, lastToolCall: null };
  return { ...newIncident(new ManualClock(), { ...facts, ...rest }), ...changes };
}

describe('a finding in plain words', () => {
  const WAIT = { owner: 'Bash', since: '', until: null, why: '' } as const;
  const MEASURED = { agent: null, unit: 'ms', value: 15 * MINUTE, limit: 1, counted_from: null } as const;
  const found = (rule: Finding['rule'], rest: Partial<Finding> = {}): Finding => ({
    ...CRASH,
    rule,
    evidence: ['no activity of the agent for 15 min since 14:04:46 UTC (limit 10 min)'],
    clock: MEASURED,
    ...rest,
  });

  test.each<[string, Finding]>([
    [
      'The agent was stuck in Bash for 15 minutes.',
      found('silence', { waits_considered: [{ ...WAIT, kind: 'tool', excuses: false }] }),
    ],
    [
      'A sub-agent was stuck in Bash for 15 minutes.',
      found('silence', {
        waits_considered: [{ ...WAIT, owner: 'Bash of sub-agent a1', kind: 'tool', excuses: false }],
        clock: { ...MEASURED, agent: 'a1' },
      }),
    ],
    ['The agent said nothing for 15 minutes.', found('silence')],
    [
      'The agent got no answer from the model for 10 minutes.',
      found('silence', {
        waits_considered: [{ ...WAIT, kind: 'rate_limit', excuses: false }],
        clock: { ...MEASURED, value: 10 * MINUTE + 3 * SECOND },
      }),
    ],
    [
      'The agent worked for 2 hours without finishing.',
      found('runaway', { clock: { ...MEASURED, value: 121 * MINUTE } }),
    ],
    [
      'The agent failed 6 times in a row.',
      found('error_cascade', { clock: { ...MEASURED, unit: 'failing_batches', value: 6 } }),
    ],
    ['The agent repeated the same steps without getting anywhere.', found('loop')],
    ['The service that ran the agent stopped.', found('orphan')],
    [
      'The service that ran the agent could not reach its store for too long, and ended the agent.',
      findCrash('run_lease_expired', 0),
    ],
    ['The agent was killed by SIGSEGV.', findCrash('run_failed_signal_SIGSEGV', 0)],
  ])('%s', (sentence, finding) => {
    expect(inPlainWords(finding)).toBe(sentence);
  });
});

describe('the chat messages of an incident', () => {
  test('say what failed, how it ended, what comes next, and where to find more', () => {
    const incident = incidentOf(CRASH, { attempt: 2, untrusted_excerpt: 'its last words: no space left' });
    const reported = { ...incident, report: { ...incident.report, url: 'https://github.com/x/y/issues/4' } };
    expect(failureText(reported).split('\n\n')).toEqual([
      FAILURE_PARAGRAPH,
      'The agent exited with code 1 and without an answer.',
      'How it ended: `its last words: no space left`',
      'This was the second attempt, so I will not try again. To start over, send the message again.',
      'Issue: https://github.com/x/y/issues/4',
    ]);
  });

  test('claim of no message that it ran only once: it may have been put back, or have waited for a limit', () => {
    const because = "the provider's usage limit is reached; ask again when it has been reset";
    const text = failureText(incidentOf(CRASH, { not_revived_because: because }));
    expect(text).toContain(`\n\nI will not try again: ${because}.`);
    expect(text).not.toContain('did not try');
  });

  test('turn the last output of an agent into no link or mention', () => {
    const words = 'ask @octocat\n\n```\n[here](https://evil.example) `now`';
    const [paragraph] = failureText(incidentOf(CRASH, { untrusted_excerpt: words }))
      .split('\n\n')
      .slice(2);
    expect(paragraph).toBe("How it ended: `ask @octocat`\n`'''`\n`[here](https://evil.example) 'now'`");
  });

  test('name an issue file without its path, which cannot be opened from a chat', () => {
    const incident = incidentOf(CRASH, { attempt: 2 });
    const reported = { ...incident, report: { ...incident.report, url: 'file:///srv/wk/logs/issues/7.md' } };
    expect(failureText(reported)).toMatch(/\n\nIssue: 7\.md, which the operator of this bot can read$/);
  });

  test('give the reason for trying again', () => {
    expect(progressText(incidentOf(CRASH))).toBe(
      'The first attempt failed. The agent exited with code 1 and without an answer. I am trying again.',
    );
  });

  // rule: plain-words-say-a-cause-once
  test('give a cause once', () => {
    const printed = 'its last words: ERROR: disk quota exceeded';
    const paragraphsOf = (excerpt: string) =>
      failureText(incidentOf(CRASH, { untrusted_excerpt: excerpt }))
        .split('\n\n')
        .slice(1, 3);
    const cause = 'The agent exited with code 1 and without an answer.';
    expect(paragraphsOf(`${printed}; ${CRASH.evidence[0]}`)).toEqual([cause, `How it ended: \`${printed}\``]);
    expect(paragraphsOf(String(CRASH.evidence[0]))[1] ?? '').not.toContain('How it ended');
  });
});
