// covers: memory/worktrees/removal.ts memory/worktrees/kept.ts memory/worktrees/squash.ts
/** `worktree end` is killed at every effect: nothing is lost, `list` says what is left to do, and the same command finishes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { cutOffRemovals } from '../../../../memory/worktrees/records.js';
import { FAILPOINTS } from '../../../../src/failpoints.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { compiledProgram } from '../../../../src/host/program.js';
import { untilStopped } from '../../../harness/stopped.js';
import { Ends, type Prepared, put } from './endScene.js';

let made: Ends;
let path: string;
let tip: string;

beforeEach(() => {
  made = new Ends({ branches: ['feature/one'] });
  path = made.placeOf('feature/one');
  tip = made.head(path);
});

/** A kill before an effect is one after the effect before it. */
const AFTER = FAILPOINTS.filter((name) => /^worktree\..*\.after$/.test(name));
const FIRST = 'worktree.keep.before';
/** The folder has another name, or is gone, and there is something left to do. */
const CUT_OFF = /^worktree\.(move|confirm|folder|forget|branch|note)\.after/;

/** @returns the names that `list` has them by */
function unfinished(): string[] {
  return cutOffRemovals(join(made.root, '.git'), readProcessIdentity('host')).map(({ name }) => name);
}

/** @returns the ref that keeps what was removed */
function nothingIsLeft(): string {
  expect(made.isGone(path)).toBe(true);
  expect(readdirSync(dirname(path))).toEqual([]);
  expect(made.git.run(made.root, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
  expect(readdirSync(join(made.root, '.git/watchkeeper/removing'))).toEqual([]);
  made.fsck();
  const refs = made.refs();
  expect(refs).not.toContain('refs/heads/feature/one');
  const kept = refs.match(/^refs\/watchkeeper\/removed\/\S+/gm) ?? [];
  expect(kept).toHaveLength(1);
  return kept[0] ?? '';
}

/** Calls it as a process of its own, which is killed at an effect. */
function kill(point: string, args: readonly string[] = ['one', '--merge']): void {
  const { code, err } = made.callIn(made.root, ['worktree', 'end', ...args], `${point}:kill:1`);
  expect({ code, err }).toEqual({ code: null, err: expect.stringContaining('tripped: kill') });
}

describe('a merge that is killed', () => {
  test.each([FIRST, ...AFTER.filter((name) => !name.startsWith('worktree.remote'))])(
    'at %s is finished by the same command',
    async (point) => {
      kill(point);
      // Also the commit is there, whatever was reached.
      expect(made.git.run(made.root, 'cat-file', '-t', tip).trim()).toBe('commit');
      expect(unfinished()).toEqual(CUT_OFF.test(point) ? ['feature/one'] : []);
      expect(await made.end(['one', '--merge'])).toMatchObject({ code: 0 });
      const kept = nothingIsLeft();
      expect(made.git.run(made.root, 'rev-list', '--count', 'main').trim()).toBe('4');
      expect(readFileSync(join(made.root, 'feature-one.txt'), 'utf8')).toBe('feature/one\n');
      expect(made.git.run(made.root, 'rev-parse', kept).trim()).toBe(tip);
    },
  );
});

test('it is finished although git has given its folder to a new worktree elsewhere', async () => {
  kill('worktree.confirm.after', ['one', '--discard', 'one']);
  made.git.run(made.root, 'worktree', 'prune');
  const other = join(made.folder, 'elsewhere/feature-one');
  made.git.run(made.root, 'worktree', 'add', '-q', '-b', 'fix/four', other, tip);
  expect(await made.ended(['one', '--discard', 'one'])).toMatchObject({ code: 0, removed: true });
  expect(made.git.run(other, 'status', '--porcelain', '--branch')).toBe('## fix/four\n');
  expect(JSON.parse((await made.say(['list', '--json'])).out).unfinished).toEqual([]);
});

test('people are told how to finish a merge that was killed, until that is done', async () => {
  kill('worktree.move.after');
  expect(JSON.parse((await made.say(['list', '--json'])).out).unfinished).toMatchObject([{ name: 'feature/one' }]);
  expect((await made.say(['list'])).out).toContain(
    'feature/one: its removal was cut off; `watchkeeper worktree end feature/one --merge` finishes it',
  );
  expect(await made.end(['one', '--merge'])).toMatchObject({ code: 0 });
  expect(JSON.parse((await made.say(['list', '--json'])).out).unfinished).toEqual([]);
});

const WITH_REMOTE: Prepared = {
  name: 'with a remote',
  prepare({ git, root, folder }) {
    git.run(root, 'clone', '-q', '--bare', root, join(folder, 'remote'));
    git.run(root, 'remote', 'add', 'origin', join(folder, 'remote'));
    git.run(root, 'push', '-q', '-u', 'origin', 'feature/one');
  },
};

describe('a discarding that is killed', () => {
  beforeEach(() => {
    made = new Ends({ branches: ['feature/one'], prepared: WITH_REMOTE });
    path = made.placeOf('feature/one');
    tip = made.head(path);
    appendFileSync(join(path, 'a.txt'), 'changed\n');
    put(join(path, 'new.txt'), 'new\n');
  });

  // The other effects are those of a merge. `npm run prove -- worktree-ends` kills at them, too.
  const own = /^worktree\.(keep|move|confirm|branch|remote|note)\./;
  test.each(AFTER.filter((name) => own.test(name)))('at %s loses no file', async (point) => {
    const end = ['one', '--discard', 'one', '--remote'];
    kill(point, end);
    const again = await made.ended(end);
    const ref = nothingIsLeft();
    expect(made.git.say(join(made.folder, 'remote'), ['rev-parse', '--verify', '-q', 'feature/one']).code).not.toBe(0);
    expect(made.git.run(made.root, 'show', `${ref}:new.txt`)).toBe('new\n');
    expect(made.git.run(made.root, 'show', `${ref}:a.txt`)).toContain('changed\n');
    expect(again.code).toBe(0);
    made.wayBack(again.way_back);
    expect(made.head(path)).toBe(tip);
    expect(made.git.run(path, 'status', '--porcelain')).toBe(' M a.txt\n?? new.txt\n');
  });
});

test('a removal that is killed before its record is put away is finished, with the way back to a branch that stays', async () => {
  const other = join(made.folder, 'other');
  made.git.run(made.root, 'worktree', 'add', '-q', '--force', other, 'feature/one');
  put(join(path, 'new.txt'), 'new\n');
  kill('worktree.note.after', [path, '--discard', 'one']);
  expect(unfinished()).toEqual(['feature/one']);
  const { code, way_back } = await made.ended([path, '--discard', 'one']);
  expect(code).toBe(0);
  expect(unfinished()).toEqual([]);
  expect(JSON.parse((await made.say(['list', '--json'])).out).removed).toMatchObject([{ path, way_back }]);
  made.git.commitAll(other, 'the branch goes on');
  made.wayBack(way_back);
  expect(made.head(path)).toBe(tip);
  expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('new\n');
});

test('a folder that changes before it is deleted gets its name back', async () => {
  const main = compiledProgram('bridge/cli/main');
  const child = spawn(process.execPath, [main, 'worktree', 'end', 'one', '--merge'], {
    cwd: made.root,
    env: { ...made.variables, WATCHKEEPER_FAILPOINT: 'worktree.move.after:stop:1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out = text(child.stdout);
  await once(child.stderr, 'data');
  await untilStopped(child.pid);
  const [doomed = ''] = readdirSync(dirname(path));
  put(join(dirname(path), doomed, 'late.txt'), 'late\n');
  child.kill('SIGCONT');
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
  expect(await out).toBe(`feature/one: merged into main as ${made.head().slice(0, 10)}
feature/one is not removed: ${path} was changed in the meantime: try again
`);
  expect(made.refs()).not.toContain('refs/watchkeeper/');
  expect(readFileSync(join(path, 'late.txt'), 'utf8')).toBe('late\n');
  expect(unfinished()).toEqual([]);
});

test('a folder that changes after a kill gets its name back', async () => {
  kill('worktree.move.after');
  const [doomed = ''] = readdirSync(dirname(path));
  put(join(dirname(path), doomed, 'late.txt'), 'late\n');
  const again = await made.end(['one', '--merge']);
  expect(again).toMatchObject({ code: 1 });
  expect(again.out).toContain('it has 1 new file (late.txt)');
  expect(readFileSync(join(path, 'late.txt'), 'utf8')).toBe('late\n');
});

test('a record that names something else, as an agent could write one, is not obeyed', async () => {
  const precious = join(made.folder, 'precious');
  put(join(precious, 'file'), 'precious\n');
  kill('worktree.confirm.after');
  const [name = ''] = readdirSync(join(made.root, '.git/watchkeeper/removing'));
  const file = join(made.root, '.git/watchkeeper/removing', name);
  const record = JSON.parse(readFileSync(file, 'utf8'));
  for (const [what, changed] of Object.entries({
    'another folder': { doomed: precious },
    'a folder outside by dots': { doomed: `${record.doomed}/../../../precious` },
    'no commit': { tip: '--exec=touch' },
    'another ref': { kept: 'refs/heads/x; touch y' },
    "another of git's folders": { folder: precious },
  })) {
    writeFileSync(file, JSON.stringify({ ...record, ...changed }));
    expect([what, unfinished()]).toEqual([what, []]);
    expect([what, (await made.end(['one', '--merge'])).code]).not.toEqual([what, 0]);
    expect([what, readFileSync(join(precious, 'file'), 'utf8')]).toEqual([what, 'precious\n']);
    expect([what, made.has('refs/heads/feature/one')]).toEqual([what, true]);
  }
  // What was refused is the change alone.
  writeFileSync(file, JSON.stringify(record));
  expect(unfinished()).toEqual(['feature/one']);
});

test('a folder that came in the place of one that was taken away stays, as does that one', async () => {
  kill('worktree.move.after');
  const [doomed = ''] = readdirSync(dirname(path));
  put(join(path, 'mine.txt'), 'mine\n');
  const { code, out } = await made.end(['one', '--merge']);
  expect(code).toBe(1);
  expect(out).toContain(`${path} is there again, and ${join(dirname(path), doomed)} has its former files`);
  expect(existsSync(join(dirname(path), doomed, 'feature-one.txt'))).toBe(true);
  expect(existsSync(join(path, 'mine.txt'))).toBe(true);
});

test('a record of a removal that never began removes nothing later', async () => {
  kill('worktree.record.after');
  made.git.run(made.root, 'worktree', 'remove', path);
  expect(unfinished()).toEqual([]);
  const { code } = await made.end(['one', '--merge']);
  expect(code).toBe(2);
  expect(made.has('refs/heads/feature/one')).toBe(true);
});

test('a new worktree in the place of one whose removal was cut off is not touched', async () => {
  kill('worktree.folder.before');
  const [doomed = ''] = readdirSync(dirname(path));
  expect(doomed).not.toBe('');
  put(join(path, 'mine.txt'), 'mine\n');
  const { code } = await made.end(['one', '--merge']);
  expect(code).toBe(0);
  expect(readFileSync(join(path, 'mine.txt'), 'utf8')).toBe('mine\n');
  expect(existsSync(join(dirname(path), doomed))).toBe(false);
  rmSync(path, { recursive: true });
});
