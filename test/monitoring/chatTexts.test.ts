import { describe, expect, test } from '@jest/globals';
import { describeFinding } from '../../monitoring/describe.js';
import { findCrash } from '../../monitoring/detectors/crash.js';
import { FAILURE_PARAGRAPH, failureText, progressText } from '../../monitoring/incident/chatTexts.js';
import { newIncident } from '../../monitoring/incident/newIncident.js';
import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import type { Finding } from '../../src/findings.js';
import type { Incident } from '../../src/incidents.js';
import type { AgentSession } from '../../src/model.js';
import { ManualClock } from '../harness/clock.js';

const CRASH = findCrash('run_failed_exit_1', 0);

function incidentOf(finding: Finding, changes: Partial<Incident> = {}): Incident {
  const session = { session_id: 'tg_popoto_-1_2', project_key: 'popoto', attempt: 1 } as AgentSession;
  const facts = { session, findings: [finding], actions: DEFAULT_ACTIONS, notRevivedBecause: null };
  const rest = { untrustedExcerpt: null, toolCount: 1, lastToolCall: null };
  return { ...newIncident(new ManualClock(), { ...facts, ...rest }), ...changes };
}

describe('what the chat hears of an incident', () => {
  test('says what failed, how it ended, what comes next, and where to read on', () => {
    const incident = incidentOf(CRASH, { attempt: 2, untrusted_excerpt: 'its last words: no space left' });
    const reported = { ...incident, report: { ...incident.report, url: 'https://github.com/x/y/issues/4' } };
    expect(failureText(reported).split('\n\n')).toEqual([
      FAILURE_PARAGRAPH,
      'What failed: the agent ended with exit code 1 and without an answer.',
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
      `The first attempt failed: ${describeFinding(CRASH)} I am trying once more.`,
    );
  });
});
