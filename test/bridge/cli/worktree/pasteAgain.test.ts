// covers: memory/worktrees/wayBack.ts
/** The way back, pasted where it cannot be gone: it stops at its first step that fails, and what is there stays as it is. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { Ends, put } from './endScene.js';

let made: Ends;

beforeEach(() => {
  made = new Ends({ branches: ['feature/one'] });
});

test('a second time, it touches no newer work', async () => {
  const path = made.placeOf('feature/one');
  put(join(path, 'new.txt'), 'old\n');
  const { way_back } = await made.ended(['one', '--discard', 'one']);
  made.wayBack(way_back);
  put(join(path, 'new.txt'), 'later\n');
  put(join(path, 'staged.txt'), 'staged\n');
  made.git.run(path, 'add', 'staged.txt');
  const status = made.git.run(path, 'status', '--porcelain');
  expect(() => made.wayBack(way_back)).toThrow('already exists');
  expect(made.git.run(path, 'status', '--porcelain')).toBe(status);
  expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('later\n');
});

test('into a folder that is in use, it touches neither its worktree nor the repository around it', async () => {
  const inner = join(made.root, 'inside/one');
  made.git.run(made.root, 'worktree', 'add', '-q', '-b', 'fix/inner', inner);
  put(join(inner, 'new.txt'), 'new\n');
  const { way_back } = await made.ended([inner, '--discard', 'fix/inner']);
  put(join(made.root, 'staged.txt'), 'only the index has it\n');
  made.git.run(made.root, 'add', 'staged.txt');
  mkdirSync(inner, { recursive: true });
  put(join(inner, 'left.txt'), 'left\n');
  const index = made.git.run(made.root, 'ls-files', '-s');
  expect(() => made.wayBack(way_back)).toThrow('already exists');
  expect(made.git.run(made.root, 'ls-files', '-s')).toBe(index);
});
