// covers: src/host/mounts.ts memory/worktrees/deletion.ts memory/worktrees/removal.ts memory/show/endWords.ts memory/show/worktreeWords.ts
/** A file cannot be deleted: `worktree end` says which, how the rest comes back, and what finishes the removal; `list` says so, too. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { deleteFolder } from '../../../../memory/worktrees/deletion.js';
import { afterThisTest } from '../../../harness/scope.js';
import { Ends, put } from './endScene.js';

let made: Ends;
let path: string;

beforeEach(() => {
  made = new Ends({ branches: ['feature/one'] });
  path = made.placeOf('feature/one');
});

/** The folder while it is deleted; of several, one that is left. */
const doomed = () => join(dirname(path), readdirSync(dirname(path)).find((name) => name.startsWith('.')) ?? '');

/**
 * Prepares a file that nothing deletes, not even root.
 * @returns what makes it an ordinary one; null if this host cannot have such a file
 */
function fix(file: string): (() => void) | null {
  put(file, 'stays\n');
  const isRoot = process.geteuid?.() === 0;
  const set = (isFixed: boolean, at: string) =>
    isRoot
      ? spawnSync('chattr', [isFixed ? '+i' : '-i', at]).status === 0
      : chmodSync(dirname(at), isFixed ? 0o500 : 0o700) === undefined;
  if (!set(true, file)) return null;
  const release = () =>
    void [file, join(doomed(), 'fixed/file.ignored')].filter(existsSync).map((at) => set(false, at));
  afterThisTest(release);
  return release;
}

const WHY = /(operation not permitted|permission denied)/;

test.each([
  ['--discard', ['feature/one']],
  ['--keep-branch', []],
])(
  'after %s, the same command finishes it when the cause is gone, or the rest comes back before',
  async (way, name) => {
    const release = fix(join(path, 'fixed/file.ignored'));
    if (release === null) return;
    const isKept = way === '--discard';
    if (isKept) put(join(path, 'new.txt'), 'new\n');
    const cut = await made.end(['one', way, ...name]);
    const typed = `watchkeeper worktree end feature/one ${[way, ...name].join(' ')}`;
    const [first = '', ...lines] = cut.out.trimEnd().split('\n');
    const file = join(doomed(), 'fixed/file.ignored');
    expect(cut.code).toBe(1);
    expect(first).toBe(`feature/one is not removed whole: ${file} cannot be deleted: ${WHY.exec(first)?.[0]}`);
    expect(lines[0]).toMatch(isKept ? /^kept: refs\/watchkeeper\/removed\/feature-one-\S+$/ : /^the way back:$/);
    expect(lines.at(-1)).toBe(`once that is put right, this removes the rest: \`${typed}\``);
    expect((await made.end(['one', way, ...name])).out).toBe(cut.out);
    const listed = (await made.say(['list'])).out;
    expect(listed).toContain(
      `\nfeature/one: its removal was cut off; \`${typed}\` finishes it, or says what prevents it\n`,
    );
    expect(listed).not.toMatch(/has lost its|git has registered it|\.removing/);
    const { unfinished } = JSON.parse((await made.say(['list', '--json'])).out);
    made.wayBack(unfinished[0].way_back);
    expect(made.git.run(path, 'status', '--porcelain')).toBe(isKept ? '?? new.txt\n' : '');
    release();
    expect(await made.end(['one', way, ...name])).toMatchObject({ code: 0 });
    expect(readdirSync(dirname(path))).toEqual(['feature-one']);
    expect(existsSync(join(path, 'feature-one.txt'))).toBe(true);
  },
);

test('--keep-branch keeps the branch of a discarding that was cut off', async () => {
  const release = fix(join(path, 'fixed/file.ignored'));
  if (release === null) return;
  const tip = made.head(path);
  expect(await made.ended(['one', '--discard', 'one'])).toMatchObject({ code: 1, removed: false });
  release();
  const { code, way_back } = await made.ended(['one', '--keep-branch']);
  expect([code, readdirSync(dirname(path))]).toEqual([0, []]);
  expect(made.git.run(made.root, 'rev-parse', 'feature/one').trim()).toBe(tip);
  made.wayBack(way_back);
  expect(made.head(path)).toBe(tip);
});

test('nothing behind a link is deleted, and a name that is no text is', () => {
  const folder = join(made.folder, 'going');
  const precious = join(made.folder, 'precious');
  put(join(precious, 'file'), 'precious\n');
  mkdirSync(folder);
  symlinkSync(precious, join(folder, 'link'));
  spawnSync('sh', ['-c', `mkdir -p "$1"/deep && : > "$1"/deep/$(printf 'a\\377b')`, '-', folder]);
  expect(deleteFolder(folder)).toBeNull();
  symlinkSync(precious, folder);
  expect(deleteFolder(folder)).toBeNull();
  expect(deleteFolder(join(precious, 'file/below'))).toBeNull();
  const long = join(precious, 'x'.repeat(300));
  expect(deleteFolder(long)).toBe(`${long} cannot be deleted: name too long`);
  expect(lstatSync(folder, { throwIfNoEntry: false })).toBeUndefined();
  expect(readFileSync(join(precious, 'file'), 'utf8')).toBe('precious\n');
});

test('nothing is deleted in a folder that is mounted inside, of the same file system or another one', () => {
  const folder = join(made.folder, 'going');
  const precious = join(made.folder, 'precious');
  put(join(precious, 'below/file'), 'precious\n');
  for (const [name, ...words] of [
    ['bind \\ "é"', '--bind', precious],
    ['tmpfs', '-t', 'tmpfs', 'none'],
  ]) {
    const inside = join(folder, name ?? '');
    mkdirSync(inside, { recursive: true });
    if (spawnSync('mount', [...words, inside]).status !== 0) return;
    const release = () => spawnSync('umount', [inside]);
    afterThisTest(() => void release());
    put(join(inside, 'file'), 'precious\n');
    expect(deleteFolder(folder)).toBe(`${inside} cannot be deleted: another folder or file system is mounted there`);
    expect(readFileSync(join(inside, 'file'), 'utf8')).toBe('precious\n');
    release();
    expect(deleteFolder(folder)).toBeNull();
  }
  expect(readFileSync(join(precious, 'below/file'), 'utf8')).toBe('precious\n');
});
