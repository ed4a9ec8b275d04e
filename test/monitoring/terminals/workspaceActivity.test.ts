/** A directory that cannot be seen whole: nothing that was not seen is said of it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import type { SurroundingVariable } from '../../../memory/sessions/surroundings.js';
import { type Activity, WorkspaceActivity } from '../../../monitoring/terminals/workspaceActivity.js';
import { SECOND } from '../../../src/time.js';
import { UnansweredGit } from '../../memory/git/unansweredGit.js';
import { type MemoryScene, memoryScene } from '../../memory/scene.js';

let scene: MemoryScene;
let id = '';

beforeEach(() => {
  scene = memoryScene();
  const memory = scene.open();
  const session = memory.lifecycle.begin(memory.workspace, {
    ...{ purpose: 'bake', fields: {}, plan: [], concurrent: false },
  });
  session.log.close();
  id = session.id;
});

/** The directory that a monitor of the session looks at. */
const activity = (variables: Partial<Record<SurroundingVariable, string>> = {}) =>
  new WorkspaceActivity(scene.open(variables), id);
const activities = () =>
  readFileSync(join(scene.home, 'sessions', id, 'worklog.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'fs_activity');

test('a directory that is not there, as on a removed disk, has no deleted files, and accuses no agent', async () => {
  writeFileSync(join(scene.directory, 'a'), 'x');
  const watching = activity();
  expect(watching.look()).toBe('unchanged' satisfies Activity);
  renameSync(scene.directory, `${scene.directory}.away`);
  expect(watching.look()).toBe('unknown' satisfies Activity);
  // The place of the disk, on another one.
  symlinkSync('/proc/self/ns', scene.directory);
  expect(watching.look()).toBe('unknown' satisfies Activity);
  expect(activities()).toEqual([]);
  rmSync(scene.directory);
  renameSync(`${scene.directory}.away`, scene.directory);
  expect(watching.look()).toBe('unchanged' satisfies Activity);
  rmSync(join(scene.directory, 'a'));
  expect(watching.look()).toBe('changed' satisfies Activity);
  expect(activities()).toMatchObject([{ deleted: ['a'] }]);
});

test("a look without git's answer accuses no agent; what was made meanwhile is found by the next one that has it", async () => {
  execFileSync('git', ['init', '--quiet', scene.directory]);
  const at = (path: string) => join(scene.directory, path);
  writeFileSync(at('a'), 'x');
  const silent = new UnansweredGit(join(scene.home, '..', 'bin'), 'all');
  const git = join(silent.folder, 'git');
  const watching = activity({ PATH: `${silent.folder}:${process.env.PATH}` });
  renameSync(git, `${git}.away`);
  expect(watching.look()).toBe('unchanged' satisfies Activity);
  renameSync(`${git}.away`, git);
  writeFileSync(at('b'), 'x');
  utimesSync(at('b'), 0, 0);
  await scene.clock.advance(60 * SECOND);
  expect(watching.look()).toBe('unknown' satisfies Activity);
  writeFileSync(at('a'), 'longer');
  expect(watching.look()).toBe('changed' satisfies Activity);
  rmSync(git);
  expect(watching.look()).toBe('changed' satisfies Activity);
  expect(watching.look()).toBe('unchanged' satisfies Activity);
  expect(activities()).toMatchObject([
    { created: [], modified: ['a'] },
    { created: ['b'], modified: [] },
  ]);
});

test('of a session that is gone, nothing is known', () => {
  const watching = activity();
  rmSync(join(scene.home, 'sessions', id), { recursive: true });
  expect(watching.look()).toBe('unknown' satisfies Activity);
});
