/** Whether branches are merged, against a table made by hand; with real git, and the repository as it was before. */
// covers: memory/worktrees/again.ts memory/worktrees/changes.ts
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { withRepository } from '../../../memory/git/repository.js';
import { type Answer, MOST_IN_A_LIST, Target } from '../../../memory/worktrees/merged.js';
import { testFolder } from '../../harness/folder.js';
import { PlainGit, put } from '../git/plainGit.js';
import { CASES, type Case, type Hands, makeCase, numbered } from './branches.js';
import { everyFile } from './scene.js';

const LIMITS = { about: 'commits', preparingMs: 10_000, askingMs: 30_000 } as const;

interface Question {
  readonly target?: string;
  readonly tip?: string;
  readonly most?: number;
}

function answerOf(git: PlainGit, root: string, { target = 'main', tip = 'side', most }: Question = {}): Answer {
  const [into = '', commit = ''] = git.run(root, 'rev-parse', target, tip).split('\n');
  const answer = withRepository(root, git.variables, LIMITS, (repository) =>
    new Target(repository, into, most ?? MOST_IN_A_LIST).answer(commit),
  );
  if (answer === null) throw new Error('not a repository');
  return answer;
}

function made(one: Pick<Case, 'make'>): Hands {
  const folder = testFolder();
  return makeCase(new PlainGit(folder), join(folder, 'work'), one);
}

function caseOf(name: string): Case {
  const found = CASES.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no case ${name}`);
  return found;
}

const briefly = ({ merged, why, now }: Pick<Answer, 'merged' | 'why' | 'now'>) => ({ merged, why, now });

test.each(CASES)('$name: $merged, $why; no byte is changed', (one) => {
  const { git, root } = made(one);
  const before = everyFile(root);
  expect(briefly(answerOf(git, root))).toEqual(briefly(one));
  expect(everyFile(root)).toEqual(before);
});

/** The first case of each reason: an answer is made of commits alone, wherever they are. */
const REASONS = CASES.filter((one, at) => CASES.findIndex(({ why }) => why === one.why) === at);

test.each(REASONS)('$name: $merged, $why, also in a clone that has only fetched it', (one) => {
  const { git, root } = made(one);
  const clone = join(testFolder(), 'clone');
  git.run(root, 'clone', '-q', '-b', 'side', root, clone);
  expect(briefly(answerOf(git, clone, { target: 'origin/main' }))).toEqual(briefly(one));
});

test('the configuration, the attributes and the aliases of a user change no answer', () => {
  const names = ['squashed and the same lines changed since', 'conflicting', 'rebased', 'mode only'];
  for (const name of names) {
    const one = caseOf(name);
    const { git, root } = made(one);
    appendFileSync(join(root, '.git/config'), CONFIGURED);
    put(join(git.home, '.gitconfig'), `[core]\n\tattributesFile = ${join(git.home, 'attributes')}\n`);
    put(join(git.home, 'attributes'), '* merge=union -diff\n');
    put(join(git.home, '.config/git/attributes'), '* merge=union -diff\n');
    put(join(root, '.gitattributes'), '* merge=union -diff\n');
    expect(briefly(answerOf(git, root))).toEqual(briefly(one));
  }
});

/** Each changes what git prints, or runs a program that fails. */
const CONFIGURED = `
[diff]
	external = false
	noprefix = true
	mnemonicPrefix = true
	algorithm = patience
	context = 0
	renames = copies
[color]
	ui = always
	diff = always
[merge]
	renames = false
	default = union
[core]
	abbrev = 4
	whitespace = -trailing-space
	fileMode = false
[filter "all"]
	clean = false
[alias]
	merge-tree = version
	rev-list = "!false"
`;

test("a merge by the rules of the target's own attributes does not conflict", () => {
  const { git, root } = made({
    make: (hands) => {
      hands.commit({ '.gitattributes': 'log.txt merge=union\n', 'log.txt': 'begun\n' });
      hands.on('side', '-b');
      hands.commit({ 'log.txt': 'begun\nside\n' });
      hands.on('main');
      hands.commit({ 'log.txt': 'begun\nmain\n' });
    },
  });
  expect(briefly(answerOf(git, root))).toEqual({ merged: 'no', why: 'not_merged', now: 'changes' });
});

describe('what is said besides', () => {
  test('which commit has the whole change, and which files conflict', () => {
    const { git, root } = made(caseOf('squashed and the same lines changed since'));
    const commit = git.run(root, 'rev-parse', 'main~1').trim();
    expect(answerOf(git, root)).toMatchObject({ commit, conflicts: ['a.txt'] });
  });

  test('how many commits were picked', () => {
    const { git, root } = made(caseOf('partly picked'));
    expect(answerOf(git, root).picked).toEqual({ count: 1, of: 2 });
  });
});

describe('it is not known', () => {
  const long = {
    make: (hands: Hands) => {
      hands.side();
      hands.on('main');
      hands.squash();
      hands.run('revert', '--no-edit', 'HEAD');
      for (const line of [1, 2, 3]) hands.commit({ 'b.txt': numbered(line, 'later') });
    },
  };

  test('if the target has more commits than are looked at; none is overlooked before that', () => {
    const { git, root } = made(long);
    expect(briefly(answerOf(git, root, { most: 4 }))).toEqual({ merged: 'unknown', why: 'too_far', now: 'changes' });
    expect(briefly(answerOf(git, root, { most: 5 }))).toEqual({ merged: 'yes', why: 'squashed', now: 'changes' });
  });

  test('if the branch itself has more', () => {
    const { git, root } = made(caseOf('conflicting'));
    expect(briefly(answerOf(git, root, { most: 1 }))).toMatchObject({ merged: 'unknown', why: 'too_far' });
  });

  test('in a shallow clone that ends before they parted', () => {
    const { git, root } = made(caseOf('conflicting'));
    const clone = join(testFolder(), 'clone');
    git.run(root, 'clone', '-q', '--depth=1', '--no-single-branch', '-b', 'side', `file://${root}`, clone);
    expect(answerOf(git, clone, { target: 'origin/main' })).toMatchObject({ merged: 'unknown', why: 'shallow' });
  });

  test('if git is too old, or an object is not there', () => {
    const { git, root } = made(caseOf('conflicting'));
    const folder = testFolder();
    const real = git.variables.PATH;
    const old = `#!/bin/sh\ncase "$*" in *merge-tree*) exit 129;; esac\nPATH='${real}' exec git "$@"\n`;
    put(join(folder, 'git'), old, 0o755);
    const aged = { ...git, run: git.run.bind(git), variables: { ...git.variables, PATH: `${folder}:${real}` } };
    expect(answerOf(aged as unknown as PlainGit, root)).toMatchObject({ merged: 'unknown', why: 'old_git' });
    const tree = git.run(root, 'rev-parse', 'side:a.txt').trim();
    rmSync(join(root, '.git/objects', tree.slice(0, 2), tree.slice(2)));
    expect(answerOf(git, root)).toMatchObject({ merged: 'unknown', why: 'unreadable' });
  });
});
