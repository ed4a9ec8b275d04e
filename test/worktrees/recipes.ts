/** Random states of a worktree, as agents and people leave them. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { PlainGit } from '../memory/git/plainGit.js';
import type { Random } from '../src/journal/random.js';

export interface Place {
  readonly git: PlainGit;
  readonly root: string;
  /** Another word in each worktree. */
  readonly word: string;
  readonly random: Random;
}

type Step = (place: Place) => void;

function write(root: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function bytes(random: Random): Buffer {
  return Buffer.from(Array.from({ length: 1 + random.below(3_000) }, () => random.below(256)));
}

function commit({ git, root }: Place, message: string): void {
  git.run(root, 'add', '-A');
  git.run(root, 'commit', '-q', '--allow-empty', '-m', message);
}

/** These make commits, in this order; each may be left out. */
const HISTORY: Readonly<Record<string, Step>> = {
  'a commit'(place) {
    write(place.root, `${place.word}.txt`, `${place.word}\n`);
    commit(place, `${place.word} does`);
  },
  'a commit that may conflict'(place) {
    write(place.root, 'b.txt', `${place.word}\n`);
    commit(place, `${place.word} changes b`);
  },
  'a detached commit'(place) {
    place.git.run(place.root, 'checkout', '-q', '--detach');
    write(place.root, `${place.word}-loose.txt`, 'loose\n');
    commit(place, `${place.word} is loose`);
  },
  'an amendment'(place) {
    write(place.root, `${place.word}-amended.txt`, 'first\n');
    commit(place, 'before the amendment');
    place.git.run(place.root, 'commit', '-q', '--amend', '-m', `${place.word}, amended`);
  },
  'a reset'(place) {
    write(place.root, `${place.word}-reset.txt`, 'gone\n');
    commit(place, 'to be reset');
    place.git.run(place.root, 'reset', '-q', '--hard', 'HEAD~1');
  },
  'a stash'(place) {
    write(place.root, 'a.txt', `stashed by ${place.word}\n`);
    write(place.root, `${place.word}-stashed`, 'new\n');
    place.git.run(place.root, 'stash', 'push', '-q', '--include-untracked');
  },
};

/** These leave the worktree as it is then, in a random order. */
const CHANGES: Readonly<Record<string, Step>> = {
  'a changed file': ({ root, word }) => appendIf(root, 'a.txt', `${word}\n`),
  'a changed binary file': ({ root, random }) => write(root, 'binary', bytes(random)),
  'a new file': ({ root, word }) => write(root, `new folder/${word} new.txt`, 'new\n'),
  'a new binary file': ({ root, random }) => write(root, 'folder/new binary', bytes(random)),
  'a file with line ends of all kinds': ({ root }) => write(root, 'ends.txt', 'one\r\ntwo\nthree\r'),
  'files that git converts when it writes them': ({ root, word }) => {
    write(root, 'all.crlf', 'one\r\ntwo\nthree\r');
    write(root, 'mark.id', `$Id: ${word} $\n`);
    write(root, 'turned.rot', `${word} is turned\n`);
  },
  'a name that is no text': ({ root }) =>
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0x41, 0x09])]), 'bytes\n'),
  'a name with quotes and line ends': ({ root }) => write(root, `"quoted' \n$(x) ü`, 'odd\n'),
  'a new link': ({ root }) => linkIf(root, 'new link', 'somewhere else'),
  'a program': ({ root }) => {
    write(root, 'run.sh', '#!/bin/sh\n');
    chmodSync(join(root, 'run.sh'), 0o755);
  },
  'another mode': ({ root }) => existsSync(join(root, 'a.txt')) && chmodSync(join(root, 'a.txt'), 0o755),
  'a staged file': ({ git, root, word }) => {
    write(root, 'staged.txt', `${word}\n`);
    git.run(root, 'add', 'staged.txt');
  },
  'a staged file that was changed again': ({ git, root, word }) => {
    write(root, 'twice.txt', `${word}\n`);
    git.run(root, 'add', 'twice.txt');
    write(root, 'twice.txt', `${word} again\n`);
  },
  'a staged file that was deleted': ({ git, root, word }) => {
    write(root, 'ghost.txt', `${word} was here\n`);
    git.run(root, 'add', 'ghost.txt');
    rmSync(join(root, 'ghost.txt'));
  },
  'a staged deletion whose file stays': ({ git, root }) => {
    git.run(root, 'rm', '-q', '--cached', '--ignore-unmatch', 'binary');
  },
  'a deleted file': ({ root }) => rmSync(join(root, 'sub/c.txt'), { force: true }),
  'a folder that became a link': ({ root }) => {
    rmSync(join(root, 'moved'), { recursive: true, force: true });
    symlinkSync('sub', join(root, 'moved'));
  },
  'a file that became a folder': ({ root }) => {
    rmSync(join(root, 'plain'), { recursive: true, force: true });
    write(root, 'plain/inner.txt', 'inner\n');
  },
  'a renamed file': ({ root, word }) => {
    if (existsSync(join(root, 'old.txt'))) renameSync(join(root, 'old.txt'), join(root, `${word}-renamed.txt`));
  },
  'a change that git does not see': ({ git, root, word }) => {
    if (git.say(root, ['update-index', '--assume-unchanged', 'hidden.txt']).code === 0)
      write(root, 'hidden.txt', `${word} hides\n`);
  },
  'files that git takes for absent': ({ git, root, word }) => {
    if (git.say(root, ['update-index', '--skip-worktree', 'one.txt', 'old.txt']).code === 0)
      write(root, 'one.txt', `${word} hides, too\n`);
  },
  'files that are to be added later': ({ git, root, word }) => {
    for (const name of ['*.txt', 'new folder/later.crlf']) write(root, name, `${word} later\n`);
    git.run(root, 'add', '--sparse', '-N', ':(literal)*.txt', 'new folder/later.crlf');
  },
  'refs of its own': ({ git, root, word }) => {
    const blob = git.say(root, ['hash-object', '-w', '--stdin'], `${word} only\n`).out.trim();
    const tag = `object ${blob}\ntype blob\ntag ${word}\ntagger a <a@b> 1 +0000\n\n${word}\n`;
    git.run(root, 'update-ref', 'refs/worktree/blob', blob);
    git.run(root, 'update-ref', 'refs/worktree/tag', git.say(root, ['mktag'], tag).out.trim());
  },
  'settings of its own': ({ git, root, word }) => {
    git.run(root, 'config', 'extensions.worktreeConfig', 'true');
    git.run(root, 'config', '--worktree', 'user.email', `${word}@example.com`);
  },
  'patterns of its own': ({ git, root }) => {
    git.say(root, ['sparse-checkout', 'set', '--no-cone', '/*', '!/moved/', '!/two.txt']);
  },
  'an ignored file': ({ root }) => write(root, 'cache.ignored', 'cache\n'),
  'a conflict that is half resolved': ({ git, root, word }) => {
    if (git.run(root, 'status', '--porcelain').trim() !== '') return;
    git.say(root, ['merge', '--squash', 'conflicting']);
    if (!git.run(root, 'ls-files', '-u').includes('one.txt')) return;
    write(root, 'one.txt', `${word} resolves\n`);
    git.run(root, 'add', 'one.txt');
  },
  'a merge in progress': ({ git, root }) => {
    if (git.run(root, 'status', '--porcelain').trim() === '') git.say(root, ['merge', 'conflicting']);
  },
};

function appendIf(root: string, path: string, text: string): void {
  if (existsSync(join(root, path))) appendFileSync(join(root, path), text);
}

function linkIf(root: string, path: string, target: string): void {
  if (!existsSync(join(root, path))) symlinkSync(target, join(root, path));
}

/** Makes what the recipes change: the first commit of all worktrees, and a branch that conflicts with each. */
export function prepare(git: PlainGit, root: string): void {
  write(root, '.gitignore', '*.ignored\n');
  write(root, '.gitattributes', 'ends.txt text=auto\n*.crlf text eol=crlf\n*.id ident\n*.rot filter=rot\n');
  for (const key of ['filter.rot.clean', 'filter.rot.smudge']) git.run(root, 'config', key, 'tr a-z n-za-m');
  write(root, 'binary', Buffer.from([0, 1, 2, 255]));
  for (const name of ['plain', 'old.txt', 'hidden.txt', 'moved/d.txt', 'one.txt', 'two.txt'])
    write(root, name, `${name}\n`);
  commit({ git, root } as Place, 'what is changed');
  git.run(root, 'checkout', '-q', '-b', 'conflicting');
  for (const name of ['one.txt', 'two.txt']) write(root, name, 'theirs\n');
  commit({ git, root } as Place, 'theirs');
  git.run(root, 'checkout', '-q', 'main');
}

const OURS: Step = (place) => {
  for (const name of ['one.txt', 'two.txt']) write(place.root, name, 'ours\n');
  commit(place, 'ours');
};

/** Brings a new worktree into a random state. @returns its steps */
export function mess(place: Place): string[] {
  const { random } = place;
  const history = Object.keys(HISTORY).filter(() => random.below(3) === 0);
  const isClean = random.below(3) === 0;
  const shuffled = random.shuffle(Object.keys(CHANGES));
  const changes = isClean ? [] : shuffled.filter((name) => random.below(name.startsWith('a conflict') ? 2 : 5) === 0);
  const merge = ['a merge in progress', 'a conflict that is half resolved'].find((name) => changes.includes(name));
  for (const name of history) HISTORY[name]?.(place);
  // A merge is made in a clean worktree, and other changes come on top of it.
  if (merge !== undefined) OURS(place);
  const ordered = merge === undefined ? changes : [merge, ...changes.filter((name) => name !== merge)];
  for (const name of ordered) CHANGES[name]?.(place);
  return [...history, ...ordered];
}
