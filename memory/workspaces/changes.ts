/**
 * The changes of a workspace between two looks: files that were created, modified or deleted, by their size and the
 * time of their last change. Links count as themselves. Files that git ignores do not count.
 */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { seenEntry } from '../../src/files/seenFile.js';
import { parseJson } from '../../src/json.js';
import type { Redact } from '../../src/log/redact.js';

export const MOST_ENTRIES = 20_000;
/** UTF-16 units of all paths together. */
const MOST_PATHS_LENGTH = 4 * 1024 * 1024;
/** Paths of each kind that are named; the rest is counted. */
const MOST_NAMED = 200;
const VERSION = 1;
const OF_GIT = '.git';

const scanSchema = z.looseObject({
  v: z.number(),
  at: z.number(),
  complete: z.boolean(),
  entries: z.record(z.string(), z.tuple([z.number(), z.number()])),
  by_git: z.optional(z.boolean()),
});

export interface Scan {
  readonly v: number;
  /** UTC epoch milliseconds. */
  readonly at: number;
  /** Whether every file is in it. False if there are too many. */
  readonly complete: boolean;
  /** Size in bytes and time of the last change by path, relative to the workspace. */
  readonly entries: Readonly<Record<string, readonly [number, number]>>;
  /** Whether git said which files count. Older versions did not note it. */
  readonly by_git?: boolean | undefined;
}

export interface Changed {
  readonly count: number;
  /** The first ones. */
  readonly paths: readonly string[];
}

export interface Changes {
  readonly created: Changed;
  readonly modified: Changed;
  readonly deleted: Changed;
}

export interface ScannedFiles {
  /** Files that git knows or could add, relative to the workspace. Null if every file below it counts. */
  readonly listed: readonly string[] | null;
  /** Left out. */
  isOwn(path: string): boolean;
}

/**
 * @param redact for the paths, which are stored
 * @param now UTC epoch milliseconds
 */
export function scanWorkspace(root: string, { listed, isOwn }: ScannedFiles, redact: Redact, now: number): Scan {
  // Without a prototype: a file may be called `__proto__`.
  const entries: Record<string, readonly [number, number]> = Object.create(null);
  const scan = { v: VERSION, at: now, entries, by_git: listed !== null };
  let count = 0;
  let length = 0;
  for (const path of listed ?? filesBelow(root, '')) {
    if (isOwn(path)) continue;
    const stat = seenEntry(join(root, path));
    if (stat === undefined || stat.isDirectory()) continue;
    count += 1;
    length += path.length;
    if (count > MOST_ENTRIES || length > MOST_PATHS_LENGTH) return { ...scan, complete: false };
    entries[redact(path)] = [stat.size, stat.mtimeMs];
  }
  return { ...scan, complete: true };
}

/**
 * @returns the scan that was stored; null if the text is damaged, `newer` if a newer version has written it
 */
export function readScan(text: string): Scan | 'newer' | null {
  const value = parseJson(text);
  const parsed = scanSchema.safeParse(value);
  const { v } = (parsed.success ? parsed.data : (value ?? {})) as { readonly v?: unknown };
  if (typeof v === 'number' && v > VERSION) return 'newer';
  return parsed.success ? parsed.data : null;
}

/**
 * @param exists whether a file is there, by its path. A scan lacks some of too many files, and those that git ignores by now
 * @returns the changes between two scans, as far as they know
 */
export function changesBetween(before: Scan, after: Scan, exists: (path: string) => boolean): Changes {
  const paths = Object.keys(after.entries);
  const known = new Set(Object.keys(before.entries));
  const now = new Set(paths);
  return {
    // A file that the earlier scan had no room for is new only if it was changed after that scan.
    created: named(paths.filter((path) => !known.has(path) && (before.complete || mtimeIn(after, path) > before.at))),
    modified: named(paths.filter((path) => known.has(path) && !isSame(before.entries[path], after.entries[path]))),
    deleted: named([...known].filter((path) => !now.has(path) && !exists(path))),
  };
}

function mtimeIn({ entries }: Scan, path: string): number {
  return entries[path]?.[1] ?? 0;
}

function isSame(left: readonly [number, number] | undefined, right: readonly [number, number] | undefined): boolean {
  return left?.[0] === right?.[0] && left?.[1] === right?.[1];
}

function named(paths: readonly string[]): Changed {
  return { count: paths.length, paths: paths.slice(0, MOST_NAMED) };
}

/** In the same order each time. A folder that cannot be read has no files. */
function* filesBelow(root: string, folder: string): Generator<string> {
  for (const entry of entriesOf(join(root, folder))) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) yield path;
    else if (entry.name !== OF_GIT) yield* filesBelow(root, path);
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch {
    return [];
  }
}
