/** A session stands where it began, and where its agent is, or was last. */
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { standingIn } from '../../../memory/look/standing.js';
import { weighedHere } from '../../../memory/look/unfinished.js';
import { AgentsScene, end } from './agentsScene.js';

let scene: AgentsScene;

beforeEach(() => {
  scene = new AgentsScene();
});

function guestsIn(directory: string): string[] {
  const memory = scene.open(directory);
  return standingIn(memory, memory.workspace).guests.map(({ id }) => id);
}

async function weighedIn(directory: string) {
  const memory = scene.open(directory);
  const { gone, atWork } = await weighedHere(memory, memory.workspace);
  const interrupted = gone.filter(({ isInterrupted }) => isInterrupted).map(({ id }) => id);
  return { interrupted, atWork: atWork.map(({ id }) => id) };
}

test('an agent that moved on by its transcript alone is found at work there, and still where its session began', async () => {
  const { id } = scene.agent('c-1', scene.made.root);
  expect(await weighedIn(scene.two)).toEqual({ interrupted: [], atWork: [] });
  scene.writes('c-1', join(scene.two, 'sub'));
  for (const place of [scene.two, join(scene.two, 'sub'), scene.made.root])
    expect(await weighedIn(place)).toEqual({ interrupted: [], atWork: [id] });
  expect(await weighedIn(scene.one)).toEqual({ interrupted: [], atWork: [] });
});

test('killed there, it is interrupted there, also when that was noted where its session began', async () => {
  const { id, child } = scene.agent('c-1', scene.made.root);
  scene.writes('c-1', scene.two);
  await end(child);
  for (const place of [scene.two, scene.made.root, scene.two, scene.made.root])
    expect(await weighedIn(place)).toEqual({ interrupted: [id], atWork: [] });
  expect(await weighedIn(scene.one)).toEqual({ interrupted: [], atWork: [] });
});

test('an agent that went back is a guest no more', () => {
  const { id } = scene.agent('c-1', scene.made.root);
  scene.writes('c-1', scene.two);
  expect(guestsIn(scene.two)).toEqual([id]);
  scene.writes('c-1', scene.made.root);
  expect(guestsIn(scene.two)).toEqual([]);
});

test('what its program publishes of a living agent goes before its transcript', () => {
  const { id, agent } = scene.agent('c-1', scene.made.root);
  scene.publishes('c-1', agent, scene.one);
  expect([guestsIn(scene.one), guestsIn(scene.two)]).toEqual([[id], []]);
});

test('an agent of the folder of a container, and one of another repository, which its program publishes', () => {
  const { git, folder, root } = scene.made;
  const container = join(folder, 'container');
  git.run(folder, 'clone', '-q', '--bare', root, join(container, '.bare'));
  const inside = join(container, '.bare/.claude/worktrees/aside');
  git.run(join(container, '.bare'), 'worktree', 'add', '-q', '-b', 'worktree-aside', inside, 'main');
  const { id } = scene.agent('c-1', container);
  scene.writes('c-1', inside);
  expect(guestsIn(inside)).toEqual([id]);
  expect(guestsIn(scene.one)).toEqual([]);
  const other = scene.agent('c-2', scene.one);
  scene.publishes('c-2', other.agent, container);
  expect(guestsIn(container)).toEqual([other.id]);
});
