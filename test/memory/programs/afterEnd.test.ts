/** An agent goes on in the window in which its session has ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { crashOf } from '../../../memory/brief/crashReport.js';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { keepSession } from '../../../memory/keeping/keep.js';
import { listSessions } from '../../../memory/look/list.js';
import { lookAt } from '../../../memory/look/look.js';
import { continueAfter } from '../../../memory/programs/afterEnd.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { boundSession, endRun } from '../../../memory/programs/runEnd.js';
import { startContext } from '../../../memory/programs/sessionContext.js';
import { adopt, reportMoved } from '../../../memory/sessions/adoption.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { isoTime, MINUTE, SECOND } from '../../../src/time.js';
import { afterThisTest } from '../../harness/scope.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const living = readProcessIdentity('host');
const dead: ProcessIdentity = { ...living, boot_id: 'another', pid_start: '1' };

function launch(conversation: string, transcript: string | null, agent = living) {
  return { provider: 'claude', conversation, source: 'startup', transcript, agent, launchedIn: null } as const;
}

/** A session ends in the middle of a turn, as `track done` ends it; later records are of the time after. */
async function ended(...later: readonly (readonly [seconds: number, record: object])[]) {
  const scene = memoryScene();
  const memory = scene.open();
  const explicit = memory.lifecycle.begin(memory.workspace, {
    ...{ purpose: 'Fix the login', fields: {}, plan: [], concurrent: false },
  });
  const transcript = join(scene.home, '..', 'c-1.jsonl');
  const from = scene.clock.now();
  const lines = [[0, asked('fix it')], [SECOND, said('m1', 'tool_use')], ...later] as const;
  const records = lines.map(([at, record], index) => ({
    ...{ sessionId: 'c-1', uuid: `u${index}`, isSidechain: false, cwd: scene.directory },
    timestamp: isoTime(from + at),
    ...record,
  }));
  writeFileSync(transcript, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  startConversation(memory, launch('c-1', transcript)).session.log.close();
  await scene.clock.advance(MINUTE);
  explicit.log.refresh();
  memory.lifecycle.end(explicit, memory.workspace, { lines: () => [], reason: 'completed' });
  const next = continueAfter(memory, explicit);
  if (next === null) throw new Error('nobody goes on');
  await scene.clock.advance(MINUTE);
  return { scene, memory, id: explicit.id, next };
}

const asked = (content: string) => ({ type: 'user', message: { role: 'user', content } });
const said = (id: string, stop_reason: string) => ({
  type: 'assistant',
  message: { id, role: 'assistant', content: [{ type: 'text', text: `said ${id}` }], stop_reason },
});
const calls = (id: string) => ({
  type: 'assistant',
  message: { id, role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'x' } }] },
});
const ANSWER = [MINUTE + SECOND, said('m2', 'end_turn')] as const;
const NEXT_PROMPT = [MINUTE + 2 * SECOND, asked('and now the door')] as const;

function look(scene: MemoryScene, id: string) {
  const memory = scene.open();
  const session = memory.look(id);
  if (session === null) throw new Error(`there is no session ${id}`);
  return lookAt(memory, session);
}

test('what is asked after the end is of a session that continues it; the answer that tells of the end is of the ended one', async () => {
  const { scene, memory, id, next } = await ended(ANSWER, NEXT_PROMPT, [MINUTE + 3 * SECOND, calls('m3')]);
  const [before, after] = [await look(scene, id), await look(scene, next)];
  expect(before.log).toMatchObject({ lifecycle: 'ended', runs: [{ reason: `moved to ${next}` }] });
  expect(before.fold).toMatchObject({ lastWords: 'said m2', lastPrompt: 'fix it', isTurnOpen: false });
  expect(after.log).toMatchObject({ facts: { continues: id, explicit: false }, runs: [{ ended_at: null }] });
  expect(after.fold).toMatchObject({ lastPrompt: 'and now the door', isTurnOpen: true });
  expect(boundSession(memory, launch('c-1', null))?.id).toBe(next);
});

test('a crash there is told, with what was asked', async () => {
  const { scene, next } = await ended(ANSWER, NEXT_PROMPT, [MINUTE + 3 * SECOND, calls('m3')]);
  kill(scene, next);
  const memory = scene.open();
  const started = startConversation(memory, launch('c-2', null));
  const { text, notice } = await startContext(memory, started, launch('c-2', null));
  expect(notice).toContain('an agent here crashed');
  expect(text).toContain(`Session ${next}: "and now the door"`);
});

test('if nobody asks anything there it is nothing: no crash, nothing to be told, and it ends with its run', async () => {
  const { memory, next } = await ended(ANSWER);
  const session = memory.sessions.open(next);
  if (session === null) throw new Error('the session is gone');
  endRun(memory, session, living, 'prompt_input_exit');
  await keepSession(memory, session, Number.POSITIVE_INFINITY);
  expect(session.log.state).toMatchObject({ lifecycle: 'ended', end: { reason: 'superseded' } });
  const killed = await ended(ANSWER);
  kill(killed.scene, killed.next);
  const later = killed.scene.open();
  const found = later.look(killed.next);
  expect(found && (await crashOf(later, found))).toBeNull();
  expect(
    await listSessions(later, { where: 'here', which: 'unfinished', judge: async () => null, onUnreadable: () => {} }),
  ).toEqual({ rows: [], more: 0, resting: 0 });
  const started = startConversation(later, launch('c-2', null));
  expect((await startContext(later, started, launch('c-2', null))).text).toBe('');
});

test.each([
  ['its settings', { type: 'mode', mode: 'default', sessionId: 'c-1' }],
  ['a command of the program', asked('<command-name>/clear</command-name>\n<command-message>clear</command-message>')],
])(
  'a window in which nothing was asked ends as superseded when it is kept, although its transcript has %s',
  async (_, record) => {
    const scene = memoryScene();
    const memory = scene.open();
    const transcript = join(scene.home, '..', 'c-1.jsonl');
    const more = { uuid: 'u1', isSidechain: false, cwd: scene.directory, timestamp: isoTime(scene.clock.now()) };
    writeFileSync(transcript, `${JSON.stringify({ sessionId: 'c-1', ...more, ...record })}\n`);
    const { session } = startConversation(memory, launch('c-1', transcript));
    await keepSession(memory, session, Number.POSITIVE_INFINITY);
    expect(session.log.state.lifecycle).toBe('active');
    endRun(memory, session, living, 'prompt_input_exit');
    await keepSession(memory, session, Number.POSITIVE_INFINITY);
    expect(session.log.state).toMatchObject({ lifecycle: 'ended', end: { reason: 'superseded' } });
  },
);

test('nobody goes on if no agent is known to live', async () => {
  const scene = memoryScene();
  const memory = scene.open();
  const { session } = startConversation(memory, launch('c-1', null, dead));
  memory.lifecycle.end(session, memory.workspace, { lines: () => [], reason: 'completed' });
  expect(continueAfter(memory, session)).toBeNull();
});

test('who is begun on purpose in that window takes over what was asked since, and nothing of the ended one', async () => {
  const { scene, memory, next } = await ended(ANSWER, NEXT_PROMPT);
  const two = memory.lifecycle.begin(memory.workspace, {
    ...{ purpose: 'Paint the door', fields: {}, plan: [], concurrent: false },
  });
  adopt(memory, two, { ...launch('c-1', null), conversation: launch('c-1', null), process: living, source: 'bind' });
  expect((await look(scene, next)).log).toMatchObject({ lifecycle: 'ended', end: { reason: 'superseded' } });
  expect((await look(scene, two.id)).fold).toMatchObject({ prompts: 1, firstPrompt: 'and now the door' });
});

test('of two windows each goes on in a session of its own, the caller is told of its own one', async () => {
  const scene = memoryScene();
  const caller = scene.open({ CLAUDE_CODE_SESSION_ID: 'c-1' });
  const session = caller.lifecycle.begin(caller.workspace, {
    ...{ purpose: 'x', fields: {}, plan: [], concurrent: false },
  });
  const other = readProcessIdentity('host', process.ppid);
  for (const [conversation, agent] of [
    ['c-1', living],
    ['c-2', other],
  ] as const)
    adopt(caller, session, {
      ...launch(conversation, null, agent),
      ...{ conversation: launch(conversation, null), process: agent, source: 'bind' },
    });
  caller.lifecycle.end(session, caller.workspace, { lines: () => [], reason: 'completed' });
  const next = continueAfter(caller, session);
  const ownerOf = (conversation: string) => caller.bindings.sessionOf(launch(conversation, null));
  expect([ownerOf('c-1'), ownerOf('c-2') === next, ownerOf('c-2') === session.id]).toEqual([next, false, false]);
  expect(session.log.state.runs.filter((run) => run.ended_at === null)).toEqual([]);
});

test('a session that is resumed while its keeper reads does not end', async () => {
  const { memory, next } = await ended(ANSWER);
  const session = memory.sessions.open(next);
  if (session === null) throw new Error('the session is gone');
  endRun(memory, session, living, 'prompt_input_exit');
  const find = memory.places.findSession.bind(memory.places);
  memory.places.findSession = (id) => {
    session.log.write(() => [worklogKind.line('run_started', { process: living })], memory.stamp, { isFact: true });
    return find(id);
  };
  await keepSession(memory, session, Number.POSITIVE_INFINITY);
  expect(session.log.state.lifecycle).toBe('active');
});

test('a session that was reopened loses the conversation for good when the one that continued it goes on', async () => {
  const { memory, id, next } = await ended(ANSWER, NEXT_PROMPT);
  const first = memory.which(id);
  memory.lifecycle.reopen(first, null);
  const moveTo = (session: OpenSession) =>
    adopt(memory, session, {
      ...launch('c-1', null),
      conversation: launch('c-1', null),
      process: living,
      source: 'bind',
    });
  const second = memory.which(next);
  second.log.write(() => [worklogKind.line('note', { text: 'stays', priority: 'normal' })], memory.stamp);
  for (const session of [first, second]) moveTo(session);
  first.log.refresh();
  expect(first.log.state.conversations.filter((one) => one.moved_at === null)).toEqual([]);
  expect(second.log.state.conversations.filter((one) => one.moved_at === null)).toHaveLength(1);
});

test('a server works on the ended session no more, though no session is bound to it', async () => {
  const scene = memoryScene();
  const memory = scene.open();
  // The words of its command line say what it is.
  const server = spawn('sh', ['-c', 'echo; while :; do sleep 1; done', 'app-server'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  afterThisTest(() => void server.kill('SIGKILL'));
  await once(server.stdout, 'data');
  const agent = readProcessIdentity('host', server.pid);
  const { session } = startConversation(memory, { ...launch('c-1', null, agent), provider: 'codex' });
  memory.lifecycle.end(session, memory.workspace, { lines: () => [], reason: 'completed' });
  expect(continueAfter(memory, session)).not.toBeNull();
  expect(session.log.state.runs.filter((run) => run.ended_at === null)).toEqual([]);
});

test('an ended session that is reopened leaves the conversation to the one that has it now', async () => {
  const { memory, id, next } = await ended(ANSWER, NEXT_PROMPT);
  const session = memory.which(id);
  memory.lifecycle.reopen(session, null);
  reportMoved(memory, session);
  expect(session.log.state.conversations).toMatchObject([{ id: 'c-1', moved_at: expect.any(Number) }]);
  expect(memory.bindings.sessionOf(launch('c-1', null))).toBe(next);
});

/** As if the run were of a process that is gone. */
function kill(scene: MemoryScene, id: string): void {
  const memory = scene.open();
  const session = memory.sessions.open(id);
  const moved = worklogKind.line('run_ended', { process: living, reason: 'x' });
  session?.log.write(() => [moved, worklogKind.line('run_started', { process: dead })], memory.stamp, { isFact: true });
  session?.log.close();
}
