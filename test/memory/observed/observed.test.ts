import { expect, test } from '@jest/globals';
import { changeWords } from '../../../memory/observed/files.js';
import type { Observed } from '../../../memory/observed/observed.js';
import { observe, START } from './observe.js';

const plan = (mode: string, ...items: [string | null, string, string][]) => ({
  event: 'plan',
  mode,
  items: items.map(([external_id, title, status]) => ({ ...(external_id !== null && { external_id }), title, status })),
});
const todosOf = (observed: Observed) => observed.todos.list.map(({ id, title, status }) => [id, title, status]);
const call = (id: string, tool: string, more = {}) => ({
  event: 'pre_tool_use',
  tool_use_id: id,
  tool_name: tool,
  tool_input: {},
  ...more,
});
const result = (id: string, outcome: string, text = '') => ({
  event: 'post_tool_use',
  tool_use_id: id,
  outcome,
  is_error: outcome !== 'ok',
  tool_output_preview: text,
});

test('tasks match by their id, then by title among the open ones', () => {
  const observed = observe(
    plan('merge', ['7', 'Read', 'in_progress']),
    plan('merge', ['7', 'Read it all', 'completed'], ['8', 'Write', 'pending']),
  );
  expect(todosOf(observed)).toEqual([
    ['t1', 'Read it all', 'completed'],
    ['t2', 'Write', 'pending'],
  ]);
});

test('in a whole list a single old and new item at one place are a rewording, and missing ones are cancelled', () => {
  const observed = observe(
    plan('replace', [null, 'a', 'completed'], [null, 'b', 'pending'], [null, 'c', 'pending']),
    plan('replace', [null, 'a', 'completed'], [null, 'b, reworded', 'in_progress'], [null, 'c', 'pending']),
    plan('replace', [null, 'a', 'completed'], [null, 'b, reworded', 'completed']),
  );
  expect(todosOf(observed)).toEqual([
    ['t1', 'a', 'completed'],
    ['t2', 'b, reworded', 'completed'],
    ['t3', 'c', 'cancelled'],
  ]);
});

test('a task that is opened again is the same task', () => {
  const observed = observe(plan('merge', ['1', 'a', 'completed']), plan('merge', ['1', 'a', 'in_progress']));
  expect(todosOf(observed)).toEqual([['t1', 'a', 'in_progress']]);
});

test('the same id in another conversation is another task', () => {
  const observed = observe(plan('merge', ['1', 'a', 'pending']), {
    ...plan('merge', ['1', 'b', 'pending']),
    session_id: 'c2',
  });
  expect(todosOf(observed)).toHaveLength(2);
});

test.each([
  ['merge', '1'],
  ['replace', null],
])('an open task that another conversation writes down anew is the same task: %s', (mode, id) => {
  const next = (...items: Parameters<typeof plan>[1][]) => ({ ...plan(mode, ...items), session_id: 'c2' });
  const observed = observe(
    plan('merge', ['1', 'a', 'completed'], ['2', 'b', 'in_progress'], ['3', 'c', 'pending']),
    next([id, 'b', 'pending']),
    next([id, 'b', 'completed']),
    // A completed task is not opened again.
    next(
      [id === null ? null : '2', 'a', 'pending'],
      ...(id === null ? [[null, 'b', 'completed'] as [null, string, string]] : []),
    ),
  );
  expect(todosOf(observed)).toEqual([
    ['t1', 'a', 'completed'],
    ['t2', 'b', 'completed'],
    ['t3', 'c', 'pending'],
    ['t4', 'a', 'pending'],
  ]);
});

test('files keep what became of them: created, changed, moved, deleted, read', () => {
  const observed = observe(
    { event: 'files', read: ['r.ts', 'c.ts'], created: ['c.ts'] },
    { event: 'files', modified: ['c.ts', 'm.ts'], read: ['m.ts'] },
    { event: 'files', renamed: [{ from: 'm.ts', to: 'n.ts' }], deleted: ['d.ts'] },
  );
  expect(Object.fromEntries([...observed.files].map(([path, { change, from }]) => [path, from ?? change]))).toEqual({
    'r.ts': 'read',
    'c.ts': 'created',
    'n.ts': 'm.ts',
    'd.ts': 'deleted',
  });
});

test('a file of which nobody says how a shell command changed it is not called modified', () => {
  const observed = observe(
    { event: 'files', created: ['a'], changed: ['b', 'c', 'd'], more: 8 },
    { event: 'files', changed: ['a'], modified: ['b'], deleted: ['c'] },
  );
  expect([...observed.files].map(([path, { change }]) => [path, changeWords(change)])).toEqual([
    ['a', 'changed by a shell command'],
    ['b', 'changed by a shell command'],
    ['c', 'deleted'],
    ['d', 'changed by a shell command'],
  ]);
  expect(observed.more).toEqual({ files: 8 });
});

test('a renamed file that is changed or moved again is still the renamed one, with its first name', () => {
  const observed = observe(
    { event: 'files', renamed: [{ from: 'a', to: 'b' }] },
    { event: 'files', renamed: [{ from: 'b', to: 'c' }] },
    { event: 'files', modified: ['c'] },
  );
  expect([...observed.files].map(([path, { change, from }]) => [path, change, from])).toEqual([['c', 'renamed', 'a']]);
});

test('files touched since the last end of a turn are in doubt', () => {
  const lines = [
    { event: 'user_prompt', origin: 'human' },
    { event: 'files', modified: ['a'], read: ['r'] },
  ];
  expect([...observe(...lines).touched]).toEqual(['a']);
  expect([...observe(...lines, { event: 'turn_end', reason: 'end_turn' }).touched]).toEqual([]);
});

test('each failing call is one error; those that were cancelled with it are not errors of their own', () => {
  const observed = observe(
    call('1', 'Bash', { batch: 'm1' }),
    call('2', 'Read', { batch: 'm1' }),
    result('1', 'failed', 'exit code 3\nmore'),
    result('2', 'cancelled'),
    call('3', 'Edit'),
    result('3', 'rejected'),
    call('4', 'Bash'),
    result('4', 'cancelled', 'interrupted'),
    call('5', 'Bash'),
    result('5', 'blocked'),
    call('6', 'Bash'),
    result('6', 'ok'),
  );
  expect(observed.errors.map(({ tool, outcome, message }) => [tool, outcome, message])).toEqual([
    ['Bash', 'failed', 'exit code 3: more'],
  ]);
  expect(observed.refusals.map(({ tool, outcome, message }) => [tool, outcome, message])).toEqual([
    ['Edit', 'rejected', ''],
    ['Bash', 'cancelled', 'interrupted'],
    ['Bash', 'blocked', ''],
  ]);
  expect([observed.blocked, observed.rejected, observed.firstTool]).toEqual([1, 1, 'Bash']);
});

test('tokens are summed by agent, once per message', () => {
  const usage = (message_id: string, input: number, more = {}) => ({
    event: 'usage',
    message_id,
    input,
    output: 1,
    cached: 10,
    ...more,
  });
  const observed = observe(usage('a', 5), usage('a', 5), usage('b', 7), usage('c', 1, { agent_id: 'x' }));
  expect(Object.fromEntries(observed.tokens)).toEqual({
    main: { input: 12, output: 2, cached: 20 },
    x: { input: 1, output: 1, cached: 10 },
  });
  expect(observed.contextTokens).toBe(17);
});

test('agents started by agents have their parents and depths, and end with the call that started them', () => {
  const observed = observe(
    call('1', 'Agent'),
    { ...call('2', 'Agent'), agent_id: 'x', parent_tool_use_id: '1' },
    { ...call('3', 'Read'), agent_id: 'y', parent_tool_use_id: '2' },
    result('2', 'ok'),
  );
  expect(observed.agents.list()).toEqual([
    { id: 'x', parent: 'main', depth: 1, open: true },
    { id: 'y', parent: 'x', depth: 2, open: false },
  ]);
});

test('a sub-agent that has ended is not at work because the tokens of its last message come after that', () => {
  const agent = { agent_id: 'x', parent_tool_use_id: '1' };
  const observed = observe(
    call('1', 'Agent'),
    { event: 'user_prompt', origin: 'machine', ...agent },
    { event: 'turn_end', reason: 'end_turn', ...agent },
    { event: 'usage', message_id: 'm', input: 1, output: 1, cached: 0, ...agent },
  );
  expect(observed.agents.list()).toEqual([{ id: 'x', parent: 'main', depth: 1, open: false }]);
});

test('what is damaged or unknown changes nothing', () => {
  const observed = observe(
    { event: 'plan', items: 'x' },
    { event: 'files', created: 3, renamed: [null, { from: 1 }] },
    { event: 'usage', input: 'x' },
    {},
  );
  observed.take({ event: 'plan' });
  expect([observed.todos.list, [...observed.files], observed.errors]).toEqual([[], [], []]);
});

test("a sub-agent's own list is not the session's; a change of the common list is", () => {
  const observed = observe(
    plan('replace', [null, 'a', 'in_progress']),
    { ...plan('replace', [null, 'of the sub-agent', 'pending']), agent_id: 'x' },
    { ...plan('merge', [null, 'for all', 'pending']), agent_id: 'x' },
    plan('merge', ['3', 'for all', 'completed']),
  );
  expect(todosOf(observed)).toEqual([
    ['t1', 'a', 'in_progress'],
    ['t2', 'for all', 'completed'],
  ]);
});

test('a task that got its id later is found by the id from then on', () => {
  const observed = observe(
    plan('merge', [null, 'a', 'pending']),
    plan('merge', ['7', 'a', 'pending']),
    plan('merge', ['7', 'a, reworded', 'completed']),
  );
  expect(todosOf(observed)).toEqual([['t1', 'a, reworded', 'completed']]);
});

test('a task of which another agent knows only the number keeps its title', () => {
  const observed = observe(plan('merge', ['4', 'a', 'pending']), {
    ...plan('merge', ['4', '#4', 'completed']),
    agent_id: 'x',
  });
  expect(todosOf(observed)).toEqual([['t1', 'a', 'completed']]);
});

test('a task that gets the title of one that another conversation has left is that one', () => {
  const other = (line: object) => ({ ...line, session_id: 'c2' });
  const observed = observe(
    plan('merge', ['1', 'a', 'in_progress']),
    other(plan('merge', ['1', 'the a', 'pending'])),
    other(plan('merge', ['1', 'a', 'completed'])),
  );
  expect(todosOf(observed)).toEqual([
    ['t1', 'a', 'cancelled'],
    ['t2', 'a', 'completed'],
  ]);
});

test('a whole list cancels what it lacks, also if it is as old as the list before it', () => {
  const timestamp = new Date(START).toISOString();
  const observed = observe(
    { ...plan('replace', [null, 'a', 'in_progress'], [null, 'b', 'pending']), timestamp },
    { ...plan('replace', [null, 'c', 'in_progress']), timestamp },
  );
  expect(todosOf(observed).map(([, title, status]) => [title, status])).toEqual([
    ['a', 'cancelled'],
    ['b', 'cancelled'],
    ['c', 'in_progress'],
  ]);
});

test('the last count of a message is its final one', () => {
  const usage = (output: number) => ({ event: 'usage', message_id: 'a', input: 5, output, cached: 10 });
  const observed = observe(usage(1), usage(1), usage(30));
  expect(observed.tokens.get('main')).toEqual({ input: 5, output: 30, cached: 10 });
});

test('calls without a result, with the file that they were to change, and waits are open until their turn ends', () => {
  const lines = [
    { event: 'user_prompt', origin: 'human', text: 'write it' },
    call('1', 'Read', { tool_input: { file_path: '/w/r' } }),
    result('1', 'ok'),
    call('2', 'Write', { tool_input: { file_path: '/w/a', content: 'x' } }),
    { ...call('3', 'Bash', { tool_input: { command: 'ls\n-l' } }), agent_id: 'x' },
    { event: 'wait_start', kind: 'user', tool_use_id: '2' },
  ];
  const open = observe(...lines);
  expect(open.openCalls().map(({ agent, words, path }) => [agent, words, path])).toEqual([
    ['main', 'Write: /w/a', '/w/a'],
    ['x', 'Bash: ls', null],
  ]);
  expect([...open.waits.keys()]).toEqual(['user']);
  expect([open.isTurnOpen, open.lastTurnEnd]).toEqual([true, null]);
  const ended = observe(
    ...lines,
    { event: 'turn_end', reason: 'interrupted' },
    { event: 'session_end', reason: 'exit' },
  );
  expect(ended.openCalls().map(({ agent }) => agent)).toEqual(['x']);
  expect([[...ended.waits], ended.isTurnOpen, ended.lastTurnEnd]).toEqual([[], false, 'interrupted']);
});

test('a person has answered what has its result, and what an agent goes on after; nothing else ends a wait', () => {
  const prompt = { event: 'user_prompt', origin: 'human', text: 'ask me' };
  const question = [call('1', 'AskUserQuestion', {}), { event: 'wait_start', kind: 'user', tool_use_id: '1' }];
  const kinds = (...lines: readonly Record<string, unknown>[]) => [...observe(prompt, ...lines).waits.keys()];
  expect(kinds(...question)).toEqual(['user']);
  expect(kinds(...question, call('2', 'Bash', {}), result('2', 'ok'))).toEqual(['user']);
  expect(kinds(...question, result('1', 'ok'))).toEqual([]);
  expect(kinds(...question, result('1', 'ok'), call('2', 'Bash', {}))).toEqual([]);
  const second = [call('2', 'AskUserQuestion', {}), { event: 'wait_start', kind: 'user', tool_use_id: '2' }];
  expect(kinds(...question, ...second, result('1', 'ok'))).toEqual(['user']);
  const unnamed = { event: 'wait_start', kind: 'permission' };
  expect(kinds(unnamed, { ...call('3', 'Bash', {}), agent_id: 'x' })).toEqual(['permission']);
  expect(kinds(unnamed, call('3', 'Bash', {}))).toEqual([]);
  const refused = { event: 'wait_start', kind: 'rate_limit' };
  expect(kinds(refused, call('3', 'Bash', {}))).toEqual(['rate_limit']);
  expect(kinds(refused, { event: 'wait_end', kind: 'rate_limit' })).toEqual([]);
});

test('what a person asked counts before what a program asked', () => {
  const asked = (origin: string, text: string) => ({ event: 'user_prompt', origin, text });
  const program = observe(asked('machine', 'first'), asked('machine', 'last'));
  expect([program.firstPrompt, program.lastPrompt]).toEqual(['first', 'last']);
  const person = observe(
    asked('machine', 'hook'),
    asked('human', 'first'),
    asked('human', 'last'),
    asked('machine', 'x'),
  );
  expect([person.firstPrompt, person.lastPrompt]).toEqual(['first', 'last']);
});

test('a run that is ended before its answer leaves its turn open: what it had touched stays in doubt', () => {
  const work = [
    { event: 'user_prompt', origin: 'human', text: 'Fix it' },
    call('1', 'Edit', { tool_input: { file_path: 'a.ts' } }),
    result('1', 'ok'),
    { event: 'files', modified: ['a.ts'] },
    call('2', 'Write', { tool_input: { file_path: 'b.ts' } }),
  ];
  const killed = observe(...work, { event: 'session_end', reason: 'failed' });
  expect([killed.isTurnOpen, [...killed.touched], killed.openCalls().map(({ path }) => path)]).toEqual([
    true,
    ['a.ts'],
    ['b.ts'],
  ]);
  const answered = observe(...work, { event: 'session_end', reason: 'answered' });
  expect([answered.isTurnOpen, [...answered.touched], answered.openCalls()]).toEqual([false, [], []]);
  expect(killed.actions.map(({ outcome }) => outcome)).toEqual(['ok', null]);
});

test('a turn that an earlier conversation left stays open until somebody works on, and its files until they are touched again', () => {
  const of = (session_id: string) => (line: Record<string, unknown>) => ({ ...line, session_id });
  const files = (tool_use_id: string, ...modified: string[]) => ({ event: 'files', tool_use_id, modified });
  const ends = [{ event: 'turn_end', reason: 'end_turn' }];
  const killed = [
    { event: 'user_prompt', origin: 'human', text: 'go' },
    files('t0', 'a.ts', 'b.ts'),
    call('t1', 'Bash'),
  ].map(of('c1'));
  const prompt = { event: 'user_prompt', origin: 'human', text: 'hi' };
  const idle = observe(...killed, ...[prompt, ...ends].map(of('c2')));
  expect(idle.leftTurns).toMatchObject([{ conversation: 'c1', files: ['a.ts', 'b.ts'], calls: [{ tool: 'Bash' }] }]);
  expect([idle.isTurnOpen, [...idle.touched], idle.openCalls()]).toEqual([false, [], []]);
  const works = [prompt, call('t2', 'Edit'), files('t2', 'a.ts'), result('t2', 'ok')];
  const working = observe(...killed, ...works.map(of('c2')));
  expect(working.leftTurns).toMatchObject([{ files: ['a.ts', 'b.ts'] }]);
  const worked = observe(...killed, ...[...works, ...ends].map(of('c2')));
  expect(worked.leftTurns).toMatchObject([{ files: ['b.ts'], calls: [] }]);
  const all = [prompt, call('t3', 'Edit'), files('t3', 'b.ts'), ...ends];
  expect(observe(...killed, ...[...works, ...ends, ...all].map(of('c2'))).leftTurns).toEqual([]);
});

const asked = { event: 'user_prompt', text: 'x' };
const wrote = [call('w', 'Write', { tool_input: { file_path: 'a.ts' } }), { event: 'files', created: ['a.ts'] }];
const cutOff = [asked, ...wrote, result('w', 'ok'), { event: 'turn_end', reason: 'cut_off' }];
const answered = { event: 'turn_end', reason: 'end_turn' };

test.each([
  ['only talks', [], ['a.ts']],
  ['reads another file', [call('r', 'Read'), { event: 'files', read: ['b.ts'] }], ['a.ts']],
  ['reads the file', [call('r', 'Read'), { event: 'files', read: ['a.ts'] }], []],
  ['names the file in a command', [call('b', 'Bash', { tool_input: { command: 'wc -l src/a.ts' } })], []],
  ['names another file in a command', [call('b', 'Bash', { tool_input: { command: 'wc -l b.ts' } })], ['a.ts']],
  ['changes the file', [call('e', 'Edit'), { event: 'files', modified: ['a.ts'] }], []],
  ['goes on elsewhere', [call('e', 'Edit'), { event: 'files', modified: ['b.ts'] }], []],
])('a file of a turn that was cut off is in doubt, until its conversation is taken up: %s', (_, does, left) => {
  const after = observe(...cutOff, asked, ...does, answered);
  expect(after.leftTurns.flatMap(({ files }) => files)).toEqual(left);
});

test('one that is cut off a second time leaves the files of both turns', () => {
  const again = [
    asked,
    call('e', 'Edit'),
    { event: 'files', modified: ['b.ts'] },
    { event: 'turn_end', reason: 'cut_off' },
  ];
  expect(observe(...cutOff, ...again, asked, answered).leftTurns.map(({ files }) => files)).toEqual([
    ['a.ts'],
    ['b.ts'],
  ]);
});

test('a turn that a person stopped is known as such until something is asked again, and leaves no file in doubt', () => {
  const stopped = [asked, ...wrote, result('w', 'ok'), { event: 'turn_end', reason: 'interrupted' }];
  expect(observe(...stopped)).toMatchObject({ isStopped: true, leftTurns: [] });
  expect(observe(...stopped, asked)).toMatchObject({ isStopped: false });
  expect(observe(...stopped, asked, answered)).toMatchObject({ isStopped: false });
  expect(observe(asked, { event: 'turn_end', reason: 'interrupted' })).toMatchObject({ isStopped: false });
});

test('work that was stopped or cut off is still stopped if the next order is stopped before its first call', () => {
  const stop = { event: 'turn_end', reason: 'interrupted' };
  const said = { event: 'assistant_message', text: 'Done.' };
  for (const end of [stop, { event: 'turn_end', reason: 'cut_off' }]) {
    const broken = [asked, call('b', 'Bash'), end];
    expect(observe(...broken, asked, stop)).toMatchObject({ isStopped: true });
    expect(observe(...broken, asked, stop, asked, stop)).toMatchObject({ isStopped: true });
    expect(observe(...broken, asked, answered, asked, stop)).toMatchObject({ isStopped: false });
    expect(observe(...broken, said, answered, asked, stop)).toMatchObject({ isStopped: false });
    expect(observe(...broken, { event: 'rewound', prompts: 1 }, asked, stop)).toMatchObject({ isStopped: false });
  }
});

test('nor does one that was stopped while other orders waited: they are written first, and answered', () => {
  const handed = [asked, { event: 'turn_end', reason: 'interrupted' }];
  const at = (ms: number) => ({ timestamp: new Date(START + (cutOff.length - 1) * 1_000 + ms).toISOString() });
  const stopped = (ms: number) => observe(...cutOff, ...handed.map((line) => ({ ...line, ...at(ms) })));
  expect(stopped(30)).toMatchObject({ leftTurns: [] });
  // A person stops an agent that has just begun again after it was killed.
  expect(stopped(5_000)).toMatchObject({ leftTurns: [{ files: ['a.ts'] }] });
  const said = { event: 'assistant_message', text: 'Done.' };
  expect(observe(asked, call('b', 'Bash'), handed[1] ?? {}, said, answered)).toMatchObject({ isStopped: false });
});
