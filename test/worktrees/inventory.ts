/** All that a worktree holds, so that it can be compared with what comes back. */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PlainGit } from '../memory/git/plainGit.js';

const NOT_KEPT = /\.ignored$/;

/** A file of `git add -N` is not among them. */
const STAGED = ['diff-index', '--cached', '--raw', '-z', '--no-renames', '--ita-invisible-in-index', 'HEAD'];

export interface Inventory {
  readonly head: string;
  /** Null if none is checked out. */
  readonly branch: string | null;
  /** As git lists its index, with the marks of files, and what is staged. */
  readonly index: string;
  /** Kind, mode and contents by the bytes of each path; without ignored files. */
  readonly files: Readonly<Record<string, string>>;
  /** What git has for it alone: refs, settings and patterns. */
  readonly own: string;
  /** Every commit that its logs and the stash name. */
  readonly commits: readonly string[];
}

export function inventoryOf(git: PlainGit, root: string): Inventory {
  const branch = git.say(root, ['symbolic-ref', '--short', '-q', 'HEAD']).out.trim() || null;
  const logged = git.run(root, 'log', '-g', '--format=%H', 'HEAD').trim().split('\n');
  const ofBranch = branch === null ? '' : git.say(root, ['log', '-g', '--format=%H', branch]).out;
  const stashed = git.say(root, ['log', '-g', '--format=%H %P', 'refs/stash']).out;
  const commits = new Set([...logged, ...ofBranch.split('\n'), ...stashed.split(/\s/)].filter((word) => word !== ''));
  return {
    head: git.run(root, 'rev-parse', 'HEAD').trim(),
    branch,
    index: [['ls-files', '-s', '-v', '-z'], STAGED].map((words) => git.run(root, ...words)).join('\n'),
    files: filesIn(root),
    own: [
      git.run(root, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/worktree/'),
      ...['config.worktree', 'info/sparse-checkout'].map((name) =>
        textIn(git.run(root, 'rev-parse', '--absolute-git-dir').trim(), name),
      ),
    ].join('\n'),
    commits: [...commits],
  };
}

function textIn(folder: string, name: string): string {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'latin1') : '';
}

function filesIn(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const names = readdirSync(bytesOf(join(root, folder)), { encoding: 'buffer' }).map((name) =>
      name.toString('latin1'),
    );
    for (const name of names) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (path === '.git' || NOT_KEPT.test(path)) continue;
      const place = bytesOf(join(root, path));
      const stat = lstatSync(place);
      if (stat.isDirectory()) folders.push(path);
      else if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(place)}`;
      else found[path] = `${(stat.mode & 0o100) === 0 ? 'file' : 'program'} ${readFileSync(place, 'hex')}`;
    }
  }
  return found;
}

/** @param path in which each character of a name is one byte */
function bytesOf(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}

/** @returns the differences, in words; none if they are the same */
export function differences(before: Inventory, after: Inventory): string[] {
  const paths = new Set([...Object.keys(before.files), ...Object.keys(after.files)]);
  return [
    ...(before.head === after.head ? [] : [`HEAD was ${before.head}, and is ${after.head}`]),
    ...(before.branch === after.branch ? [] : [`the branch was ${before.branch}, and is ${after.branch}`]),
    ...(before.index === after.index ? [] : ['the index is another one']),
    ...(before.own === after.own ? [] : [`what git has for it alone was ${before.own}, and is ${after.own}`]),
    ...[...paths]
      .filter((path) => before.files[path] !== after.files[path])
      .map((path) => `the file ${JSON.stringify(path)} is another one`),
  ];
}
