/** A session is found in the worktree in which it began, and in that of its agent. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import type { Doing } from '../../../memory/condition/stuck.js';
import { insideOf } from '../../../memory/look/inWorktrees.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { reasonsAround } from '../../../memory/verbs/againstEnding.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { eventually } from '../../e2e/eventually.js';
import { afterThisTest } from '../../harness/scope.js';
import { AgentsScene, end, UNJUDGED } from './agentsScene.js';

let scene: AgentsScene;

beforeEach(() => {
  scene = new AgentsScene();
});

test('nothing is in a worktree that was just made', async () => {
  expect(await scene.inside(scene.one)).toEqual({ sessions: [], agents: [], processes: [] });
});

test('a session in which its agent works, and nothing of it elsewhere', async () => {
  const { id, agent } = scene.agent('c-1', scene.one);
  scene.publishes('c-1', agent, scene.one);
  expect(await scene.inside(scene.one)).toMatchObject({
    sessions: [{ session_id: id, holds: false, is_own: true, agent: 'at_work', agent_is_here: true }],
    agents: [{ pid: agent.pid, program: 'claude', session_id: id }],
  });
  expect(await scene.inside(scene.two)).toEqual({ sessions: [], agents: [], processes: [] });
});

test('a session whose agent moved on is in both worktrees: by what its program publishes', async () => {
  const { id, agent } = scene.agent('c-1', scene.made.root);
  scene.publishes('c-1', agent, join(scene.two, 'sub'));
  expect((await scene.inside(scene.made.root)).sessions).toMatchObject([
    { session_id: id, is_own: true, agent_is_here: false },
  ]);
  expect(await scene.inside(scene.two)).toMatchObject({
    sessions: [{ session_id: id, is_own: false, holds: false, agent_is_here: true }],
    agents: [{ pid: agent.pid, session_id: id }],
  });
});

test('and by its transcript, also after it was killed there', async () => {
  const { id, child } = scene.agent('c-1', scene.made.root);
  scene.writes('c-1', scene.one);
  expect((await scene.inside(scene.one)).sessions).toMatchObject([
    { session_id: id, agent: 'at_work', agent_is_here: true },
  ]);
  await end(child);
  expect((await scene.inside(scene.one)).sessions).toMatchObject([
    { session_id: id, agent: 'lost', agent_is_here: true },
  ]);
  expect((await scene.inside(scene.made.root)).sessions).toMatchObject([{ session_id: id, agent_is_here: false }]);
});

test('an agent of no session, and processes, by the innermost worktree of their directories', async () => {
  const nested = scene.made.add('fix/nested', join(scene.one, '.claude/worktrees/nested'));
  const paths = [...scene.paths, { path: nested }];
  const inOne = spawn('sleep', ['600'], { cwd: join(scene.one, 'sub'), stdio: 'ignore' });
  const inNested = spawn('sleep', ['601'], { cwd: nested, stdio: 'ignore' });
  for (const child of [inOne, inNested]) afterThisTest(() => end(child));
  scene.publishes('c-9', readProcessIdentity('host', inNested.pid), nested);
  const found = await insideOf(scene.open(), paths, UNJUDGED);
  expect(found.get(scene.one)).toMatchObject({ agents: [], processes: [{ pid: inOne.pid, program: 'sleep' }] });
  expect(found.get(nested)).toMatchObject({ agents: [{ pid: inNested.pid, session_id: null }], processes: [] });
});

test('the server of a program is no agent where it was started: a session in it counts while that is at work', async () => {
  const words = ['-c', 'read line; true', 'app-server'];
  const server = spawn('sh', words, { argv0: 'codex', cwd: scene.one, stdio: ['pipe', 'ignore', 'ignore'] });
  afterThisTest(() => end(server));
  const { session } = startConversation(scene.open(scene.one), {
    ...{ provider: 'codex', conversation: 'c-3', source: 'startup', transcript: null, launchedIn: null },
    agent: readProcessIdentity('host', server.pid),
  });
  session.log.close();
  const judged = { broken: [], hasFound: false, lastActivity: null, leastActivity: null };
  const insideWhile = (doing: Doing) => insideOf(scene.open(), scene.paths, async () => ({ ...judged, doing }));
  const working = await insideWhile('working');
  expect(working.get(scene.one)).toMatchObject({
    sessions: [{ session_id: session.id, agent: 'at_work', server: server.pid }],
    agents: [],
    processes: [],
  });
  const reasons = (inside: typeof working) => {
    const around = { inside, bridge: [], offered: new Map(), worktrees: [], home: scene.made.root };
    return reasonsAround(scene.open(), { path: scene.one }, around).map(({ words }) => words);
  };
  expect(reasons(working)).toEqual([
    `an agent works in it on session ${session.id}, in the server of its program (pid ${server.pid})`,
  ]);
  const idle = await insideWhile('idle');
  expect(idle.get(scene.one)?.sessions).toMatchObject([{ session_id: session.id, agent: 'left' }]);
  expect(reasons(idle)).toEqual([]);
});

test('the processes of one program are one agent', async () => {
  const words = ['-c', '(exec -a codex sleep 600) & wait'];
  const wrapper = spawn('bash', words, { argv0: 'codex', cwd: scene.one, stdio: 'ignore' });
  afterThisTest(() => end(wrapper));
  const [inner] = await eventually(
    async () => {
      const { processes } = await scene.inside(scene.one);
      return processes?.some(({ program }) => program === 'codex') && processes;
    },
    { what: 'the process that it starts' },
  );
  afterThisTest(() => void process.kill(inner?.pid ?? 0, 'SIGKILL'));
  const { agents } = await scene.inside(scene.one);
  expect(agents).toEqual([{ pid: wrapper.pid, program: 'codex', session_id: null }]);
});

test('the session that holds a worktree, also if its folder is gone', async () => {
  const memory = scene.open(scene.one);
  writeFileSync(join(scene.one, 'a.txt'), '');
  const { session } = startConversation(memory, {
    ...{ provider: 'claude', conversation: 'c-2', source: 'startup', transcript: null, launchedIn: null },
    agent: readProcessIdentity('host'),
  });
  expect(memory.claims.claim(memory.workspace, session.id)).toBeNull();
  session.log.close();
  expect((await scene.inside(scene.one)).sessions).toMatchObject([{ session_id: session.id, holds: true }]);
});
