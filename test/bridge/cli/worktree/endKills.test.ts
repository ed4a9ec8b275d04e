// covers: memory/worktrees/removal.ts memory/worktrees/kept.ts memory/worktrees/squash.ts
/** `worktree end` is killed at every effect: nothing is lost, `list` says what is left to do, and the same command finishes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { FAILPOINTS } from '../../../../src/failpoints.js';
import { compiledProgram } from '../../../../src/host/program.js';
import { untilStopped } from '../../../harness/stopped.js';
import { Ends, put } from './endScene.js';

let made: Ends;
let path: string;
let tip: string;

beforeEach(() => {
  made = new Ends();
  path = made.begun('feature/one');
  tip = made.head(path);
});

/** A kill before an effect is one after the effect before it. */
const AFTER = FAILPOINTS.filter((name) => /^worktree\..*\.after$/.test(name));
const FIRST = 'worktree.keep.before';
/** The folder has another name, or is gone, and there is something left to do. */
const CUT_OFF = /^worktree\.(move|confirm|folder|forget|branch)\.after/;
const list = () => made.callIn(made.root, ['worktree', 'list', '--json']);
const unfinished = () => JSON.parse(list().out).unfinished as readonly { readonly name: string }[];
const kept = () => made.refs().match(/^refs\/watchkeeper\/removed\/\S+/gm) ?? [];

function nothingIsLeft(): void {
  expect(made.isGone(path)).toBe(true);
  expect(readdirSync(dirname(path))).toEqual([]);
  expect(made.git.run(made.root, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
  expect(made.has('refs/heads/feature/one')).toBe(false);
  expect(readdirSync(join(made.root, '.git/watchkeeper/removing'))).toEqual([]);
  expect(unfinished()).toEqual([]);
  made.fsck();
}

describe('a merge that is killed', () => {
  test.each([FIRST, ...AFTER.filter((name) => !name.startsWith('worktree.remote'))])(
    'at %s is finished by the same command',
    (point) => {
      const end = ['worktree', 'end', 'one', '--merge'];
      expect(made.callIn(made.root, end, `${point}:kill:1`)).toMatchObject({ code: null });
      // Also the commit is there, whatever was reached.
      expect(made.git.run(made.root, 'cat-file', '-t', tip).trim()).toBe('commit');
      const isCutOff = CUT_OFF.test(point);
      expect(unfinished().map(({ name }) => name)).toEqual(isCutOff ? ['feature/one'] : []);
      if (isCutOff)
        expect(made.callIn(made.root, ['worktree', 'list']).out).toContain(
          'feature/one: its removal was cut off; `watchkeeper worktree end feature/one --merge` finishes it',
        );
      expect(made.callIn(made.root, end)).toMatchObject({ code: 0 });
      nothingIsLeft();
      expect(made.git.run(made.root, 'rev-list', '--count', 'main').trim()).toBe('4');
      expect(readFileSync(join(made.root, 'feature-one.txt'), 'utf8')).toBe('feature/one\n');
      expect(kept()).toHaveLength(1);
      expect(made.git.run(made.root, 'rev-parse', kept()[0] ?? '').trim()).toBe(tip);
    },
  );
});

describe('a discarding that is killed', () => {
  beforeEach(() => {
    appendFileSync(join(path, 'a.txt'), 'changed\n');
    put(join(path, 'new.txt'), 'new\n');
    made.git.run(made.root, 'clone', '-q', '--bare', made.root, join(made.folder, 'remote'));
    made.git.run(made.root, 'remote', 'add', 'origin', join(made.folder, 'remote'));
    made.git.run(path, 'push', '-q', '-u', 'origin', 'feature/one');
  });

  test.each(AFTER.filter((name) => !/\.(commit|target)\./.test(name)))('at %s loses no file', (point) => {
    const end = ['worktree', 'end', 'one', '--discard', 'one', '--remote'];
    expect(made.callIn(made.root, end, `${point}:kill:1`)).toMatchObject({ code: null });
    const again = made.callIn(made.root, [...end, '--json']);
    nothingIsLeft();
    expect(made.git.say(join(made.folder, 'remote'), ['rev-parse', '--verify', '-q', 'feature/one']).code).not.toBe(0);
    expect(kept()).toHaveLength(1);
    const [ref = ''] = kept();
    expect(made.git.run(made.root, 'show', `${ref}:new.txt`)).toBe('new\n');
    expect(made.git.run(made.root, 'show', `${ref}:a.txt`)).toContain('changed\n');
    expect(again.code).toBe(0);
    made.wayBack(JSON.parse(again.out).way_back);
    expect(made.head(path)).toBe(tip);
    expect(made.git.run(path, 'status', '--porcelain')).toBe(' M a.txt\n?? new.txt\n');
  });
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
  expect(await out).toContain(`${path} was changed in the meantime: try again`);
  expect(readFileSync(join(path, 'late.txt'), 'utf8')).toBe('late\n');
  expect(unfinished()).toEqual([]);
});

test('a folder that changes after a kill gets its name back', () => {
  expect(made.callIn(made.root, ['worktree', 'end', 'one', '--merge'], 'worktree.move.after:kill:1').code).toBeNull();
  const [doomed = ''] = readdirSync(dirname(path));
  put(join(dirname(path), doomed, 'late.txt'), 'late\n');
  const again = made.callIn(made.root, ['worktree', 'end', 'one', '--merge']);
  expect(again).toMatchObject({ code: 1 });
  expect(again.out).toContain('it has 1 new file (late.txt)');
  expect(readFileSync(join(path, 'late.txt'), 'utf8')).toBe('late\n');
});

test.each<[string, (record: Record<string, unknown>) => void]>([
  ['another folder', (record) => Object.assign(record, { doomed: join(made.folder, 'precious') })],
  ['a folder outside by dots', (record) => Object.assign(record, { doomed: `${record.doomed}/../../../precious` })],
  ['no commit', (record) => Object.assign(record, { tip: '--exec=touch' })],
  ['another ref', (record) => Object.assign(record, { kept: 'refs/heads/x; touch y' })],
  ["another of git's folders", (record) => Object.assign(record, { folder: join(made.folder, 'precious') })],
])('a record that names %s, as an agent could write one, is not obeyed', (_, change) => {
  put(join(made.folder, 'precious/file'), 'precious\n');
  made.callIn(made.root, ['worktree', 'end', 'one', '--merge'], 'worktree.confirm.after:kill:1');
  const [name = ''] = readdirSync(join(made.root, '.git/watchkeeper/removing'));
  const file = join(made.root, '.git/watchkeeper/removing', name);
  const record = JSON.parse(readFileSync(file, 'utf8'));
  change(record);
  writeFileSync(file, JSON.stringify(record));
  expect(unfinished()).toEqual([]);
  expect(made.callIn(made.root, ['worktree', 'end', 'one', '--merge']).code).not.toBe(0);
  expect(readFileSync(join(made.folder, 'precious/file'), 'utf8')).toBe('precious\n');
  expect(made.has('refs/heads/feature/one')).toBe(true);
});

test('a folder that came in the place of one that was taken away stays, as does that one', () => {
  made.callIn(made.root, ['worktree', 'end', 'one', '--merge'], 'worktree.move.after:kill:1');
  const [doomed = ''] = readdirSync(dirname(path));
  put(join(path, 'mine.txt'), 'mine\n');
  const { code, out } = made.callIn(made.root, ['worktree', 'end', 'one', '--merge']);
  expect(code).toBe(1);
  expect(out).toContain(`${path} is there again, and ${join(dirname(path), doomed)} has its former files`);
  expect(existsSync(join(dirname(path), doomed, 'feature-one.txt'))).toBe(true);
  expect(existsSync(join(path, 'mine.txt'))).toBe(true);
});

test('a record of a removal that never began removes nothing later', () => {
  made.callIn(made.root, ['worktree', 'end', 'one', '--merge'], 'worktree.record.after:kill:1');
  made.git.run(made.root, 'worktree', 'remove', path);
  expect(unfinished()).toEqual([]);
  const { code } = made.callIn(made.root, ['worktree', 'end', 'one', '--merge']);
  expect(code).toBe(2);
  expect(made.has('refs/heads/feature/one')).toBe(true);
});

test('a new worktree in the place of one whose removal was cut off is not touched', () => {
  made.callIn(made.root, ['worktree', 'end', 'one', '--merge'], 'worktree.folder.before:kill:1');
  const [doomed = ''] = readdirSync(dirname(path));
  expect(doomed).not.toBe('');
  put(join(path, 'mine.txt'), 'mine\n');
  const { code } = made.callIn(made.root, ['worktree', 'end', 'one', '--merge']);
  expect(code).toBe(0);
  expect(readFileSync(join(path, 'mine.txt'), 'utf8')).toBe('mine\n');
  expect(existsSync(join(dirname(path), doomed))).toBe(false);
  rmSync(path, { recursive: true });
});
