import { describe, expect, test } from '@jest/globals';
import { prose } from '../../../monitoring/incident/issue/defuse.js';
import { assessSessionHealth } from '../../../monitoring/verdict/assessSessionHealth.js';
import { describeFinding } from '../../../monitoring/verdict/describe.js';
import { findBacklog } from '../../../monitoring/verdict/detectors/backlog.js';
import { findCrash } from '../../../monitoring/verdict/detectors/crash.js';
import { findOrphan } from '../../../monitoring/verdict/detectors/orphan.js';
import type { SessionContext } from '../../../monitoring/verdict/owedWork.js';
import { toEntry } from '../../../monitoring/verdict/timeline/entry.js';
import { Timeline } from '../../../monitoring/verdict/timeline/timeline.js';
import { DEFAULT_ACTIONS } from '../../../src/config/projects.js';
import { DEFAULT_THRESHOLDS, RULES } from '../../../src/config/rules.js';
import type { Finding } from '../../../src/jobs/findings.js';
import { MINUTE } from '../../../src/time.js';
import { describeWithRedis } from '../../harness/redis.js';
import {
  activeSession,
  eventLines,
  issueText,
  must,
  openSagaScene,
  releaseRun,
  sessionNow,
  settle,
} from '../incident/saga/sagaScene.js';
import { at, call, type Line, line, prompt, result } from './journals.js';

const SUB: Line = { agent_id: 'sub', parent_tool_use_id: 'task' };

function judge(lines: readonly Line[], seconds: number, context: SessionContext = {}): readonly Finding[] {
  const timeline = new Timeline(256);
  const entries = lines.map((each) => toEntry(each)).filter((entry) => entry !== null);
  timeline.add(entries, at(seconds));
  return assessSessionHealth(timeline, DEFAULT_THRESHOLDS, at(seconds), context).findings;
}

function found(rule: string, findings: readonly Finding[]): Finding {
  return must(findings.find((finding) => finding.rule === rule) ?? null);
}

function repeated(count: number, of: (index: number) => Line[]): Line[] {
  return [prompt(0), ...Array.from({ length: count }, (_, index) => of(index)).flat()];
}

const failing = (second: number, rest: Line = {}) => [
  call(second, `f${second}`, rest),
  result(second + 0.5, `f${second}`, 'failed', rest),
];
const step = (name: string, second: number) => [
  call(second, `c${second}`, { tool_input: { command: name } }),
  result(second + 0.5, `c${second}`, 'ok', { tool_output_preview: name }),
];
const busy = Array.from({ length: 25 }, (_, index) => line(index * 300, 'assistant_message'));
const HEAD = {
  ...{ sessionId: 's1', projectKey: 'boat', lane: 'deck:/srv', folder: '/srv' },
  ...{ isLaneHeld: false, isFolderMissing: false, laneFreeSince: null },
};
const owner = { owner: 'process 12 on deck', leaseMs: MINUTE, clocksStart: Number.NEGATIVE_INFINITY };

/** One real finding and more of each rule, by the detectors themselves. */
const SENTENCES: readonly (readonly [Finding, string])[] = [
  [
    found('silence', judge([prompt(0), call(60, 'toolu_01')], 60 + 25 * 60)),
    'no activity of the agent for 25 min since 09:01:00 UTC (limit 10 min); Bash has been running since 09:01:00 UTC, but its limit of 15 min ended at 09:16:00 UTC.',
  ],
  [
    found(
      'silence',
      judge([prompt(0), line(1, 'wait_start', { kind: 'rate_limit', until: '2026-02-05T09:30:00Z' })], 2_401),
    ),
    'no activity of the agent for 10 min since 09:30:00 UTC (limit 10 min); the agent has waited for the model since 09:00:01 UTC, but its limit of 29 min ended at 09:30:00 UTC.',
  ],
  [
    found('silence', judge([], 601, { status: 'active', last_activity: at(0) })),
    'no activity of the agent for 10 min since 09:00:00 UTC (limit 10 min); no work of it was recorded.',
  ],
  [
    found(
      'error_cascade',
      judge(
        repeated(7, (index) => failing(index + 1)),
        10,
      ),
    ),
    'the last 7 steps of the agent failed in a row (limit 5); the last failure was Bash at 09:00:07 UTC.',
  ],
  [
    found(
      'error_cascade',
      judge(
        repeated(6, (index) => failing(index + 1, SUB)),
        10,
      ),
    ),
    'the last 6 steps of sub-agent sub failed in a row (limit 5); the last failure was Bash at 09:00:06 UTC.',
  ],
  [
    found('runaway', judge([prompt(0), ...busy], 7_260)),
    'the agent has been working for 2 h 1 min since 09:00:00 UTC without finishing (limit 2 h); waiting for people and sleep of the machine are not counted.',
  ],
  [
    found(
      'loop',
      judge(
        repeated(5, (index) => step('same', index + 1)),
        10,
      ),
    ),
    'the agent repeated the same call (Bash) 5 times in a row with the same result (limit 5).',
  ],
  [
    found(
      'loop',
      judge(
        repeated(6, (index) => step(index % 2 === 0 ? 'one' : 'two', index + 1)),
        10,
      ),
    ),
    'the agent repeated the same 2 steps 3 times with the same results (limit 3).',
  ],
  [findCrash('run_failed_exit_1', at(0)), 'the agent exited with code 1 and without an answer.'],
  [
    must(findOrphan({ ...owner, isOwnerAlive: false, leaseUntil: null }, at(0))),
    'the service that ran the agent (process 12 on deck) is gone.',
  ],
  [
    must(findOrphan({ ...owner, isOwnerAlive: null, leaseUntil: at(0) }, at(300))),
    'the service that ran the agent (process 12 on deck) has sent no sign of life for 5 min.',
  ],
  [
    findBacklog([{ ...HEAD, acceptedAt: at(0) }], {
      worker: { kind: 'busy' },
      host: 'deck',
      limitMs: 10 * MINUTE,
      now: at(720),
    }),
    'the next message for a folder has been waiting for 12 min since 09:00:00 UTC (limit 10 min); all workers on deck are busy: the maximum number of agents is running.',
  ],
];

/** Words that only we use, and times of which nobody knows the zone. */
const UNCLEAR =
  /batch|in flight|\bstore\b|\blane\b|\blease\b|\bruns\b|orphan|cascade|\brule\b|_|\d\d:\d\d:\d\d(?! UTC)/;

describe('the sentence of a finding', () => {
  test.each(SENTENCES)('%#: is plain', (finding, sentence) => {
    expect(describeFinding(finding)).toBe(sentence);
    expect(sentence).not.toMatch(UNCLEAR);
  });

  test('is tested for every rule', () => {
    const rules = new Set(SENTENCES.map(([{ rule }]) => rule));
    expect(RULES.filter((rule) => !rules.has(rule))).toEqual([]);
  });

  test('names the sub-agent that was silent itself, and its wait', () => {
    const started = [prompt(0), call(1, 'task', { tool_name: 'Task' }), line(2, 'assistant_message', SUB)];
    const lines = [...started, call(3, 'build', { ...SUB, timeout_ms: 3_600_000 })];
    const finding = found('silence', judge(lines, 4_000));
    expect(describeFinding(finding)).toBe(
      'no activity of the agent for 66 min since 09:00:03 UTC (limit 10 min); Task has been running since 09:00:01 UTC, but its limit of 15 min ended at 09:15:01 UTC; Task has waited for another agent since 09:00:01 UTC, but sub-agent sub had itself been silent for too long by 10:01:03 UTC; Bash of sub-agent sub has been running since 09:00:03 UTC, but its limit of 61 min ended at 10:01:03 UTC.',
    );
    expect(finding.waits_considered.map(({ kind, call: id, agent }) => [kind, id, agent])).toEqual([
      ['tool', 'task', null],
      ['child', 'task', null],
      ['tool', 'build', 'sub'],
    ]);
    expect(finding.clock).toMatchObject({ unit: 'ms', value: 3_997_000, limit: 600_000 });
  });

  test('stays short with hundreds of waits: those that ended first are named', () => {
    const calls = Array.from({ length: 200 }, (_, index) =>
      call(1, `c${index}`, { timeout_ms: 1_000 * (200 - index) }),
    );
    const sentence = describeFinding(found('silence', judge([prompt(0), ...calls], 5_000)));
    expect(sentence.length).toBeLessThan(1_000);
    expect(sentence).toContain('but its limit of 61 s ended at 09:01:02 UTC;');
    expect(sentence).toMatch(/; and 196 more waits do not excuse it\.$/);
  });
});

describeWithRedis('a finding', () => {
  // rule: a-verdict-explains-itself
  test('has the same sentence in log, critical event, issue and chat', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const findings = judge([prompt(0), call(60, 'toolu_01', { tool_name: 'mcp__sea__chart' })], 60 + 25 * 60);
    const saga = scene.saga();
    const evidence = { findings, actions: DEFAULT_ACTIONS, toolCount: 1, lastToolCall: null };
    await saga.accuse(session, evidence);
    const incidentId = must((await sessionNow(scene, session)).incident_id);
    await settle(saga, incidentId);
    await releaseRun(scene, session);
    await settle(saga, incidentId);

    const sentence = describeFinding(found('silence', findings));
    expect(sentence).toContain('mcp__sea__chart has been running since 09:01:00 UTC');
    expect(scene.logged.filter((logged) => logged.includes(sentence))).toHaveLength(1);
    const lines = eventLines(scene);
    expect(lines.length).toBeGreaterThan(1);
    for (const { details } of lines) expect(details?.findings).toMatchObject([{ rule: 'silence', sentence }]);
    // Markdown that shows the same sentence.
    expect(issueText(scene)).toContain(`- Finding: ${prose(sentence)}\n`);
    // In the chat it is said in plain words.
    expect(scene.said.join()).toMatch(
      /The first attempt failed\. The agent was stuck in mcp__sea__chart for \d+ minutes\. I am trying again/,
    );
  });
});
