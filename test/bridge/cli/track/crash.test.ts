// covers: memory/brief/goOn.ts
/** An agent that recorded itself is dead: what a person reads in its directory, and what another agent does. */
import { rmSync } from 'node:fs';
import { beforeEach, expect, test } from '@jest/globals';
import { startConversation } from '../../../../memory/programs/conversationStart.js';
import { Memory } from '../../../../memory/sessions/memory.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { redactShapes } from '../../../../src/log/redact.js';
import { systemClock } from '../../../../src/time.js';
import { asks, calls, transcript } from '../../../src/transcripts/told.js';
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
  const start = `Start an agent in "${scene.directory}"; if it has the plugin, it is given this record. To go on with the session, it runs: ${continues}`;
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
  session?.log.write(() => [{ event: 'wait_start', kind: 'permission' }], memory.stamp);
  session?.log.close();
  const { code, out } = await scene.say('track', ['status', '--session', id]);
  expect(code).toBe(0);
  expect(out).toContain('its agent CRASHED');
  expect(out).not.toMatch(/attention|waiting/);
  const status = await scene.json('track', ['status', '--session', id]);
  expect(status).toMatchObject({ crashed: true, attention: null, waits: [], stuck: false });
});
