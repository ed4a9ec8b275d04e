// covers: memory/worktrees/repositories.ts memory/worktrees/conversions.ts memory/worktrees/staged.ts memory/worktrees/reflog.ts
/** `watchkeeper worktree end` where git itself does not show what there is, or would bring it back as something else. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { runGit } from '../../../../memory/git/gitLine.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { compiledProgram } from '../../../../src/host/program.js';
import { MINUTE } from '../../../../src/time.js';
import { watchkeeperAgain } from '../manyCalls.js';
import { Ends, put } from './endScene.js';

const ANOTHER = 65_534;

let made: Ends;
let path: string;

beforeEach(() => {
  made = new Ends({ branches: ['feature/one'] });
  path = made.placeOf('feature/one');
});

const discard = () => made.ended(['one', '--discard', 'one']);

/** Ends the worktree and types the way back. */
async function thereAndBack(): Promise<void> {
  const { removed, way_back } = await discard();
  expect([removed, made.isGone(path)]).toEqual([true, true]);
  made.wayBack(way_back);
}

describe('changed files come back byte for byte, with their modes, although git', () => {
  const files: Readonly<Record<string, string>> = {
    'a.txt': 'one\ntwo\n',
    'mixed.txt': 'one\r\ntwo\nthree\r',
    'fails.txt': 'FAIL\n',
    'id.txt': '$Id: of another $\n',
    '"odd\' \n$(x).txt': 'odd\n',
  };

  test.each<[string, string, readonly string[]]>([
    ['converts line ends', '*.txt text eol=crlf', []],
    ['converts line ends by default', '', ['core.autocrlf=true']],
    ['would end lines as another system', '*.txt text', ['core.eol=crlf']],
    ['is told not to look at modes', '', ['core.fileMode=false']],
    ['expands keywords', '*.txt ident', []],
    [
      'runs a filter',
      '*.txt filter=turn',
      ['filter.turn.clean=tr a-z n-za-m', 'filter.turn.smudge=tr a-z n-za-m', 'filter.turn.required=true'],
    ],
    [
      'runs a filter that fails',
      '*.txt filter=large',
      ['filter.large.clean=cat', 'filter.large.smudge=grep -v FAIL', 'filter.large.required=true'],
    ],
  ])('%s', async (_, attributes, settings) => {
    put(join(path, '.gitattributes'), `${attributes}\n`);
    made.git.run(path, 'add', '.gitattributes');
    made.git.run(path, 'commit', '-q', '-m', 'attributes');
    for (const setting of settings) {
      const at = setting.indexOf('=');
      made.git.run(made.root, 'config', setting.slice(0, at), setting.slice(at + 1));
    }
    for (const [name, text] of Object.entries(files)) put(join(path, name), text);
    chmodSync(join(path, 'a.txt'), 0o755);
    put(join(path, 'run.sh'), '#!/bin/sh\n', 0o755);
    symlinkSync('a.txt', join(path, 'link.txt'));
    await thereAndBack();
    for (const [name, text] of Object.entries(files)) expect(readFileSync(join(path, name), 'latin1')).toBe(text);
    for (const name of ['a.txt', 'run.sh']) expect(statSync(join(path, name)).mode & 0o777).toBe(0o755);
    expect(made.git.run(path, 'ls-files', '--others', 'link.txt')).toBe('link.txt\n');
  });
});

test('a hidden change comes back if the name is no text, and if it is of the mode only', async () => {
  const odd = Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0x78, 0xff])]);
  writeFileSync(odd, 'before\n');
  made.git.commitAll(path, 'odd');
  made.git.run(path, 'config', 'core.ignoreStat', 'true');
  made.git.run(path, 'rm', '-q', '-r', '--cached', '.');
  made.git.run(path, 'reset', '-q', '--hard');
  expect(made.git.run(path, 'ls-files', '-v')).toContain('h a.txt');
  writeFileSync(odd, 'mine\n');
  chmodSync(join(path, 'a.txt'), 0o755);
  expect((await made.ended(['one', '--merge'])).reasons).toMatchObject([
    { reason: 'changes', words: expect.stringMatching(/2 changed files that git hides \(a\.txt, x/) },
  ]);
  await thereAndBack();
  expect(readFileSync(odd, 'utf8')).toBe('mine\n');
  expect(statSync(join(path, 'a.txt')).mode & 0o777).toBe(0o755);
});

describe('a repository inside is a reason', () => {
  test('in the folder of a tracked file, where git does not show it', async () => {
    made.git.run(join(path, 'sub'), 'init', '-q');
    expect(made.git.run(path, 'status', '--porcelain')).toBe('');
    expect((await discard()).reasons).toMatchObject([
      { reason: 'repository', words: 'another repository is inside: sub/' },
    ]);
  });

  test('as a submodule whose name is no text', async () => {
    const { folder, tip } = {
      folder: Buffer.concat([Buffer.from(`${path}/s`), Buffer.from([0xff])]),
      tip: made.head(path),
    };
    mkdirSync(Buffer.concat([folder, Buffer.from('/.git')]), { recursive: true });
    const entry = Buffer.concat([Buffer.from(`160000 ${tip}\ts`), Buffer.from([0xff, 0])]).toString('latin1');
    runGit(
      { command: 'git', args: ['-C', path, 'update-index', '-z', '--index-info'], env: made.git.variables },
      { limitMs: MINUTE, input: entry, encoding: 'latin1' },
    );
    made.git.run(path, 'commit', '-q', '-m', 'a submodule');
    for (const way of [['--discard', 'one'], ['--keep-branch']])
      expect((await made.ended(['one', ...way])).reasons).toMatchObject([{ reason: 'unanswered' }]);
    expect(existsSync(folder)).toBe(true);
  });

  test('although it is damaged, so that git takes it for a folder', async () => {
    made.git.repository(join(path, 'inner'));
    rmSync(join(path, 'inner/.git/HEAD'));
    expect((await discard()).reasons).toMatchObject([
      { reason: 'repository', words: 'another repository is inside: inner/' },
    ]);
  });
});

describe('a commit is kept', () => {
  const kept = () => made.git.run(made.root, 'for-each-ref', '--format=%(refname)', 'refs/watchkeeper/removed/').trim();
  const reaches = (commit: string) => made.git.say(made.root, ['merge-base', '--is-ancestor', commit, kept()]).code;

  test('although another name of the branch has it', async () => {
    const tip = made.head(path);
    made.git.run(made.root, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/feature/one');
    await discard();
    expect(reaches(tip)).toBe(0);
  });

  test('although the branch of another worktree has it, which may go at the same time', async () => {
    const tip = made.head(path);
    made.git.run(made.root, 'worktree', 'add', '-q', '-b', 'fix/two', join(made.folder, 'two'), tip);
    await discard();
    expect(reaches(tip)).toBe(0);
  });

  test('that only a file of the worktree in which git notes commits names, next to what is gone', async () => {
    const folder = made.git.run(path, 'rev-parse', '--absolute-git-dir').trim();
    const tree = made.git.run(path, 'rev-parse', 'HEAD^{tree}').trim();
    const names = ['FETCH_HEAD', 'MERGE_AUTOSTASH', 'ORIG_HEAD', 'logs/refs/worktree/mine', 'refs/worktree/mine'];
    const lost = names.map((name) => {
      const commit = made.git.run(path, 'commit-tree', '-m', `only in ${name}`, '-p', 'HEAD', tree).trim();
      const named = [commit, '1'.repeat(tree.length)];
      put(join(folder, name), named.map((object) => `${object}\t\tbranch 'x' of somewhere\n`).join(''));
      return commit;
    });
    await discard();
    const found = made.git.run(made.root, 'rev-list', kept()).split('\n');
    expect(names.filter((_, at) => !found.includes(lost[at] ?? ''))).toEqual([]);
  });

  test('with more of them than one commit has parents', async () => {
    const folder = made.git.run(path, 'rev-parse', '--absolute-git-dir').trim();
    const tip = made.head(path);
    const count = 1_001;
    const stream = Array.from(
      { length: count },
      (_, at) => `commit refs/tmp/${at}\ncommitter a <a@b> ${at + 1} +0000\ndata 1\nc\nfrom ${tip}\n\n`,
    );
    expect(made.git.say(path, ['fast-import', '--quiet'], stream.join('')).code).toBe(0);
    const commits = made.git.run(path, 'for-each-ref', '--format=%(objectname)', 'refs/tmp').trim().split('\n');
    expect(new Set(commits).size).toBe(count);
    appendFileSync(
      join(folder, 'logs/HEAD'),
      commits.map((commit) => `${tip} ${commit} a <a@b> 1 +0000\tx\n`).join(''),
    );
    const deleted = made.git.run(path, 'for-each-ref', '--format=delete %(refname)', 'refs/tmp');
    made.git.say(path, ['update-ref', '--stdin'], deleted);
    await thereAndBack();
    const found = new Set(made.git.run(made.root, 'rev-list', kept()).split('\n'));
    expect(commits.filter((commit) => !found.has(commit))).toEqual([]);
  });
});

test('a log that cannot be read is said, and nothing goes', async () => {
  const folder = made.git.run(path, 'rev-parse', '--absolute-git-dir').trim();
  rmSync(join(folder, 'logs/HEAD'));
  symlinkSync('/dev/zero', join(folder, 'logs/HEAD'));
  const { removed, fault } = await discard();
  expect({ removed, fault }).toEqual({ removed: false, fault: 'git cannot read the logs of its commits' });
});

describe('nothing goes if there is', () => {
  test('a file whose name git never takes', async () => {
    put(join(path, '.GIT/x'), 'precious\n');
    const { removed, fault } = await discard();
    expect({ removed, fault }).toEqual({ removed: false, fault: 'git cannot keep its files: Ignoring path .GIT/x' });
    expect(readFileSync(join(path, '.GIT/x'), 'utf8')).toBe('precious\n');
  });

  test.each(['new', 'all.ignored', 'sub'])('a folder that git cannot read: %s', async (name) => {
    put(join(path, name, 'file'), 'precious\n');
    chmodSync(join(path, name), 0);
    const ends = await withoutPower(async () => [await made.ended(['one', '--merge']), await discard()]);
    const list = await withoutPower(() => made.say(['list']));
    chmodSync(join(path, name), 0o755);
    const words = new RegExp(`${name}/.*: Permission denied`);
    for (const { reasons } of ends)
      expect(reasons).toMatchObject([{ reason: 'unanswered', words: expect.stringMatching(words) }]);
    // What is ignored is no change.
    if (name !== 'all.ignored') expect(list.out).toMatch(words);
    expect(readFileSync(join(path, name, 'file'), 'utf8')).toBe('precious\n');
  });

  test.each<[string, () => Readonly<Record<string, string>>]>([
    ['XDG_CONFIG_HOME', () => ({ XDG_CONFIG_HOME: join(made.folder, 'xdg') })],
    ['GIT_CONFIG_GLOBAL', () => ({ GIT_CONFIG_GLOBAL: join(made.folder, 'xdg/git/config') })],
  ])("a file that only patterns beside those of the person's %s name", async (_, given) => {
    put(join(made.folder, 'xdg/git/config'), '[core]\nexcludesFile = /dev/null\n');
    put(join(made.git.home, '.config/git/ignore'), '*.mine\n');
    put(join(path, 'x.mine'), 'precious\n');
    expect(made.git.run(path, 'status', '--porcelain')).toBe('');
    const variables = { ...made.variables, ...given() };
    const { out } = watchkeeperAgain(made.root, ['worktree', 'end', 'one', '--keep-branch', '--json'], variables);
    expect(JSON.parse(out).reasons).toMatchObject([{ reason: 'changes', words: 'it has 1 new file (x.mine)' }]);
  });
});

/** Root may read everything, so that it takes another user. */
async function withoutPower<Answer>(doing: () => Promise<Answer>): Promise<Answer> {
  if (process.getuid?.() !== 0) return doing();
  spawnSync('chown', ['-R', `${ANOTHER}:${ANOTHER}`, made.folder]);
  process.seteuid?.(ANOTHER);
  try {
    return await doing();
  } finally {
    process.seteuid?.(0);
    spawnSync('chown', ['-R', '0:0', made.folder]);
  }
}

test('the way back goes on although a hook of the repository fails', async () => {
  put(join(path, 'new'), 'new\n');
  put(join(made.root, '.git/hooks/post-checkout'), '#!/bin/sh\nexit 1\n', 0o755);
  await thereAndBack();
  expect(readFileSync(join(path, 'new'), 'utf8')).toBe('new\n');
});

describe('the branch', () => {
  test.each([
    ['begins as an option', Buffer.from('-x')],
    ['is no text', Buffer.from([0x78, 0xff])],
  ])('has another name first if it %s', async (_, name) => {
    const folder = made.git.run(path, 'rev-parse', '--absolute-git-dir').trim();
    const ref = Buffer.concat([Buffer.from('refs/heads/'), name]);
    writeFileSync(Buffer.concat([Buffer.from(`${made.root}/.git/`), ref]), `${made.head(path)}\n`);
    writeFileSync(join(folder, 'HEAD'), Buffer.concat([Buffer.from('ref: '), ref, Buffer.from('\n')]));
    const { reasons } = await made.ended([path, `--discard=${name.toString()}`]);
    expect(reasons).toMatchObject([{ reason: 'name', remedy: expect.stringContaining('branch -m NEW') }]);
    made.git.run(path, 'branch', '-m', 'feature/new');
    expect((await made.ended([path, '--discard', 'feature/new'])).removed).toBe(true);
  });

  test('with a space that is none for git comes back, and is listed', async () => {
    made.git.run(path, 'branch', '-m', 'a\u00a0b');
    put(join(path, 'new'), 'new\n');
    const { way_back } = await made.ended([path, '--discard', 'a\u00a0b']);
    const listed = JSON.parse((await made.say(['list', '--json'])).out);
    expect(listed.removed).toMatchObject([{ name: 'a\u00a0b', way_back }]);
    made.wayBack(way_back);
    expect(readdirSync(path)).toContain('new');
  });
});

test('a folder without files is no reason, and nothing that git can hold', async () => {
  mkdirSync(join(path, 'empty/below'), { recursive: true });
  expect(await made.ended(['one', '--merge'])).toMatchObject({ removed: true });
});

test('a folder whose name has a line end comes back by what is printed', async () => {
  const odd = join(made.folder, "-of 'a\nfolder%");
  made.git.run(made.root, 'worktree', 'move', path, odd);
  put(join(odd, 'new'), 'new\n');
  const { out } = await made.end(['feature/one', '--discard', 'feature/one']);
  made.wayBack(out.slice(out.indexOf('the way back:\n')).split('\n').slice(1));
  expect(readdirSync(odd)).toContain('new');
});

describe('two processes that end the same worktree', () => {
  test('at once: one does, the others say why not, and the way back is there', async () => {
    put(join(path, 'new'), 'new\n');
    const all = await Promise.all(Array.from({ length: 4 }, () => ended(['one', '--discard', 'one'])));
    const winners = all.filter(({ out }) => out.startsWith('removed: '));
    expect(winners).toMatchObject([{ code: 0 }]);
    for (const { out } of all.filter((each) => !winners.includes(each)))
      expect(out).toMatch(
        /taken away in the meantime|is removing it|is removed already|changed in the meantime|is gone|works in it/,
      );
    expect(readdirSync(join(made.root, '.git/watchkeeper/removing'))).toEqual([]);
    const { removed } = JSON.parse((await made.say(['list', '--json'])).out);
    made.wayBack(removed[0].way_back);
    expect(readdirSync(path)).toContain('new');
  });

  test('one after the other: the second does not take it for cut off while the first lives', async () => {
    made.callIn(made.root, ['worktree', 'end', 'one', '--discard', 'one'], 'worktree.confirm.after:kill:1');
    const folder = join(made.root, '.git/watchkeeper/removing');
    const file = join(folder, readdirSync(folder)[0] ?? '');
    const record = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...record, by: readProcessIdentity(record.by.host, process.pid) }));
    const said = await ended(['one', '--discard', 'one']);
    expect(said).toMatchObject({ code: 1, out: expect.stringContaining(`the process ${process.pid} is removing it`) });
    writeFileSync(file, JSON.stringify(record));
    expect((await ended(['one', '--discard', 'one'])).code).toBe(0);
  });
});

/** In a process of its own, without waiting for others. */
async function ended(args: readonly string[]): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, [compiledProgram('bridge/cli/main'), 'worktree', 'end', ...args], {
    cwd: made.root,
    env: made.variables,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (out += part));
  const [code] = await once(child, 'close');
  return { code, out };
}
