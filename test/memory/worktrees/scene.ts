/** A repository with worktrees of its own making, by git as people use it. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { type ListedWorktree, listWorktrees, type WorktreeList } from '../../../memory/worktrees/list.js';
import { type RepositoryPlace, repositoryAt } from '../../../memory/worktrees/place.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { testFolder } from '../../harness/folder.js';
import { filled } from '../git/copies.js';
import { PlainGit } from '../git/plainGit.js';

const HERE = readProcessIdentity('host');
const LARGE_BYTES = 1024 ** 2;

export class Worktrees {
  /** Without links. */
  readonly folder = realpathSync(testFolder());
  readonly git = new PlainGit(this.folder);
  readonly root = join(this.folder, 'work');

  /**
   * @param options of `git init`
   * @param name of what `prepare` does
   * @param prepare does more in the new repository, without the fields of a class that extends this one
   */
  constructor(
    options: readonly string[] = [],
    name = 'worktrees',
    prepare: (made: Worktrees) => void = () => undefined,
  ) {
    filled([name, ...options].join(' '), this.folder, () => {
      this.git.repository(this.root, ...options);
      prepare(this);
    });
  }

  /** @returns where {@link add} makes the worktree of a branch */
  placeOf(branch: string): string {
    return join(`${this.root}.worktrees`, branch.replace('/', '-'));
  }

  /** @returns the path of a new worktree on a new branch */
  add(branch: string, path = this.placeOf(branch)): string {
    this.git.run(this.root, 'worktree', 'add', '-q', '-b', branch, path, 'main');
    return path;
  }

  list(directory = this.root): WorktreeList {
    const found = listWorktrees(placeOf(directory), HERE, this.git.variables);
    if (found === null) throw new Error('git does not answer');
    return found;
  }

  /** @returns the worktree of a path as {@link list} has it */
  at(path: string, directory = this.root): ListedWorktree {
    const found = this.list(directory).worktrees.find((worktree) => worktree.path === path);
    if (found === undefined) throw new Error(`no worktree ${path}`);
    return found;
  }
}

export function placeOf(directory: string): RepositoryPlace {
  const place = repositoryAt(directory);
  if (place === null) throw new Error(`no repository at ${directory}`);
  return place;
}

/** @returns mode, time and contents of each file below a folder. Git renews the times of objects that it would have written */
export function everyFile(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    const stat = lstatSync(join(root, path));
    const digest = stat.isFile() ? digestOf(join(root, path), stat) : '';
    const time = /(^|\/)(\.git|\.bare)\/objects\//.test(path) ? '' : stat.mtimeMs;
    found[path] = `${stat.mode} ${time} ${digest}`;
  }
  return found;
}

function digestOf(path: string, { size, blocks }: Stats): string {
  // It is one hole, of which reading every byte takes seconds.
  if (size > LARGE_BYTES && blocks === 0) return `${size} zeros`;
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
