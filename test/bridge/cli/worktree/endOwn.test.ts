// covers: memory/worktrees/own.ts memory/worktrees/wayBack.ts memory/worktrees/kept.ts
/** `watchkeeper worktree end` keeps what git has for one worktree alone, and the way back works whatever git's settings are. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Ends, put } from './endScene.js';

let made: Ends;
let path: string;

beforeEach(() => {
  made = new Ends({ branches: ['feature/one'] });
  path = made.placeOf('feature/one');
});

const discard = (from = made.root) => made.ended([path, '--discard', 'feature/one'], from);
const folder = () => made.git.run(path, 'rev-parse', '--absolute-git-dir').trim();

/** What is left after git has cleaned up. */
function cleanUp(): void {
  made.git.run(made.root, 'reflog', 'expire', '--expire=now', '--all');
  made.git.run(made.root, 'gc', '-q', '--prune=now');
}

describe('the patterns of a sparse checkout', () => {
  beforeEach(() => {
    made.git.run(path, 'sparse-checkout', 'set', '--no-cone', '/a.txt', '/feature-one.txt');
  });

  const shown = () => [
    made.git.run(path, 'status', '--porcelain'),
    made.git.run(path, 'ls-files', '-s', '-v'),
    made.git.run(path, 'sparse-checkout', 'list'),
    ...['b.txt', 'sub/c.txt', 'sub/new.txt'].map((name) => existsSync(join(path, name))),
  ];

  test('come back with it, and leave out the same files', async () => {
    put(join(path, 'a.txt'), 'changed\n');
    put(join(path, 'later/*.txt'), 'later\n');
    made.git.run(path, 'add', '--sparse', '-N', 'later');
    made.git.run(path, 'update-index', '--assume-unchanged', 'feature-one.txt');
    const before = shown();
    const { removed, way_back } = await discard();
    expect(removed).toBe(true);
    cleanUp();
    made.wayBack(way_back);
    expect(shown()).toEqual(before);
    const listed = JSON.parse(made.callIn(made.root, ['worktree', 'list', '--json']).out);
    expect(listed.removed).toMatchObject([{ way_back }]);
  });

  test('hide no file that is there against them', async () => {
    put(join(path, 'b.txt'), 'against the patterns\n');
    put(join(path, 'sub/new.txt'), 'new\n');
    const { removed, way_back } = await discard();
    expect(removed).toBe(true);
    made.wayBack(way_back);
    expect(readFileSync(join(path, 'b.txt'), 'utf8')).toBe('against the patterns\n');
    expect(readFileSync(join(path, 'sub/new.txt'), 'utf8')).toBe('new\n');
    expect(existsSync(join(path, 'sub/c.txt'))).toBe(false);
  });
});

test('files come back although the main checkout has patterns that leave them out', async () => {
  put(join(path, 'sub/new.txt'), 'new\n');
  made.git.run(made.root, 'sparse-checkout', 'set', '--no-cone', '/a.txt', '/.gitignore');
  const { way_back } = await discard();
  made.wayBack(way_back);
  expect(['sub/new.txt', 'sub/c.txt', 'b.txt'].map((name) => existsSync(join(path, name)))).toEqual([true, true, true]);
});

test('the settings of a worktree count for it, and come back', async () => {
  made.git.run(made.root, 'config', 'extensions.worktreeConfig', 'true');
  made.git.run(path, 'config', '--worktree', 'user.email', 'b@example.com');
  made.git.run(path, 'config', '--worktree', 'core.excludesFile', join(made.folder, 'patterns'));
  put(join(made.folder, 'patterns'), '*.mine\n');
  put(join(path, 'x.mine'), '');
  const before = readFileSync(join(folder(), 'config.worktree'), 'utf8');
  const { ignored_files, removed, way_back } = await made.ended(['one', '--merge']);
  expect({ removed, ignored_files }).toEqual({ removed: true, ignored_files: 1 });
  cleanUp();
  made.wayBack(way_back);
  expect(readFileSync(join(folder(), 'config.worktree'), 'utf8')).toBe(before);
  expect(made.git.run(path, 'config', 'user.email')).toBe('b@example.com\n');
  expect(made.git.run(path, 'status', '--porcelain')).toBe('');
});

describe('in a bare repository with settings for each worktree', () => {
  let bare: string;

  beforeEach(() => {
    bare = join(made.folder, 'container/.bare');
    made.git.run(made.folder, 'clone', '-q', '--bare', made.root, bare);
    made.git.run(bare, 'config', 'extensions.worktreeConfig', 'true');
    path = join(made.folder, 'container/feature/two');
    made.git.run(bare, 'worktree', 'add', '-q', '-b', 'feature/two', path, 'main');
  });

  test.each(['of all', 'of its own folder'])('the settings %s keep the container out of the list', (whose) => {
    put(join(made.folder, 'container/.git'), 'gitdir: ./.bare\n');
    if (whose !== 'of all') {
      made.git.run(bare, 'config', '--unset', 'core.bare');
      made.git.run(bare, '--git-dir=.', 'config', '--worktree', 'core.bare', 'true');
    }
    made.git.run(path, 'config', '--worktree', 'core.bare', 'false');
    for (const directory of [path, join(made.folder, 'container')])
      expect(made.list(directory).worktrees.map((worktree) => worktree.path)).toEqual([path]);
  });

  test.each([
    ['its own', true],
    ['none', false],
  ])('the way back works for a worktree that has %s', async (_, hasOwn) => {
    if (hasOwn) made.git.run(path, 'config', '--worktree', 'core.bare', 'false');
    put(join(path, 'new.txt'), 'new\n');
    put(join(path, 'a.txt'), 'changed\n');
    put(join(path, 'b.txt'), 'hidden\n');
    put(join(path, 'later.txt'), 'later\n');
    const git = (...words: string[]) => made.git.run(path, '--work-tree=.', ...words);
    git('add', '-N', 'later.txt');
    git('update-index', '--skip-worktree', 'b.txt');
    git('update-index', '--assume-unchanged', 'b.txt', '.gitignore');
    const index = git('ls-files', '-s', '-v');
    const { removed, way_back } = await made.ended([path, '--discard', 'feature/two'], join(made.folder, 'container'));
    expect(removed).toBe(true);
    made.wayBack(way_back);
    expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('changed\n');
    expect(readFileSync(join(path, 'b.txt'), 'utf8')).toBe('hidden\n');
    expect(git('status', '--porcelain')).toBe(' M a.txt\n A later.txt\n?? new.txt\n');
    expect(git('ls-files', '-s', '-v')).toBe(index);
    expect(made.git.say(path, ['status']).code === 0).toBe(hasOwn);
  });
});

describe('the refs of a worktree', () => {
  const object = (words: readonly string[], input: string) => {
    const { code, out, err } = made.git.say(path, words, input);
    if (code !== 0) throw new Error(err);
    return out.trim();
  };
  const blob = () => object(['hash-object', '-w', '--stdin'], 'only here\n');
  const KINDS: Readonly<Record<string, () => string>> = {
    blob,
    tree: () => object(['mktree'], `100644 blob ${blob()}\tname\n`),
    tag() {
      const tree = object(['rev-parse', 'HEAD^{tree}'], '');
      const lost = object(['commit-tree', '-m', 'lost', '-p', 'HEAD', tree], '');
      return object(['mktag'], `object ${lost}\ntype commit\ntag mine\ntagger a <a@b> 1 +0000\n\nmine\n`);
    },
    commit: () => object(['commit-tree', '-m', 'lost', object(['rev-parse', 'HEAD^{tree}'], '')], ''),
  };
  const parts = (kept: string | null) =>
    made.git.run(made.root, 'for-each-ref', '--format=%(refname)', `${kept}`, `${kept}.*`).trim().split('\n');

  test.each(Object.keys(KINDS))('keep a %s, and come back', async (kind) => {
    const id = KINDS[kind]?.() ?? '';
    made.git.run(path, 'update-ref', 'refs/worktree/mine', id);
    made.git.run(path, 'update-ref', 'refs/bisect/good-1', id);
    made.git.run(path, 'update-ref', 'refs/rewritten/onto', id);
    made.git.run(path, 'symbolic-ref', 'refs/worktree/alias', 'refs/heads/feature/one');
    const { removed, way_back, kept } = await discard();
    expect(removed).toBe(true);
    cleanUp();
    expect(made.git.run(made.root, 'cat-file', '-t', id).trim()).toBe(kind);
    made.fsck();
    expect(parts(kept)).toHaveLength(kind === 'commit' ? 1 : 2);
    const { removed: listed } = JSON.parse(made.callIn(made.root, ['worktree', 'list', '--json']).out);
    expect(listed).toMatchObject([{ kept, way_back }]);
    made.wayBack(way_back);
    for (const name of ['refs/worktree/mine', 'refs/bisect/good-1', 'refs/rewritten/onto'])
      expect(made.git.run(path, 'rev-parse', name).trim()).toBe(id);
  });

  test('keep a tag that only FETCH_HEAD names, but none that another ref has', async () => {
    const id = KINDS.tag?.() ?? '';
    made.git.run(path, 'tag', '-a', '-m', 'known', 'known', 'main');
    const known = made.git.run(path, 'rev-parse', 'known').trim();
    put(join(folder(), 'FETCH_HEAD'), `${id}\t\ttag 'x' of y\n${known}\t\ttag 'known' of y\n`);
    const { kept } = await discard();
    expect(parts(kept)).toEqual([kept, `${kept}.1`]);
    expect(made.git.run(made.root, 'rev-parse', `${kept}.1`).trim()).toBe(id);
  });

  test('go with the rest of what was kept', async () => {
    made.git.run(path, 'update-ref', 'refs/worktree/mine', KINDS.tag?.() ?? '');
    const { kept } = await discard();
    const old = 'refs/watchkeeper/removed/feature-one-20200101T000000Z';
    for (const [at, ref] of parts(kept).entries())
      made.git.run(made.root, 'update-ref', at === 0 ? old : `${old}.${at}`, ref);
    path = made.begun('feature/two');
    const { err } = await made.end(['two', '--discard', 'two']);
    expect(err).toContain(`gone: ${old}\n`);
    expect([parts(old), parts(kept).length]).toEqual([[''], 2]);
  });
});

test('a bisect that goes on is a reason', async () => {
  made.git.run(path, 'bisect', 'start', 'HEAD', 'HEAD~1');
  const { removed, reasons } = await discard();
  expect({ removed, reasons }).toMatchObject({
    removed: false,
    reasons: [
      { reason: 'operation', words: 'a bisect is in progress', remedy: expect.stringContaining('bisect reset') },
    ],
  });
});
