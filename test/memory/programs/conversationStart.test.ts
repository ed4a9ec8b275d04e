// covers: memory/sessions/adoption.ts memory/programs/runEnd.ts

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { Runs } from '../../../memory/fold/runs.js';
import { type Launch, startConversation } from '../../../memory/programs/conversationStart.js';
import { boundSession, endRun, waitForPermission } from '../../../memory/programs/runEnd.js';
import { adopt, adoptCaller } from '../../../memory/sessions/adoption.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { armFailpoint } from '../../../src/failpoints.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { HOUR } from '../../../src/time.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const living = readProcessIdentity('host');
/** Of another boot, so it is dead. */
const dead: ProcessIdentity = { ...living, boot_id: 'another', pid_start: '1' };

function launch(conversation: string, more: Partial<Launch> = {}): Launch {
  return {
    ...{ provider: 'claude', conversation, source: 'startup', transcript: null },
    ...{ agent: living, launchedIn: null, ...more },
  };
}

/** As the hook of another process would. */
function start(scene: MemoryScene, conversation: string, more: Partial<Launch> = {}, directory?: string): string {
  const { session } = startConversation(scene.open({}, directory), launch(conversation, more));
  session.log.close();
  return session.id;
}

function stateOf(scene: MemoryScene, id: string) {
  const session = scene.open().look(id);
  if (session === null) throw new Error(`there is no session ${id}`);
  return session.log.state;
}

const begin = (memory: Memory, purpose: string) =>
  memory.lifecycle.begin(memory.workspace, { purpose, fields: {}, plan: [], concurrent: false });

function end(memory: Memory, id: string): void {
  const session = memory.sessions.open(id);
  if (session === null) throw new Error('the session is gone');
  memory.lifecycle.end(session, memory.workspace, { lines: () => [], reason: 'completed' });
}

test('a session that begins by itself knows what was checked out', () => {
  const scene = memoryScene();
  writeFileSync(join(scene.directory, '.git/HEAD'), 'ref: refs/heads/main\n');
  expect(stateOf(scene, start(scene, 'c-1')).facts?.baseline).toEqual({
    head: null,
    branch: 'main',
    dirty_digest: null,
  });
});

test('an unknown conversation begins a session, with its run, and a second hook of the same start adds nothing', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1', { transcript: '/t/c-1.jsonl' });
  const count = () => scene.open().look(id)?.log.counts.lines;
  const lines = count();
  expect(id).toMatch(/^ses_/);
  expect(start(scene, 'c-1')).toBe(id);
  expect(count()).toBe(lines);
  expect(stateOf(scene, id)).toMatchObject({
    lifecycle: 'active',
    facts: { explicit: false, agent: 'claude' },
    conversations: [{ id: 'c-1', source: 'startup', since: null, transcript: '/t/c-1.jsonl' }],
    runs: [{ ended_at: null }],
  });
});

test('what a hook that was killed between its lines left out, the next one writes: one session', () => {
  const scene = memoryScene();
  const { bindings } = scene.open();
  const taken = bindings.take({ provider: 'claude', conversation: 'c-1' }, 'ses_taken', null);
  expect(start(scene, 'c-1')).toBe(taken);
  expect(stateOf(scene, taken)).toMatchObject({ conversations: [{ id: 'c-1' }], runs: [{ ended_at: null }] });
});

test('of two hooks of one start, one may begin the session after the other has looked for it: one session', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  const memory = scene.open();
  const open = memory.sessions.open.bind(memory.sessions);
  let looks = 0;
  memory.sessions.open = (each) => {
    looks += 1;
    return looks === 1 ? null : open(each);
  };
  const { session } = startConversation(memory, launch('c-1'));
  session.log.close();
  expect([session.id, looks > 1]).toEqual([id, true]);
});

test('also where it was to go on from a session that has ended', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  const memory = scene.open();
  end(memory, id);
  memory.bindings.take({ provider: 'claude', conversation: 'c-1' }, 'ses_taken', id);
  expect(start(scene, 'c-1', { source: 'resume' })).toBe('ses_taken');
  expect(stateOf(scene, 'ses_taken').facts?.continues).toBe(id);
});

test('a session that was begun on purpose and is gone is not begun again under its name', () => {
  const scene = memoryScene();
  const { bindings } = scene.open();
  bindings.take({ provider: 'claude', conversation: 'c-1' }, '2026-01-01-gone', null);
  expect(start(scene, 'c-1')).toMatch(/^ses_/);
});

test('a session that ends while a hook takes its conversation is continued by another one', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  const memory = scene.open();
  const enter = memory.claims.enter.bind(memory.claims);
  let looks = 0;
  memory.claims.enter = (...call) => {
    looks += 1;
    if (looks === 1) end(scene.open(), id);
    enter(...call);
  };
  const { session } = startConversation(memory, launch('c-1', { source: 'resume' }));
  session.log.close();
  expect(stateOf(scene, session.id)).toMatchObject({ lifecycle: 'active', facts: { continues: id } });
});

test('after /clear the same process goes on with the same session; its conversations stay in order', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  for (const conversation of ['c-2', 'c-3']) expect(start(scene, conversation, { source: 'clear' })).toBe(id);
  const { conversations, runs } = stateOf(scene, id);
  expect(conversations.map(({ id: name, source }) => [name, source])).toEqual([
    ['c-1', 'startup'],
    ['c-2', 'clear'],
    ['c-3', 'clear'],
  ]);
  expect(runs).toHaveLength(1);
});

test('a fork, and another conversation that is resumed in the same process, are sessions of their own', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  const forked = start(scene, 'c-2', { source: 'fork' });
  expect(forked).not.toBe(id);
  // All that is older than its program, or than its hook, was copied.
  const [{ since } = { since: null }] = stateOf(scene, forked).conversations;
  expect(since).toBeGreaterThanOrEqual(scene.clock.now() - 60_000);
  expect(since).toBeLessThanOrEqual(scene.clock.now());
  expect(stateOf(scene, id).conversations).toMatchObject([{ since: null }]);
  const resumed = start(scene, 'c-old', { source: 'resume' });
  expect([id, forked]).not.toContain(resumed);
  // The process belongs to its present conversation, and the others do not look crashed when it ends.
  expect(scene.open().bindings.sessionOf({ process: living })).toBe(resumed);
  expect(stateOf(scene, forked).runs).toMatchObject([{ reason: `moved to ${resumed}` }]);
  expect(stateOf(scene, resumed).runs).toMatchObject([{ ended_at: null }]);
});

test('resuming keeps the session, adds no conversation, and ends the run that was lost', async () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1', { agent: dead });
  await scene.clock.advance(HOUR);
  expect(start(scene, 'c-1', { source: 'resume' })).toBe(id);
  const { conversations, runs, resumed_at } = stateOf(scene, id);
  expect(conversations).toHaveLength(1);
  expect(runs).toMatchObject([{ process: { boot_id: 'another' }, reason: 'lost' }, { ended_at: null }]);
  expect(resumed_at).toBe(scene.clock.now());
});

test('the conversation of an ended session begins one that continues it, and the ended one gets nothing', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  end(scene.open(), id);
  const lines = scene.open().look(id)?.log.counts.lines;
  const next = start(scene, 'c-1', { source: 'resume' });
  // What was asked before is the ended one's.
  const share = { id: 'c-1', since: scene.clock.now() };
  expect(stateOf(scene, next)).toMatchObject({ facts: { continues: id }, conversations: [share] });
  const { conversations, lifecycle } = stateOf(scene, id);
  expect(lifecycle).toBe('ended');
  expect(conversations).toMatchObject([{ id: 'c-1' }]);
  expect(scene.open().look(id)?.log.counts).toMatchObject({ lines: (lines ?? 0) + 1, refused: 0 });
});

test('a session that holds the directory gets the conversation, unless an agent works on it', () => {
  const scene = memoryScene();
  const { id } = begin(scene.open(), 'Fix the login');
  expect(start(scene, 'c-1', { agent: dead })).toBe(id);
  expect(start(scene, 'c-2')).toBe(id);
  const beside = start(scene, 'c-3', { agent: { ...living, pid: process.ppid, pid_start: '1' } });
  expect(beside).not.toBe(id);
  expect(stateOf(scene, id).conversations.map((one) => one.id)).toEqual(['c-1', 'c-2']);
});

test('an agent works on a session as long as one of its agents does, whichever came last', () => {
  const scene = memoryScene();
  const { id } = begin(scene.open(), 'Fix the login');
  const other = { ...living, pid: process.ppid, pid_start: '1' };
  expect(start(scene, 'c-1')).toBe(id);
  expect(start(scene, 'c-1', { source: 'resume', agent: other })).toBe(id);
  const memory = scene.open();
  const session = memory.sessions.open(id);
  if (session === null) throw new Error('the session is gone');
  endRun(memory, session, other, 'prompt_input_exit');
  session.log.close();
  expect(start(scene, 'c-2', { agent: other })).not.toBe(id);
});

test('a session whose agent crashed has not crashed any more once another agent went on with it', () => {
  const scene = memoryScene();
  const { id } = begin(scene.open(), 'Fix the login');
  start(scene, 'c-1', { agent: dead });
  const memory = scene.open();
  const session = memory.sessions.open(id);
  if (session === null) throw new Error('the session is gone');
  expect(new Runs(session.log.state, living).isLost).toBe(true);
  adopt(memory, session, { conversation: null, process: living, source: 'bind', transcript: null });
  endRun(memory, session, living, 'prompt_input_exit');
  session.log.close();
  expect(new Runs(stateOf(scene, id), living).isLost).toBe(false);
});

test('a subfolder, and a process launched from inside a conversation: the same workspace, and a child session', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  const below = join(scene.directory, 'a', 'b');
  mkdirSync(below, { recursive: true });
  const child = start(
    scene,
    'c-child',
    { agent: dead, launchedIn: { provider: 'claude', conversation: 'c-1' } },
    below,
  );
  expect(stateOf(scene, child)).toMatchObject({
    facts: { parent: id, workspace: scene.open().workspace.id, cwd: below },
  });
  expect([...stateOf(scene, id).children.keys()]).toEqual([child]);
});

test('an eleventh child is a session without a parent', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  const launchedIn = { provider: 'claude', conversation: 'c-1' };
  const children = Array.from({ length: 11 }, (_, index) =>
    start(scene, `child-${index}`, { agent: dead, launchedIn }),
  );
  expect(stateOf(scene, id).children.size).toBe(10);
  expect(stateOf(scene, children.at(-1) ?? '').facts?.parent).toBeNull();
});

test('the end of a run is written once, and a permission dialog to the session that has the conversation', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  const conversation = { provider: 'claude', conversation: 'c-1', transcript: null } as const;
  const memory = scene.open();
  const session = boundSession(memory, { ...conversation, agent: null });
  if (session === null) throw new Error('nobody has the conversation');
  expect(session.id).toBe(id);
  waitForPermission(memory, session, { tool: 'Bash', inputDigest: null, subAgent: null });
  expect(session.log.state.waits.get('permission')).toMatchObject({ kind: 'permission' });
  endRun(memory, session, living, 'prompt_input_exit');
  const { lines } = session.log.counts;
  endRun(memory, session, living, 'other');
  expect(session.log.counts.lines).toBe(lines);
  expect(stateOf(scene, id).runs).toMatchObject([{ reason: 'prompt_input_exit' }]);
  expect(boundSession(memory, { ...conversation, conversation: 'unknown', agent: living })?.id).toBe(id);
  expect(boundSession(memory, { ...conversation, conversation: 'unknown', agent: dead })).toBeNull();
});

test('a session that is begun on purpose inside a conversation takes it over; the one that began by itself ends as superseded', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  const memory = scene.open({ CLAUDE_CODE_SESSION_ID: 'c-1' });
  const explicit = begin(memory, 'Fix the login');
  adoptCaller(memory, explicit);
  expect(stateOf(scene, explicit.id).conversations).toMatchObject([{ id: 'c-1', since: null }]);
  expect(stateOf(scene, id)).toMatchObject({ lifecycle: 'ended', end: { reason: 'superseded' } });
});

// Each is what a kill at that instant leaves: logs only grow.
test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'an adoption that was killed before its line %d is finished by the next hook of the agent',
  (nth) => {
    const scene = memoryScene();
    const transcript = '/t/c-1.jsonl';
    const id = start(scene, 'c-1', { transcript });
    const explicit = begin(scene.open(), 'Fix the login');
    const asked = { ...launch('c-1'), conversation: launch('c-1'), process: living, source: 'bind' } as const;
    armFailpoint(`log.append.before:throw:${nth}`);
    let isKilled = false;
    try {
      adopt(scene.open(), explicit, asked);
    } catch {
      isKilled = true;
    }
    armFailpoint(undefined);
    explicit.log.close();
    const session = boundSession(scene.open(), launch('c-1'));
    if (session === null) throw new Error('nobody has the conversation');
    const hasMoved = nth > 1;
    expect([session.id, isKilled]).toEqual([hasMoved ? explicit.id : id, nth <= 7]);
    endRun(scene.open(), session, living, 'prompt_input_exit');
    session.log.close();
    for (const each of [id, explicit.id]) {
      const { runs } = stateOf(scene, each);
      expect(runs.filter((run) => run.ended_at === null)).toEqual([]);
      const owned = stateOf(scene, each).conversations.filter((one) => one.moved_at === null);
      expect(owned).toMatchObject(session.id === each ? [{ id: 'c-1', transcript }] : []);
    }
    expect(stateOf(scene, id).lifecycle).toBe('ended');
    const lines = (each: string) => scene.open().look(each)?.log.counts.lines;
    const before = [lines(id), lines(explicit.id)];
    boundSession(scene.open(), launch('c-1'))?.log.close();
    expect([lines(id), lines(explicit.id)]).toEqual(before);
  },
);

test('a session that has notes keeps its share of the conversation, and stays', () => {
  const scene = memoryScene();
  const id = start(scene, 'c-1');
  const memory = scene.open({ CLAUDE_CODE_SESSION_ID: 'c-1' });
  const session = memory.which(null);
  session.log.write(() => [worklogKind.line('note', { text: 'keep me', priority: 'high' })], memory.stamp);
  const explicit = begin(memory, 'Fix the login');
  adoptCaller(memory, explicit);
  expect(stateOf(scene, explicit.id).conversations[0]?.since).not.toBeNull();
  expect(stateOf(scene, id)).toMatchObject({ lifecycle: 'active', conversations: [{ id: 'c-1' }] });
});

test('a server that works for several windows loses no session to another one, and all of them crash with it', async () => {
  const scene = memoryScene();
  // The words of its command line say what it is.
  const server = spawn('sh', ['-c', 'echo; while :; do sleep 1; done', 'app-server'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const gone = once(server, 'exit');
  await once(server.stdout, 'data');
  const agent = readProcessIdentity('host', server.pid);
  const [one = '', other = ''] = ['c-1', 'c-2'].map((conversation) =>
    start(scene, conversation, { provider: 'codex', agent }),
  );
  expect(other).not.toBe(one);
  for (const id of [one, other]) expect(stateOf(scene, id).runs).toMatchObject([{ ended_at: null }]);
  server.kill('SIGKILL');
  await gone;
  for (const id of [one, other]) expect(new Runs(stateOf(scene, id), living).isLost).toBe(true);
});
