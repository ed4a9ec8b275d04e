/** Folders that are made once for a test file and then copied: to make a repository takes some 10 processes of git, a copy takes none. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

/** Git puts them into every repository, and runs none of them. */
const SAMPLE = '.sample';
/** Files in which git notes where a linked worktree is, and a remote. */
const WITH_PATHS = ['.git', 'gitdir', 'config'];

interface Entry {
  /** Relative to the folder. */
  readonly path: string;
  readonly mode: number;
  /** The bytes of a file, the goal of a link; null for a folder. */
  readonly contents: Buffer | string | null;
}

/** What was in a folder. */
export interface Snapshot {
  readonly folder: string;
  readonly entries: readonly Entry[];
}

const known = new Map<string, Snapshot>();

/**
 * Fills a folder: the first time with `make`, afterwards with a copy of what that has made. The paths of linked worktrees and of
 * remotes in it are those of the copy.
 * @param name of what it is filled with
 * @param folder must be empty, or not there, unless `make` can do with what is in it
 */
export function filled(name: string, folder: string, make: () => void): void {
  const snapshot = known.get(name);
  if (snapshot !== undefined) write(snapshot, folder);
  else {
    make();
    known.set(name, snapshotOf(folder));
  }
}

/** @returns whether nothing is in a folder */
export function isEmpty(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).length === 0;
}

export function snapshotOf(folder: string): Snapshot {
  return { folder, entries: entriesIn(folder) };
}

/** Gives a folder back what was in it, and nothing else. */
export function restore(snapshot: Snapshot): void {
  for (const name of readdirSync(snapshot.folder)) rmSync(join(snapshot.folder, name), { recursive: true });
  write(snapshot, snapshot.folder);
}

function entriesIn(folder: string): Entry[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => !path.endsWith(SAMPLE));
  return paths.sort().map((path) => {
    const stat = lstatSync(join(folder, path));
    const contents = stat.isSymbolicLink()
      ? readlinkSync(join(folder, path))
      : stat.isDirectory()
        ? null
        : readFileSync(join(folder, path));
    return { path, mode: stat.mode, contents };
  });
}

function write({ folder: from, entries }: Snapshot, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { path, mode, contents } of entries) {
    const to = join(folder, path);
    if (contents === null) mkdirSync(to, { recursive: true, mode });
    else if (typeof contents === 'string') symlinkSync(contents, to);
    else if (WITH_PATHS.includes(basename(path))) writeFileSync(to, contents.toString().replaceAll(from, folder));
    else writeFileSync(to, contents, { mode });
  }
}
