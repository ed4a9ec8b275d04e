/** Files that may be half written: their agent died before it had finished them. */

import { relative, resolve, sep } from 'node:path';
import { sightOf } from '../../src/files/seenFile.js';
import type { Worklog } from '../fold/worklog.js';
import { filesInHand, writtenInHand } from '../observed/inHand.js';
import type { Observed } from '../observed/observed.js';

export interface DoubtfulFile {
  /** Relative to the directory, if it is inside. */
  readonly path: string;
  /** The step that it was declared for. Null if none, or if it was only observed. */
  readonly step: string | null;
  readonly exists: boolean;
  readonly size: number | null;
  /** Whether it was changed after it was last mentioned. */
  readonly changed_since: boolean | null;
  /** The place in git of a newer version: `stash@{0}`, `branch NAME` or `HEAD@{1}`. Missing if none is known. */
  readonly kept_in?: string;
}

/** The declared and the observed side of a session. */
export interface Known {
  readonly log: Pick<Worklog, 'files' | 'steps'>;
  /** Null if nothing was observed. */
  readonly fold: Observed | null;
}

/**
 * @param directory that relative paths start from, without links
 * @returns files in progress, then those that were touched after the last end of a turn, or in an abandoned turn, or that an open call
 *   was changing
 */
export function filesInDoubt({ log, fold }: Known, directory: string): DoubtfulFile[] {
  const doubtful = new Map<string, { step: string | null; at: number; isDeleted: boolean; begun: number | null }>();
  for (const [path, { status, step, at }] of log.files)
    if (status === 'working') doubtful.set(path, { step, at, isDeleted: false, begun: null });
  for (const { path, at, begun } of fold === null ? [] : touchedIn(fold)) {
    const name = nameIn(directory, path);
    if (isDone(log, name, at)) continue;
    const declared = doubtful.get(name);
    // A file that is gone, as the agent wanted, is not half written.
    const isDeleted = declared === undefined && fold?.files.get(path)?.change === 'deleted';
    const times = { at: Math.max(declared?.at ?? 0, at), begun: declared === undefined ? begun : null };
    doubtful.set(name, { step: declared?.step ?? null, isDeleted, ...times });
  }
  return [...doubtful].flatMap(([path, { step, at, isDeleted, begun }]) => {
    const sight = sightOf(resolve(directory, path));
    if (sight === 'none' && isDeleted) return [];
    const stat = typeof sight === 'string' ? null : sight;
    if (begun !== null && (stat === null || stat.mtimeMs < begun)) return [];
    const changed_since = stat === null ? null : stat.mtimeMs > at;
    return [{ path, step, exists: sight !== 'none', size: stat?.size ?? null, changed_since }];
  });
}

/**
 * Looks at no file: there may be thousands.
 * @param directory without links, as programs name it
 * @returns the path relative to the directory; an absolute path if it is outside
 */
export function nameIn(directory: string, path: string): string {
  const absolute = resolve(directory, path);
  const inside = relative(directory, absolute);
  return inside === '' || inside === '..' || inside.startsWith(`..${sep}`) ? absolute : inside;
}

/** A person or an agent said later that it is done, or completed a step that names it. */
function isDone({ files, steps }: Known['log'], name: string, at: number): boolean {
  const declared = files.get(name);
  if (declared?.status === 'done' && declared.at > at) return true;
  return [...steps.values()].some(
    ({ status, ended_at, files: { created, modified } }) =>
      status === 'completed' && (ended_at ?? 0) > at && (created.includes(name) || modified.includes(name)),
  );
}

interface Touched {
  readonly path: string;
  /** When it was last mentioned, UTC epoch milliseconds. */
  readonly at: number;
  /** When a command began that writes it in one of its parts, and may not have come to that. Null if it was seen to be changed. */
  readonly begun: number | null;
}

function touchedIn(fold: Observed): Touched[] {
  const written = [...fold.leftTurns.flatMap((turn) => turn.written), ...writtenInHand(fold)];
  const paths = new Set([...fold.leftTurns.flatMap(({ files }) => files), ...filesInHand(fold)]);
  return [...paths].map((path) => {
    const seen = fold.files.get(path)?.at ?? null;
    const first = written.find((file) => file.path === path)?.begun ?? null;
    return { path, at: seen ?? first ?? fold.lastActivity ?? 0, begun: seen === null ? first : null };
  });
}
