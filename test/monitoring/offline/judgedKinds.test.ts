/** Kinds of ends and silences that are easily judged wrongly, in the shapes in which the programs write them. */
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AssessedSession, assessPaths } from '../../../monitoring/offline/assessPaths.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import { isoTime } from '../../../src/time.js';
import {
  asks,
  calls,
  claude,
  codex,
  type Fields,
  returns,
  START,
  says,
  transcript,
} from '../../src/transcripts/told.js';

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

  test.each([
    ['was started again', '<summary>It was restarted</summary>'],
    ['is at work', '<status>running</status>'],
  ])('owes on if a notification says that it %s', async (_, rest) => {
    const text = `<task-notification><task-id>a1</task-id>${rest}</task-notification>`;
    const path = transcript([...begun, ...turnEnds(6), queued(60, text)]);
    expect(firsts(await assess(path, START + 3_600_000))).toEqual([`silence ${isoTime(START + 605_001)}`]);
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

const TURN = [
  asks(0, 'watch it', { permissionMode: 'default', promptSource: 'typed', origin: { kind: 'human' } }),
  says(5, 'I do', 'end_turn'),
  claude(6, 'system', { subtype: 'turn_duration', durationMs: 6_000 }),
];

describe('a turn that a program opens', () => {
  const silentFrom = (seconds: number) => [`silence ${isoTime(START + (seconds + 600) * 1_000 + 1)}`];
  const meta = (rest: Fields = {}) => asks(300, 'Go on.', { isMeta: true, ...rest });
  const fired = claude(300, 'system', { subtype: 'scheduled_task_fire', uuid: 'fired' });

  // rule: a-turn-that-a-program-opens-owes
  test('by a wakeup is silent if it is never answered', async () => {
    const path = '01-loop-wakeup-never-answered.jsonl';
    expect(await judged(path, '2026-08-04T09:00:00Z')).toEqual(['silence 2026-08-04T08:14:10.001Z']);
  });

  test.each([
    ['a scheduled task', [fired, meta({ promptSource: 'system' })]],
    ['a scheduled task of a version that does not mark its prompt', [fired, meta({ parentUuid: 'fired' })]],
    ['a message of another session', [meta({ origin: { kind: 'peer' } })]],
    ['a message of a channel', [meta({ origin: { kind: 'channel' } })]],
    ['the program, to continue', [meta({ origin: { kind: 'auto-continuation' } })]],
    ['a prompt that says what opened it', [meta({ turnOrigin: 'scheduled' })]],
    [
      'a message in the tags of the harness',
      [asks(300, '<cross-session-message from="b">Look</cross-session-message>')],
    ],
  ])('%s: never answered, it is silent; answered, it is not', async (_, opening) => {
    const now = START + 3_600_000;
    expect(firsts(await assess(transcript([...TURN, ...opening]), now))).toEqual(silentFrom(300));
    const answered = await assess(transcript([...TURN, ...opening, says(310, 'Done', 'end_turn')]), now);
    expect([firsts(answered), answered.attention]).toEqual([[], 'idle']);
  });

  test.each([
    ['a note of the harness', meta()],
    ['a note beside a prompt', meta({ turnCompanion: true, promptSource: 'system' })],
    ['what a command printed', asks(300, '<local-command-stdout>ok</local-command-stdout>')],
  ])('is none for %s', async (_, note) => {
    expect(firsts(await assess(transcript([...TURN, note]), START + 3_600_000))).toEqual([]);
  });

  test('is no word of a person: no dialog is inferred in a session without one, and its time is summed', async () => {
    const wakeup = meta({ promptSource: 'system', permissionMode: 'default' });
    const path = transcript([wakeup, calls(301, 't1', 'Bash', { command: 'make' })]);
    expect(firsts(await assess(path, START + 3_600_000))).toEqual([`silence ${isoTime(START + 1_201_001)}`]);
  });

  test('while a call is in flight joins the turn', async () => {
    const path = transcript([
      ...TURN.slice(0, 1),
      calls(5, 't1', 'Read', { file_path: 'a' }),
      asks(10, 'Look', { isMeta: true, origin: { kind: 'peer' } }),
    ]);
    const session = await assess(path, START + 120_000);
    expect([session.attention, session.waits.map(({ call }) => call)]).toEqual(['waiting', ['t1', 't1']]);
  });

  test('for a sub-agent makes it owe again', async () => {
    const side = { isSidechain: true, agentId: 'a1' };
    const launched = { toolUseResult: { isAsync: true, status: 'async_launched', agentId: 'a1' } };
    const path = transcript([
      asks(0, 'delegate'),
      calls(1, 't1', 'Agent', { prompt: 'look' }),
      returns(2, 't1', 'launched', false, launched),
      asks(3, 'look', side),
      says(4, 'Looked', 'end_turn', side),
      says(5, 'Done', 'end_turn'),
      asks(100, 'look again', { ...side, isMeta: true, origin: { kind: 'coordinator' } }),
    ]);
    expect(firsts(await assess(path, START + 3_600_000))).toEqual(silentFrom(100));
  });
});

describe('a command that a person typed', () => {
  const goal = (rest: Fields = {}) => [
    asks(0, '<command-name>/goal</command-name>', { uuid: 'typed' }),
    asks(0, '<local-command-stdout>Goal set</local-command-stdout>', { uuid: 'printed', parentUuid: 'typed' }),
    asks(0, 'A Stop hook is now active', { isMeta: true, parentUuid: 'printed', permissionMode: 'default', ...rest }),
  ];

  // rule: a-typed-command-that-starts-work-is-a-persons-prompt
  test('and that starts work is a prompt of that person: the call waits, and no time runs', async () => {
    expect(await judged('02-goal-then-dialog.jsonl', '2026-08-04T12:00:19Z')).toEqual([]);
    const session = await assess(join(KINDS, '02-goal-then-dialog.jsonl'), Date.parse('2026-08-04T10:40:00Z'));
    expect(session.attention).toBe('waiting');
  });

  test('and that only prints something owes nothing', async () => {
    expect(firsts(await assess(transcript(goal()), START + 3_600_000))).toEqual([]);
  });

  test('owes an answer at once if its note says that it opened the turn', async () => {
    const path = transcript(goal({ turnOrigin: 'system' }));
    expect(firsts(await assess(path, START + 3_600_000))).toEqual([`silence ${isoTime(START + 600_001)}`]);
  });

  test('owes an answer at once if what it printed says that it opened the turn', async () => {
    const [typed, printed, note] = goal();
    const path = transcript([typed, { ...printed, turnOrigin: 'human' }, note] as Fields[]);
    const session = await assess(path, START + 3_600_000);
    expect(firsts(session)).toEqual([`silence ${isoTime(START + 600_001)}`]);
  });

  test('starts nothing after the next prompt: what a machine begins stays its own', async () => {
    const path = transcript([
      ...goal(),
      asks(10, 'Go on.', { isMeta: true, promptSource: 'system' }),
      says(11, 'Done', 'end_turn'),
      calls(20, 't1', 'Bash', { command: 'make' }),
    ]);
    expect(firsts(await assess(path, START + 3_600_000))).toEqual([`silence ${isoTime(START + 920_001)}`]);
  });

  test('in the record of the harness, as newer versions write it', async () => {
    const path = transcript([
      asks(-20_000, 'before', { permissionMode: 'default' }),
      says(-19_999, 'Done', 'end_turn'),
      claude(0, 'system', { subtype: 'local_command', content: '<command-name>/goal</command-name>', uuid: 'typed' }),
      claude(0, 'system', { subtype: 'local_command', content: 'Goal set', uuid: 'printed', parentUuid: 'typed' }),
      asks(0, 'A Stop hook is now active', { isMeta: true, parentUuid: 'printed' }),
      calls(1, 't1', 'Read', { file_path: 'a' }),
    ]);
    const { clock, attention } = await assess(path, START + 120_000);
    expect([attention, clock.owed_ms]).toEqual(['waiting', 60_000]);
  });
});

describe('a turn of a version without stop reasons', () => {
  test('ends with the summary of its stop hook, even after a thought', async () => {
    expect(await judged('05-turn-ends-with-a-thought.jsonl', '2026-08-04T10:00:00Z')).toEqual([]);
    const before = await assess(join(KINDS, '05-turn-ends-with-a-thought.jsonl'), Date.parse('2026-08-04T09:00:00Z'));
    expect(before.attention).toBe('idle');
  });

  const thought = claude(3, 'assistant', {
    message: { id: 'm', role: 'assistant', stop_reason: null, content: [{ type: 'thinking', thinking: 'Hm.' }] },
  });
  const summary = (rest: Fields = {}) => claude(5, 'system', { subtype: 'stop_hook_summary', ...rest });
  const begun = [asks(0, 'do it'), calls(1, 't1'), returns(2, 't1')];
  const silentSince = (seconds: number) => [`silence ${isoTime(START + (seconds + 600) * 1_000 + 1)}`];

  test.each([
    [
      'the hook sent the agent on',
      4,
      [thought, asks(4, 'Stop hook feedback:\nrun the tests', { isMeta: true }), summary()],
    ],
    ['it is about a sub-agent', 3, [thought, summary({ hookLabel: 'SubagentStop' })]],
  ])('goes on if %s', async (_, since, lines) => {
    const found = firsts(await assess(transcript([...begun, ...lines]), START + 3_600_000));
    expect(found).toEqual(silentSince(since));
  });

  test('goes on after a summary that comes before the agent has spoken', async () => {
    const path = transcript([...begun, summary()]);
    expect(firsts(await assess(path, START + 3_600_000))).toEqual([`silence ${isoTime(START + 602_001)}`]);
  });
});

describe('a dialog that no line records', () => {
  // rule: a-dialog-of-a-sub-agent-accuses-nobody
  test.each([
    ['03-dialog-in-mirrored-sub-agent.jsonl', '2026-08-04T08:40:00Z', 'waiting'],
    ['04-dialog-in-sub-agent-without-transcript.jsonl', '2026-08-04T08:19:59Z', 'waiting'],
    ['04-dialog-in-sub-agent-without-transcript.jsonl', '2026-08-04T08:30:00Z', 'idle'],
  ])('of a sub-agent accuses nobody: %s at %s', async (name, now, attention) => {
    const session = await assess(join(KINDS, name), Date.parse(now));
    expect([firsts(session), session.attention]).toEqual([[], attention]);
  });

  test('of a sub-agent in several calls of one message, each mirrored after the other', async () => {
    const mirror = (seconds: number, message: Fields) =>
      claude(seconds, 'progress', { parentToolUseID: 't1', data: { type: 'agent_progress', agentId: 'a1', message } });
    const path = transcript([
      asks(0, 'delegate', { permissionMode: 'default' }),
      calls(1, 't1', 'Task', { prompt: 'look' }),
      mirror(4, calls(3, 'e1', 'Edit', { file_path: 'a' })),
      mirror(5, calls(3.5, 'e2', 'Edit', { file_path: 'b' })),
      mirror(6, returns(5.5, 'e1')),
    ]);
    const session = await assess(path, START + 3_600_000);
    expect([firsts(session), session.attention]).toEqual([[], 'waiting']);
    expect(session.waits.filter(({ kind }) => kind === 'permission').map(({ call }) => call)).toEqual(['e2']);
  });

  test('is left out of the time that the program itself counts for the turn', async () => {
    const path = join(KINDS, '04-dialog-in-sub-agent-without-transcript.jsonl');
    const { clock } = await assess(path, Date.parse('2026-08-04T08:20:09.999Z'));
    const countedByProgram = 140_000;
    expect(Math.abs(clock.owed_ms - countedByProgram)).toBeLessThan(60_000);
  });

  test.each([
    ['Edit', {}, 60],
    ['Bash', { command: 'make', timeout: 30_000 }, 90],
    ['WebFetch', {}, 180],
    ['Agent', { prompt: 'look' }, 180],
  ])('for %s counts as long as it may last by itself', async (tool, input, allowance) => {
    const path = transcript([
      asks(0, 'do it', { permissionMode: 'default' }),
      calls(10, 't1', tool, input),
      returns(2_000, 't1'),
      says(2_010, 'Done', 'end_turn'),
    ]);
    const { clock } = await assess(path, START + 2_009_999);
    expect(clock.owed_ms).toBe((10 + allowance) * 1_000 + 9_999);
    expect(firsts(await assess(path, START + 9_000_000))).toEqual([]);
  });

  // rule: a-request-that-asks-waits-at-once
  test('waits for a person at once if the request says that it asks', async () => {
    const session = await assess(join(KINDS, '07-codex-asks-at-once.jsonl'), Date.parse('2026-08-04T08:00:20.001Z'));
    const waits = session.waits.map(({ kind, since, excuses }) => [kind, since, excuses]);
    expect([session.attention, waits.at(-1)]).toEqual(['waiting', ['permission', '2026-08-04T08:00:20.000Z', true]]);
  });

  test('is known of a request in a script, too, however long that is', async () => {
    const name = '../transcripts/codex-0.169.0/dialog-in-a-script.jsonl';
    expect((await assess(join(KINDS, name), Date.parse('2026-11-23T09:37:02Z'))).attention).toBe('waiting');
    const script = `${'// a long script\n'.repeat(5_000)}await tools.exec_command({ cmd: 'x', sandbox_permissions: "require_escalated" })`;
    const path = transcript([
      codex(0, 'session_meta', { id: '019f0000-0000-7000-8000-000000000000', originator: 'codex-tui', source: 'cli' }),
      codex(1, 'turn_context', { approval_policy: 'on-request' }),
      codex(1, 'event_msg', { type: 'user_message', message: 'run it' }),
      codex(2, 'response_item', { type: 'custom_tool_call', name: 'exec', call_id: 'x1', input: script }),
    ]);
    expect((await assess(path, START + 3_000)).attention).toBe('waiting');
  });
});
