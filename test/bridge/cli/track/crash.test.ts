// covers: memory/brief/resuming.ts memory/verbs/inTheWay.ts
/** An agent that recorded itself is dead: what a person reads in its directory, and what another agent does. */

import { rmSync } from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { contextGivenTo } from '../../../../memory/brief/contextGiven.js';
import { worklogKind } from '../../../../memory/fold/rules/kind.js';
import { startConversation } from '../../../../memory/programs/conversationStart.js';
import { endRun } from '../../../../memory/programs/runEnd.js';
import { adopt } from '../../../../memory/sessions/adoption.js';
import { Memory } from '../../../../memory/sessions/memory.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { redactShapes } from '../../../../src/log/redact.js';
import { systemClock } from '../../../../src/time.js';
import { testFolder } from '../../../harness/folder.js';
import { asks, calls, transcript } from '../../../src/transcripts/told.js';
import { startAgent } from '../agent.js';
import { WorkScene } from '../work/scene.js';

const living = readProcessIdentity('host');
const dead = { ...living, boot_id: 'another', pid_start: '1' };
const AGENT = { variables: { CLAUDE_CODE_SESSION_ID: 'c-2' } };

let scene: WorkScene;
let id = '';
let path = '';

/** As a hook does it. */
function open(): Memory {
  const variables = { WATCHKEEPER_HOME: scene.home };
  const surroundings = { directory: scene.directory, process: living, variables };
  return new Memory({ surroundings, folder: null, clock: systemClock, redact: redactShapes, origin: 'program' });
}

/** @returns the session that a hook of the agent begins */
function begin(conversation: string, agent = dead): string {
  const memory = open();
  const launch = {
    provider: 'claude',
    conversation,
    source: 'startup',
    transcript: path,
    agent,
    launchedIn: null,
  } as const;
  const { session } = startConversation(memory, launch);
  session.log.close();
  return session.id;
}

beforeEach(() => {
  scene = new WorkScene();
  path = transcript([asks(0, 'Paint the door'), calls(1, 't1', 'Bash', { command: 'sleep 600' })]);
  id = begin('c-1');
});

test('a person in whose shell no agent works reads what a person can do, an agent the command that moves it', async () => {
  const continues = `watchkeeper work continue ${id}`;
  const start = `Start an agent in "${scene.directory}". To go on with the session, it runs: ${continues}`;
  const back = `Or go on with its conversation, in "${scene.directory}": claude --resume c-1`;
  const found = await scene.say('track', ['crash-detect']);
  expect(found.code).toBe(1);
  expect(found.out).toContain(`\n  ${start}\n  ${back}\n`);
  expect(found.out).not.toContain('Go on with the session:');
  expect((await scene.say('track', ['resume', id])).out).toContain(
    `\n${start}\n${back}\nTo see all of it: watchkeeper work show ${id}\n`,
  );
  const told = await scene.say('track', ['crash-detect'], AGENT);
  expect(told.out).toContain(`\n  Go on with the session: ${continues}\n`);
  expect(told.out).not.toMatch(/Start an agent|claude --resume/);
  expect((await scene.say('track', ['resume', id], AGENT)).out).toContain(`\nTo go on with it: ${continues}; to see`);
});

test('a conversation whose transcript is gone is not named', async () => {
  rmSync(path);
  expect((await scene.say('track', ['crash-detect'])).out).not.toContain('claude --resume');
});

test('where the directory is gone, an agent goes on from another one, and the conversation cannot be resumed', async () => {
  rmSync(scene.directory, { recursive: true });
  const where = testFolder();
  const start = `Start an agent in another directory, because "${scene.directory}" does not exist any more. To go on with the session, it runs: watchkeeper work continue ${id}`;
  for (const words of [
    ['resume', id],
    ['crash-detect', '--session', id],
  ]) {
    const { out } = await scene.say('track', words, { where });
    expect(out).toContain(start);
    expect(out).not.toContain('claude --resume');
  }
  expect((await scene.say('work', ['continue', id], { where, ...AGENT })).code).toBe(0);
});

test('the conversation and the last prompt are those of the agent that crashed, not of one that joined it and ended', async () => {
  const killed = await startAgent();
  path = transcript([asks(0, 'Paint the wall'), asks(1, 'And the floor')]);
  const joined = begin('c-5', readProcessIdentity('host', killed.pid));
  const memory = open();
  const session = memory.sessions.open(joined);
  if (session === null) throw new Error('it is gone');
  const beside = {
    conversation: { provider: 'claude', conversation: 'c-6' },
    process: living,
    source: 'startup',
  } as const;
  adopt(memory, session, { ...beside, transcript: transcript([asks(2, 'Help with it')]) });
  endRun(memory, session, living, 'other');
  session.log.close();
  await killed.kill();
  const report = ['crash-detect', '--session', joined];
  expect(await scene.json('track', report)).toMatchObject([{ purpose: 'Paint the wall', last_asked: null }]);
  const { out } = await scene.say('track', report);
  expect(out).toContain(': claude --resume c-5\n');
  expect((await scene.say('track', ['resume', joined])).out).not.toContain('Help with it');
});

test('nobody is told that a session goes on for which there is no agent', async () => {
  const refused = {
    code: 2,
    err: expect.stringContaining('no agent works in this shell, so there is nothing to move'),
  };
  expect(await scene.say('track', ['init', '--resume', '--session', id])).toMatchObject(refused);
  expect(await scene.say('work', ['continue', id])).toMatchObject(refused);
  expect((await scene.say('track', ['init', '--resume', '--session', id], AGENT)).out).toBe(
    `going on with session ${id}\n`,
  );
  const runs = (await scene.json('work', ['show', id])).conversations;
  expect(runs).toHaveLength(2);
});

test('a dead agent is not called idle, nor does it wait', async () => {
  const memory = open();
  const session = memory.sessions.open(id);
  session?.log.write(() => [worklogKind.line('wait_start', { kind: 'permission' })], memory.stamp);
  session?.log.close();
  const { code, out } = await scene.say('track', ['status', '--session', id]);
  expect(code).toBe(0);
  expect(out).toContain(
    'crashed; the process of its agent is gone, and its program did not report its end; last activity',
  );
  expect(out).not.toMatch(/idle|waits/);
  const status = await scene.json('track', ['status', '--session', id]);
  expect(status).toMatchObject({ crashed: true, attention: null, waits: [], stuck: false });
});

test('a window that was killed before anything was asked is no crash, for any command', async () => {
  path = transcript([{ type: 'mode', mode: 'default', sessionId: 'c-3' }], 'c-3.jsonl');
  const idle = begin('c-3', { ...dead, pid_start: '2' });
  const found = await scene.say('track', ['crash-detect']);
  expect([found.out.includes(id), found.out.includes(idle)]).toEqual([true, false]);
  const listed: { session_id: string }[] = await scene.json('work', ['list']);
  expect(listed.map(({ session_id }) => session_id)).toEqual([id]);
  await scene.say('work', ['end', id, '--as', 'cancelled']);
  expect(await scene.say('track', ['crash-detect'])).toMatchObject({ code: 0, out: 'no crashed session here\n' });
  expect((await scene.say('track', ['init', 'New', '--step', 'a'])).code).toBe(0);
});

test('one that is open rests until something is asked, and one that was killed is listed if something was declared', async () => {
  const ids = async (...options: readonly string[]) =>
    (await scene.json('work', ['list', ...options])).map((row: { session_id: string }) => row.session_id);
  path = transcript([], 'c-3.jsonl');
  const live = begin('c-3', living);
  const declared = begin('c-4', { ...dead, pid_start: '2' });
  const memory = open();
  const session = memory.sessions.open(declared);
  session?.log.write(() => [worklogKind.line('note', { text: 'mind the cache', priority: 'high' })], memory.stamp);
  session?.log.close();
  expect((await ids()).sort()).toEqual([id, declared].sort());
  expect((await ids('--all')).sort()).toEqual([id, live, declared].sort());
  expect((await scene.say('track', ['crash-detect'])).out).toContain(`${declared} crashed: `);
});

describe('track init', () => {
  const NEW = ['init', 'New thing', '--step', 'a'];

  test('reports a crash to whoever was not told, and begins beside it, or once it is put away', async () => {
    const { code, err } = await scene.say('track', NEW);
    expect([code, err]).toEqual([1, expect.stringContaining(`${id} crashed: process `)]);
    expect(err).toMatch(/\ntask: +Paint the door\n.*\nPut it away as cancelled: [^\n]*\nWork beside it: [^\n]*\n$/s);
    // An agent without the plugin was not told, either.
    expect((await scene.say('track', NEW, AGENT)).code).toBe(1);
    expect((await scene.say('track', [...NEW, '--concurrent'])).code).toBe(0);
    expect((await scene.say('track', [...NEW, '--archive-existing'])).code).toBe(0);
    expect(await scene.json('work', ['show', id])).toMatchObject({ lifecycle: 'ended' });
    expect((await scene.say('track', ['crash-detect'])).out).toBe('no crashed session here\n');
  });

  test('reports a crash that nobody was told beside the session that holds the directory', async () => {
    const memory = open();
    const { id: plan } = memory.lifecycle.begin(memory.workspace, {
      ...{ purpose: 'The plan', fields: {}, plan: [], concurrent: false },
    });
    const { code, err } = await scene.say('track', NEW);
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^session ${plan} is unfinished here.*\\n${id} crashed: process `, 's'));
    expect(err.match(/Work beside it/g)).toHaveLength(1);
  });

  test.each([
    ['a person', {}],
    ['an agent whose hook has begun its session', AGENT],
  ])('--archive-existing puts a crash away that was told, for %s', async (_, caller) => {
    const memory = open();
    const session = memory.sessions.open(id);
    session?.log.write(() => [contextGivenTo('ses_other')], memory.stamp);
    session?.log.close();
    if (caller === AGENT) begin('c-2', living);
    expect((await scene.say('track', [...NEW, '--archive-existing'], caller)).code).toBe(0);
    expect(await scene.json('work', ['show', id])).toMatchObject({ lifecycle: 'ended', end: { reason: 'cancelled' } });
    expect(await scene.say('track', ['crash-detect'])).toEqual(expect.objectContaining({ code: 0 }));
  });

  test('--resume goes on with the only crashed session, for an agent; of several one must be named', async () => {
    expect(await scene.say('track', ['init', '--resume'])).toMatchObject({ code: 2, err: expect.stringContaining(id) });
    const second = begin('c-3', { ...dead, pid_start: '2' });
    const both = expect.stringContaining(`${second}, ${id}`);
    expect(await scene.say('track', ['init', '--resume'], AGENT)).toMatchObject({ code: 2, err: both });
    await scene.say('work', ['end', second, '--as', 'cancelled']);
    expect((await scene.say('track', ['init', '--resume'], AGENT)).out).toBe(`going on with session ${id}\n`);
  });

  test('adopts the session that a hook has begun for the agent, which was told of the crash', async () => {
    const own = begin('c-2', living);
    const { session_id } = await scene.json('track', NEW, AGENT);
    expect(await scene.json('track', ['status'], AGENT)).toMatchObject({ session_id });
    expect(await scene.json('work', ['show', own])).toMatchObject({ lifecycle: 'ended' });
  });

  test('refuses nobody because of a crash that another agent was told, or of an agent that was asked nothing', async () => {
    const memory = open();
    const session = memory.sessions.open(id);
    session?.log.write(() => [contextGivenTo('ses_other')], memory.stamp);
    session?.log.close();
    path = transcript([]);
    begin('c-3', { ...dead, pid_start: '2' });
    expect((await scene.say('track', NEW)).code).toBe(0);
  });
});
