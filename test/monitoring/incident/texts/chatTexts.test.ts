import { describe, expect, test } from '@jest/globals';
import { newIncident } from '../../../../monitoring/incident/newIncident.js';
import { FAILURE_PARAGRAPH, failureText, progressText } from '../../../../monitoring/incident/texts/chatTexts.js';
import { inPlainWords } from '../../../../monitoring/incident/texts/plainWords.js';
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
    evidence: ['nothing was heard of the agent since 14:04:46 UTC: for 15 min, and 10 min may pass'],
    clock: MEASURED,
    ...rest,
  });

  test.each<[string, Finding]>([
    [
      'The agent hung in Bash for 15 minutes.',
      found('silence', { waits_considered: [{ ...WAIT, kind: 'tool', excuses: false }] }),
    ],
    [
      'A sub-agent hung in Bash for 15 minutes.',
      found('silence', {
        waits_considered: [{ ...WAIT, owner: 'Bash of sub-agent a1', kind: 'tool', excuses: false }],
        clock: { ...MEASURED, agent: 'a1' },
      }),
    ],
    ['The agent said nothing for 15 minutes.', found('silence')],
    [
      'The agent waited in vain for the model for 10 minutes.',
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
    ['The agent was ended by SIGSEGV.', findCrash('run_failed_signal_SIGSEGV', 0)],
  ])('%s', (sentence, finding) => {
    expect(inPlainWords(finding)).toBe(sentence);
  });
});

describe('what the chat hears of an incident', () => {
  test('says what failed, how it ended, what comes next, and where to read on', () => {
    const incident = incidentOf(CRASH, { attempt: 2, untrusted_excerpt: 'its last words: no space left' });
    const reported = { ...incident, report: { ...incident.report, url: 'https://github.com/x/y/issues/4' } };
    expect(failureText(reported).split('\n\n')).toEqual([
      FAILURE_PARAGRAPH,
      'The agent ended with exit code 1 and without an answer.',
      'How it ended: `its last words: no space left`',
      'This was the second attempt, so I stop here. Send the message again if I should start over.',
      'Issue: https://github.com/x/y/issues/4',
    ]);
  });

  test("links and mentions nobody by an agent's last words", () => {
    const words = 'ask @octocat\n\n```\n[here](https://evil.example) `now`';
    const [paragraph] = failureText(incidentOf(CRASH, { untrusted_excerpt: words }))
      .split('\n\n')
      .slice(2);
    expect(paragraph).toBe("How it ended: `ask @octocat`\n`'''`\n`[here](https://evil.example) 'now'`");
  });

  test('names an issue that is a file without its path, which nobody in a chat could open', () => {
    const incident = incidentOf(CRASH, { attempt: 2 });
    const reported = { ...incident, report: { ...incident.report, url: 'file:///srv/wk/logs/issues/7.md' } };
    expect(failureText(reported)).toMatch(/\n\nIssue: 7\.md, a file that the operator has$/);
  });

  test('says why it tries once more', () => {
    expect(progressText(incidentOf(CRASH))).toBe(
      'The first attempt failed. The agent ended with exit code 1 and without an answer. I am trying once more.',
    );
  });

  // rule: plain-words-say-a-cause-once
  test('says a cause once', () => {
    const printed = 'its last words: ERROR: disk quota exceeded';
    const paragraphsOf = (excerpt: string) =>
      failureText(incidentOf(CRASH, { untrusted_excerpt: excerpt }))
        .split('\n\n')
        .slice(1, 3);
    const cause = 'The agent ended with exit code 1 and without an answer.';
    expect(paragraphsOf(`${printed}; ${CRASH.evidence[0]}`)).toEqual([cause, `How it ended: \`${printed}\``]);
    expect(paragraphsOf(String(CRASH.evidence[0]))[1] ?? '').not.toContain('How it ended');
  });
});
