/** Kinds of ends and silences that are easily judged wrongly, in the shapes in which the programs write them. */
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AssessedSession, assessPaths } from '../../../monitoring/offline/assessPaths.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import { isoTime } from '../../../src/time.js';
import { asks, calls, claude, type Fields, returns, START, says, transcript } from '../../src/transcripts/told.js';

const KINDS = join(import.meta.dirname, '../../fixtures/judgement');
const BACKGROUND = '10-background-agent-hangs/be5bc463-3795-4f71-8ce0-4392804845ec.jsonl';
const BESIDE_WORK = '13-background-call-hangs-main-works/22222222-2222-4222-8222-222222222222.jsonl';

async function assess(path: string, now: number): Promise<AssessedSession> {
  const { sessions } = await assessPaths([path], { thresholds: DEFAULT_THRESHOLDS, now, replay: true });
  const [session] = sessions;
  if (session === undefined) throw new Error(`${path} was not judged`);
  return session;
}

/** @returns each rule that was ever true, with its first instant */
function firsts({ findings }: AssessedSession): string[] {
  return findings.map(({ rule, since }) => `${rule} ${since}`);
}

async function judged(name: string, now: string): Promise<string[]> {
  return firsts(await assess(join(KINDS, name), Date.parse(now)));
}

describe('a sub-agent in the background', () => {
  // rule: a-background-sub-agent-owes-its-report
  test('that hangs after the turn is found ten minutes after its last sign, and stays', async () => {
    const found = ['silence 2026-11-27T21:40:43.356Z'];
    expect(await judged(BACKGROUND, '2026-11-27T21:40:43.355Z')).toEqual([]);
    expect(await judged(BACKGROUND, '2026-11-27T21:40:43.356Z')).toEqual(found);
    const later = await assess(join(KINDS, BACKGROUND), Date.parse('2026-11-28T02:30:00Z'));
    expect([later.attention, later.replay?.still_true, firsts(later)]).toEqual(['working', ['silence'], found]);
  });

  test('whose call hangs stays found while the main agent works, and after its turn', async () => {
    const found = ['silence 2026-11-27T08:15:06.001Z'];
    for (const now of ['2026-11-27T08:20:00Z', '2026-11-27T08:31:30Z', '2026-11-27T12:00:00Z']) {
      const session = await assess(join(KINDS, BESIDE_WORK), Date.parse(now));
      expect([firsts(session), session.replay?.still_true]).toEqual([found, ['silence']]);
    }
  });

  const side = (rest: Fields = {}): Fields => ({ isSidechain: true, agentId: 'a1', ...rest });
  const launched = { toolUseResult: { isAsync: true, status: 'async_launched', agentId: 'a1' } };
  const begun = [
    asks(0, 'delegate it', { permissionMode: 'bypassPermissions' }),
    calls(1, 't1', 'Agent', { prompt: 'look' }),
    returns(2, 't1', 'launched', false, launched),
    asks(3, 'look', side()),
    calls(4, 'x', 'Bash', { command: 'ls' }, side()),
    returns(5, 'x', 'done', false, side()),
  ];
  const turnEnds = (seconds: number, rest: Fields = {}) => [
    says(seconds, 'Started', 'end_turn'),
    claude(seconds, 'system', { subtype: 'turn_duration', durationMs: 1, ...rest }),
  ];
  const notified = (...ids: string[]) =>
    `<task-notification>${ids.map((id) => `<task-id>${id}</task-id>`).join('\n')}<status>stopped</status>`;
  const queued = (seconds: number, content: string) =>
    claude(seconds, 'queue-operation', { operation: 'enqueue', content });

  test('that goes on is not accused, however long it takes', async () => {
    const steps = Array.from({ length: 60 }, (_, index) => says(10 + index * 300, 'On it', 'tool_use', side()));
    const path = transcript([...begun, ...turnEnds(6), ...steps]);
    expect(firsts(await assess(path, START + 18_000_000))).toEqual([]);
  });

  test.each([
    ['its last message', [says(60, 'Looked.', 'end_turn', side())]],
    ['a notification', [queued(60, notified('a1'))]],
    ['a notification about several', [queued(60, notified('b7', 'a1'))]],
    [
      'a call that stops it',
      [returns(60, 'k', 'stopped', false, { toolUseResult: { task_id: 'a1', task_type: 'local_agent' } })],
    ],
    [
      'a call that reads its report',
      [returns(60, 'o', 'read', false, { toolUseResult: { task: { task_id: 'a1', status: 'completed' } } })],
    ],
    ['a person who stops all of them', [claude(60, 'system', { subtype: 'agents_killed' })]],
    ['a person who leaves', [asks(60, '<command-name>/exit</command-name>')]],
    ['a later turn after which none is counted', [asks(50, 'well?'), ...turnEnds(60)]],
  ])('owes nothing after %s', async (_, end) => {
    const now = START + 3_600_000;
    const open = transcript([...begun, ...turnEnds(6, { pendingBackgroundAgentCount: 1 })]);
    expect(firsts(await assess(open, now))).toEqual([`silence ${isoTime(START + 605_001)}`]);
    const path = transcript([...begun, ...turnEnds(6, { pendingBackgroundAgentCount: 1 }), ...end]);
    const session = await assess(path, now);
    expect([firsts(session), session.attention]).toEqual([[], 'idle']);
  });

  test('owes on if a call only asks how far it is, or stops another one', async () => {
    const asked = returns(60, 'o', 'not yet', false, { toolUseResult: { task: { task_id: 'a1', status: 'running' } } });
    const stopped = returns(61, 'k', 'stopped', false, { toolUseResult: { task_id: 'b7', task_type: 'local_bash' } });
    const path = transcript([...begun, asked, stopped, ...turnEnds(70)]);
    expect(firsts(await assess(path, START + 3_600_000))).toEqual([`silence ${isoTime(START + 605_001)}`]);
  });

  test('has perhaps reported with its last message in versions that do not say so, unless it acts again', async () => {
    const talks = [...begun, says(8, 'Looked.', null, side()), ...turnEnds(9)];
    expect(firsts(await assess(transcript(talks), START + 3_600_000))).toEqual([]);
    const acts = [...talks, calls(20, 'y', 'Bash', { command: 'ls' }, side()), returns(21, 'y', 'done', false, side())];
    expect(firsts(await assess(transcript(acts), START + 3_600_000))).toEqual([`silence ${isoTime(START + 621_001)}`]);
  });

  test('whose transcript is missing accuses nobody', async () => {
    const path = transcript([...begun.slice(0, 3), ...turnEnds(6)]);
    expect(firsts(await assess(path, START + 3_600_000))).toEqual([]);
  });
});
