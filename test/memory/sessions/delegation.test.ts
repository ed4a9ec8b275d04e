// covers: memory/show/tree.ts

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { verifySession } from '../../../memory/keeping/verify.js';
import { beginChild } from '../../../memory/sessions/delegation.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { treeLines, treeOf } from '../../../memory/show/tree.js';
import { compiledProgram } from '../../../src/host/program.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const MAIN = compiledProgram('bridge/cli/main');
const beginning = (purpose: string) => ({ purpose, fields: {}, plan: [], concurrent: true });
const begin = (memory: Memory, purpose: string) => memory.lifecycle.begin(memory.workspace, beginning(purpose));
const child = (memory: Memory, parent: OpenSession, purpose: string) =>
  beginChild(memory, memory.which(parent.id), beginning(purpose));

const command = ({ home, directory }: MemoryScene, parent: string, failpoint = '') => ({
  args: [MAIN, 'work', 'start', '--purpose', 'part', '--concurrent', '--parent', parent, '--json'],
  options: {
    cwd: directory,
    env: { PATH: process.env.PATH, WATCHKEEPER_HOME: home, ...(failpoint && { WATCHKEEPER_FAILPOINT: failpoint }) },
  },
});

test('child sessions nest four levels deep, and ten of them are siblings, however they are called', () => {
  const memory = memoryScene().open();
  const root = begin(memory, 'root');
  let deepest = root;
  for (const level of [1, 2, 3, 4]) deepest = child(memory, deepest, `level ${level}`);
  expect(() => child(memory, deepest, 'level 5')).toThrow(/5 levels below its root, and at most 4/);
  for (let count = 2; count <= 10; count += 1) child(memory, root, 'sibling');
  expect(() => child(memory, root, 'eleventh')).toThrow(/10 child sessions already/);
  const { depth, children } = treeOf(memory.sessions, memory.which(root.id).log.state);
  expect([depth, children.map((node) => node.depth)]).toEqual([0, Array(10).fill(1)]);
  // Nothing was begun for those that were refused.
  expect(memory.sessions.ids()).toHaveLength(1 + 4 + 9);
});

test('the limits are settings', () => {
  const scene = memoryScene();
  mkdirSync(scene.home, { recursive: true });
  writeFileSync(join(scene.home, 'settings.json'), '{"delegation":{"max_depth":1,"max_children":1}}');
  const memory = scene.open();
  const root = begin(memory, 'root');
  const first = child(memory, root, 'first');
  expect(() => child(memory, root, 'second')).toThrow(/1 child sessions already/);
  expect(() => child(memory, first, 'below')).toThrow(/at most 1/);
});

test('of those who race for the tenth place one wins, and what the others had begun is over', async () => {
  const scene = memoryScene();
  const memory = scene.open();
  const root = begin(memory, 'root');
  for (let count = 1; count <= 9; count += 1) child(memory, root, 'sibling');
  const codes = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const { args, options } = command(scene, root.id);
      const racer = spawn(process.execPath, args, { ...options, stdio: 'ignore' });
      return (await once(racer, 'close'))[0];
    }),
  );
  expect(codes.sort()).toEqual([0, 1, 1, 1, 1, 1]);
  expect(memory.which(root.id).log.state.children.size).toBe(10);
  const parts = memory.sessions.ids().filter((id) => id.includes('part'));
  expect(parts.filter((id) => memory.which(id).log.state.lifecycle !== 'ended')).toHaveLength(1);
}, 60_000);

test('an ended parent gets no child; the child knows the step of its parent, and both know each other', () => {
  const memory = memoryScene().open();
  const root = begin(memory, 'root');
  root.log.write(
    () => [
      worklogKind.line('step_added', { step: '1', title: 'a' }),
      worklogKind.line('step', { step: '1', to: 'in_progress' }),
    ],
    memory.stamp,
  );
  const part = child(memory, root, 'part');
  expect(part.log.state.facts).toMatchObject({ parent: root.id, parent_step: '1' });
  expect([...memory.which(root.id).log.state.children.values()]).toMatchObject([{ session_id: part.id, step: '1' }]);
  expect(treeLines(treeOf(memory.sessions, memory.which(root.id).log.state))).toEqual([
    'child sessions:',
    `  ${part.id}, planned: part`,
  ]);
  expect(treeLines(treeOf(memory.sessions, part.log.state))).toEqual([`part of session ${root.id}`]);
  memory.lifecycle.end(memory.which(root.id), null, { lines: () => [], reason: 'completed' });
  expect(() => child(memory, root, 'late')).toThrow(/has ended/);
});

test('killed before the parent knows of it, the child is told to it by the next check', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const root = begin(memory, 'root');
  const { args, options } = command(scene, root.id, 'log.append.before:kill:3');
  expect(spawnSync(process.execPath, args, options).signal).toBe('SIGKILL');
  const [id = ''] = memory.sessions.ids().filter((name) => name !== root.id);
  expect(memory.which(root.id).log.state.children.size).toBe(0);
  verifySession(memory, memory.which(id));
  expect([...memory.which(root.id).log.state.children.keys()]).toEqual([id]);
});
