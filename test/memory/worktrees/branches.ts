/**
 * Branches made by hand, each with the answer that was written down before: whether it is merged into `main`, why, and what merging it
 * now would do. `main` has the commits of {@link PlainGit.repository}; `side` begins at the second one.
 */
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from '../../../memory/worktrees/merged.js';
import { type PlainGit, put } from '../git/plainGit.js';

type Expected = Pick<Answer, 'merged' | 'why' | 'now'>;

export interface Case extends Expected {
  readonly name: string;
  make(hands: Hands): unknown;
}

/** Works in a checkout, as people do. */
export class Hands {
  readonly git: PlainGit;
  readonly root: string;

  constructor(git: PlainGit, root: string) {
    this.git = git;
    this.root = root;
  }

  run(...args: string[]): string {
    return this.git.run(this.root, ...args);
  }

  on(branch: string, ...options: string[]): void {
    this.run('checkout', '-q', ...options, branch);
  }

  commit(files: Readonly<Record<string, string | null>>, message = 'a change'): void {
    for (const [name, text] of Object.entries(files)) {
      if (text === null) rmSync(join(this.root, name));
      else put(join(this.root, name), text);
    }
    this.git.commitAll(this.root, message);
  }

  mode(name: string, mode: number): void {
    chmodSync(join(this.root, name), mode);
    this.git.commitAll(this.root, `${name} is ${mode.toString(8)}`);
  }

  squash(branch = 'side'): void {
    this.run('merge', '-q', '--squash', branch);
    this.git.commitAll(this.root, `squash of ${branch}`);
  }

  /** Makes `side` with a change of `a.txt` and a new file, in two commits. */
  side(): void {
    this.on('side', '-b');
    this.commit({ 'a.txt': numbered(3, 'side') });
    this.commit({ 'new.txt': 'new\n' });
  }
}

/** @returns twenty lines; one of them with other words */
export function numbered(line = 0, words = ''): string {
  const lines = Array.from({ length: 20 }, (_, index) => (index + 1 === line ? words : `line ${index + 1}`));
  return `${lines.join('\n')}\n`;
}

const YES = { merged: 'yes', now: 'nothing' } as const;
const YES_CHANGES = { merged: 'yes', now: 'changes' } as const;
const YES_CONFLICTS = { merged: 'yes', now: 'conflicts' } as const;
const NO = { merged: 'no', why: 'not_merged', now: 'changes' } as const;

export const CASES: readonly Case[] = [
  { name: 'same', ...YES, why: 'same', make: (hands) => hands.run('branch', 'side') },
  {
    name: 'ancestor',
    ...YES,
    why: 'ancestor',
    make: (hands) => {
      hands.run('branch', 'side');
      hands.commit({ 'b.txt': 'further\n' });
    },
  },
  { name: 'ahead of a target that has not moved', ...NO, make: (hands) => hands.side() },
  {
    name: 'merge commit',
    ...YES,
    why: 'ancestor',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.commit({ 'b.txt': 'further\n' });
      hands.run('merge', '-q', '--no-edit', 'side');
    },
  },
  {
    name: 'squashed',
    ...YES,
    why: 'nothing_to_change',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.commit({ 'b.txt': 'further\n' });
      hands.squash();
    },
  },
  {
    name: 'squashed and the same lines changed since',
    ...YES_CONFLICTS,
    why: 'squashed',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.squash();
      hands.commit({ 'a.txt': numbered(3, 'main') });
    },
  },
  {
    name: 'squashed beside a change of its neighbour lines, and the same lines changed since',
    ...YES_CONFLICTS,
    why: 'squashed',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.commit({ 'a.txt': numbered(5, 'main') });
      hands.squash();
      hands.commit({ 'a.txt': numbered(3, 'main') });
    },
  },
  {
    name: 'squashed and the file deleted since',
    ...YES_CONFLICTS,
    why: 'squashed',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.squash();
      hands.commit({ 'a.txt': null });
    },
  },
  {
    name: 'squashed and reverted',
    ...YES_CHANGES,
    why: 'squashed',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.squash();
      hands.run('revert', '--no-edit', 'HEAD');
    },
  },
  {
    name: 'merged and reverted',
    ...YES,
    why: 'ancestor',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.run('merge', '-q', '--no-ff', '--no-edit', 'side');
      hands.run('revert', '--no-edit', '-m', '1', 'HEAD');
    },
  },
  {
    name: 'binary, squashed, and changed since',
    ...YES_CONFLICTS,
    why: 'squashed',
    make: (hands) => {
      hands.on('side', '-b');
      hands.commit({ 'a.txt': 'binary\0side' });
      hands.on('main');
      hands.squash();
      hands.commit({ 'a.txt': 'binary\0main' });
    },
  },
  {
    name: 'main merged into it, squashed, and changed since',
    ...YES_CONFLICTS,
    why: 'squashed',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.commit({ 'b.txt': 'further\n' });
      hands.on('side');
      hands.run('merge', '-q', '--no-edit', 'main');
      hands.commit({ 'new.txt': 'newer\n' });
      hands.on('main');
      hands.squash();
      hands.commit({ 'a.txt': numbered(3, 'main') });
    },
  },
  {
    name: 'rebased',
    ...YES_CONFLICTS,
    why: 'picked',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.commit({ 'b.txt': 'further\n' });
      hands.run('cherry-pick', 'side~1', 'side');
      hands.commit({ 'a.txt': numbered(3, 'main') });
    },
  },
  {
    name: 'picked in another order',
    ...YES_CHANGES,
    why: 'picked',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.run('cherry-pick', 'side', 'side~1');
      hands.run('revert', '--no-edit', 'HEAD');
    },
  },
  {
    name: 'the same change made by others',
    ...YES,
    why: 'nothing_to_change',
    make: (hands) => {
      hands.on('side', '-b');
      hands.commit({ 'a.txt': numbered(3, 'fixed') });
      hands.on('main');
      hands.commit({ 'a.txt': numbered(3, 'fixed'), 'b.txt': 'further\n' });
    },
  },
  {
    name: 'empty commit',
    ...YES,
    why: 'nothing_to_change',
    make: (hands) => {
      hands.on('side', '-b');
      hands.commit({});
      hands.on('main');
      hands.commit({ 'b.txt': 'further\n' });
    },
  },
  {
    name: 'net nothing',
    ...YES,
    why: 'nothing_to_change',
    make: (hands) => {
      hands.side();
      hands.run('revert', '--no-edit', 'HEAD', 'HEAD~1');
      hands.on('main');
      hands.commit({ 'a.txt': numbered(3, 'main') });
    },
  },
  {
    name: 'conflicting',
    merged: 'no',
    why: 'conflicting',
    now: 'conflicts',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.commit({ 'a.txt': numbered(3, 'main') });
    },
  },
  {
    name: 'other binary contents of the same file',
    merged: 'no',
    why: 'conflicting',
    now: 'conflicts',
    make: (hands) => {
      hands.on('side', '-b');
      hands.commit({ 'a.txt': 'binary\0side' });
      hands.on('main');
      hands.commit({ 'a.txt': 'binary\0main' });
    },
  },
  {
    name: 'partly picked',
    ...NO,
    why: 'partly_picked',
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.commit({ 'b.txt': 'further\n' });
      hands.run('cherry-pick', 'side~1');
    },
  },
  {
    name: 'squashed with one file left out',
    ...NO,
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.run('merge', '-q', '--squash', 'side');
      hands.run('rm', '-q', '-f', '--cached', 'new.txt');
      hands.run('commit', '-q', '-m', 'squash without a file');
    },
    why: 'partly_picked',
  },
  {
    name: 'squashed and one commit more',
    ...NO,
    make: (hands) => {
      hands.side();
      hands.on('main');
      hands.squash();
      hands.on('side');
      hands.commit({ 'more.txt': 'more\n' });
    },
  },
  {
    name: 'mode only',
    ...NO,
    make: (hands) => {
      hands.on('side', '-b');
      hands.mode('a.txt', 0o755);
      hands.on('main');
      hands.commit({ 'b.txt': 'further\n' });
    },
  },
  {
    name: 'contents and mode, where main has the contents only',
    ...NO,
    make: (hands) => {
      hands.on('side', '-b');
      put(join(hands.root, 'a.txt'), numbered(3, 'side'));
      hands.mode('a.txt', 0o755);
      hands.on('main');
      hands.commit({ 'a.txt': numbered(3, 'side') });
    },
  },
  {
    name: 'deletion only',
    ...NO,
    make: (hands) => {
      hands.on('side', '-b');
      hands.commit({ 'a.txt': null });
      hands.on('main');
      hands.commit({ 'b.txt': 'further\n' });
    },
  },
  {
    name: 'white space, where main has changed other white space of the same line, and back',
    ...NO,
    make: (hands) => {
      hands.on('side', '-b');
      hands.commit({ 'a.txt': numbered(3, '    line 3') });
      hands.on('main');
      hands.commit({ 'a.txt': numbered(3, '  line 3') });
      hands.commit({ 'a.txt': numbered() });
    },
  },
  {
    name: 'the same lines at another place',
    ...NO,
    make: (hands) => {
      hands.on('side', '-b');
      hands.commit({ 'a.txt': numbered(3, 'line 3\nthe same') });
      hands.on('main');
      hands.commit({ 'a.txt': numbered(15, 'line 15\nthe same') });
    },
  },
  {
    name: 'a change that main had made and taken back before they parted',
    ...NO,
    make: (hands) => {
      hands.commit({ 'a.txt': numbered(3, 'side') });
      hands.commit({ 'a.txt': numbered() });
      hands.on('side', '-b');
      hands.commit({ 'a.txt': numbered(3, 'side') });
      hands.on('main');
      hands.commit({ 'b.txt': 'further\n' });
    },
  },
  {
    name: 'its commit picked, but not what its merge adds',
    ...NO,
    why: 'partly_picked',
    make: (hands) => {
      hands.on('side', '-b');
      hands.commit({ 'a.txt': numbered(3, 'side') });
      hands.on('main');
      hands.commit({ 'b.txt': 'further\n' });
      hands.on('side');
      hands.run('merge', '-q', '--no-commit', 'main');
      hands.commit({ 'evil.txt': 'in no commit of one parent\n' });
      hands.on('main');
      hands.run('cherry-pick', 'side~1');
    },
  },
  {
    name: 'unrelated',
    merged: 'unknown',
    why: 'unrelated',
    now: null,
    make: (hands) => {
      hands.on('side', '--orphan');
      hands.commit({ 'a.txt': 'of another history\n' });
      hands.on('main', '-f');
    },
  },
];

/** Makes the repository of a case; `main` is checked out then. */
export function makeCase(git: PlainGit, root: string, { make }: Pick<Case, 'make'>): Hands {
  const hands = new Hands(git, git.repository(root));
  hands.commit({ 'a.txt': numbered() });
  make(hands);
  return hands;
}
