/** The functions that users of an older tracker look for, under their names. */
import { describe, expect, test } from '@jest/globals';
import { getPendingTodoCount } from '../../../memory/fold/state.js';
import { Observed } from '../../../memory/observed/observed.js';
import { detectSubagentSession, loadSessionMetadata, sessionTracker } from '../../../memory/show/sessionMetadata.js';
import type { StepStatus } from '../../../memory/words.js';
import { isoTime, MINUTE } from '../../../src/time.js';
import { WorklogScene } from '../worklogScene.js';

describe('getPendingTodoCount', () => {
  const steps = (...statuses: StepStatus[]) => statuses.map((status) => ({ status, title: 'incomplete: in progress' }));

  test.each([
    ['a completed task', steps('completed'), 0],
    ['titles with the words that a search would find', steps('completed', 'skipped', 'cancelled', 'pending'), 1],
    ['a mere reading of the list', steps(), 0],
    ['a failed completion', steps('failed', 'in_progress'), 2],
  ])('of %s', (_, list, count) => expect(getPendingTodoCount(list)).toBe(count));

  test('of the same item in two histories', () => {
    const observed = new Observed();
    for (const status of ['pending', 'in_progress', 'completed', 'in_progress'])
      observed.take({
        timestamp: '2026-11-01T00:00:00.000Z',
        event: 'plan',
        mode: 'merge',
        items: [{ external_id: '1', title: 'Write the tests', status }],
      });
    expect(getPendingTodoCount(observed.todos.list)).toBe(1);
  });
});

test('a sub-agent is known by who started it, and not by its words or its first tool', () => {
  expect(detectSubagentSession({ parent: null, agent_id: null })).toBe(false);
  expect(detectSubagentSession({ parent: '2026-11-01-root', agent_id: null })).toBe(true);
  expect(detectSubagentSession({ parent: null, agent_id: 'ae6e' })).toBe(true);
});

describe('a session as the older tracker knew it', () => {
  const scene = () => {
    const worklog = new WorklogScene();
    worklog.write('session_started', { session_id: 's-2', purpose: 'I am a sub-agent, says the task' });
    return worklog;
  };
  const sources = (log: WorklogScene['log'], fold: Observed | null, depth = 0) => ({
    log,
    fold,
    depth,
    wasGivenContext: false,
  });

  test('without an observation it has what was declared, and no instants that never were', () => {
    const { log } = scene();
    expect(loadSessionMetadata(sources(log, null))).toEqual({
      sessionId: 's-2',
      createdAt: '2026-11-01T00:00:01.000Z',
      lastUpdated: '2026-11-01T00:00:01.000Z',
      phase: null,
      governanceLevel: null,
      delegationDepth: 0,
      parentSession: null,
      language: { communication: null, documents: null },
    });
    expect(sessionTracker(sources(log, null))).toMatchObject({ firstToolUsed: false, sessionLevel: 1 });
  });

  test('has what was observed: the first tool, the violations, the instants, the size of its context', () => {
    const worklog = scene();
    worklog.write('session_changed', { role: 'reviewer', language: { documents: 'de' } });
    worklog.write('conversation', { provider: 'claude', conversation: 'c', source: 'resume' });
    const resumed = worklog.now;
    worklog.step('9', 'in_progress');
    const fold = new Observed();
    const lines: object[] = [
      { event: 'user_prompt', origin: 'human' },
      { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'Read', tool_input: {} },
      { event: 'post_tool_use', tool_use_id: '1', outcome: 'blocked' },
      { event: 'usage', message_id: 'm', input: 5, output: 1, cached: 10 },
      { event: 'compaction' },
      { event: 'turn_end', reason: 'end_turn' },
    ];
    const at = (index: number) => isoTime(worklog.now + index * MINUTE);
    for (const [index, line] of lines.entries()) fold.take({ timestamp: at(index), session_id: 'c', ...line });
    expect(loadSessionMetadata(sources(worklog.log, fold))).toMatchObject({
      lastUpdated: at(5),
      compactedAt: at(4),
      contextSize: 15,
      resumedAt: isoTime(resumed),
      idleAt: at(5),
      language: { documents: 'de' },
    });
    expect(sessionTracker(sources(worklog.log, fold))).toMatchObject({
      firstToolUsed: true,
      firstToolName: 'Read',
      agentRole: 'reviewer',
      violationCount: 2,
    });
    // It works again.
    fold.take({ timestamp: at(6), event: 'user_prompt', origin: 'human' });
    expect(loadSessionMetadata(sources(worklog.log, fold))).not.toHaveProperty('idleAt');
  });

  test('a child session is of the second level or deeper, also if its parent cannot be found', () => {
    const worklog = new WorklogScene();
    worklog.write('session_started', { session_id: 's-3', purpose: 'x', parent: 's-2' });
    expect(sessionTracker(sources(worklog.log, null, 0)).sessionLevel).toBe(2);
    expect(sessionTracker(sources(worklog.log, null, 3)).sessionLevel).toBe(4);
  });
});
