/** Compares the files that phases name with those that were seen to change, by their transcripts or on the disk. */
import { resolve } from 'node:path';
import { sightOfEntry } from '../../src/files/seenFile.js';
import { SECOND } from '../../src/time.js';
import { MOST_ENTRIES } from '../fold/bounds.js';
import type { Step, Worklog } from '../fold/worklog.js';
import { otherWorktreesIn } from '../git/otherWorktrees.js';
import type { ObservedFile } from '../observed/files.js';
import type { Observed } from '../observed/observed.js';

/** Some file systems keep a time in whole pairs of seconds, and none that of the call itself. */
const COARSEST_TIME_MS = 2 * SECOND;

/** A file that a phase names as created, modified or deleted, and that nothing shows to be so. */
export interface UnseenFile {
  readonly phase: string;
  readonly path: string;
  /** `missing`: it was not to be deleted, and does not exist. `unchanged`: nothing changed it after the phase began. */
  readonly why: 'missing' | 'unchanged';
}

interface Record {
  readonly log: Pick<Worklog, 'steps'>;
  /** Null if nothing was observed. */
  readonly fold: Pick<Observed, 'files'> | null;
}

/**
 * A file that cannot be looked at is not among them.
 * @param phases the ids of those that are compared
 * @param root the directory that paths start from
 */
export function unseenFiles({ log, fold }: Record, phases: readonly string[], root: string): UnseenFile[] {
  return phases.flatMap((phase) => {
    const step = log.steps.get(phase);
    if (step === undefined) return [];
    const { started_at: began, files } = step;
    const deleted = new Set(files.deleted);
    return [...new Set([...files.created, ...files.modified, ...deleted])].flatMap((path): UnseenFile[] => {
      const stat = sightOfEntry(resolve(root, path));
      if (stat === 'none') return deleted.has(path) ? [] : [{ phase, path, why: 'missing' }];
      if (stat === 'unknown') return [];
      const since = (began ?? 0) - COARSEST_TIME_MS;
      // An unpacked or copied file may keep an older time of change, but not the time at which its entry was made.
      if (Math.max(stat.mtimeMs, stat.ctimeMs) >= since || isChangedSince(fold?.files.get(path), since)) return [];
      return [{ phase, path, why: 'unchanged' }];
    });
  });
}

/**
 * @param root the directory that paths start from. Changes in another worktree below it are changes there
 * @returns the files that were seen to change while phases were in progress, and that no phase names, although each of those phases is
 *   settled by now. The first ones
 */
export function unattributedChanges({ log, fold }: Record, root: string): string[] {
  if (fold === null) return [];
  const isElsewhere = otherWorktreesIn(root);
  const steps = [...log.steps.values()];
  const named = new Set(steps.flatMap(({ files }) => [...files.created, ...files.modified, ...files.deleted]));
  const paths: string[] = [];
  for (const [path, file] of fold.files) {
    if (file.change === 'read' || named.has(path) || (file.from !== null && named.has(file.from))) continue;
    const during = steps.filter((step) => isDuring(step, file.at));
    if (during.length === 0 || during.some(({ status }) => status === 'in_progress')) continue;
    if (paths.length < MOST_ENTRIES && !isElsewhere(path)) paths.push(path);
  }
  return paths;
}

function isChangedSince(file: ObservedFile | undefined, since: number): boolean {
  return file !== undefined && file.change !== 'read' && file.at >= since;
}

function isDuring({ spans }: Step, at: number): boolean {
  return spans.some(({ from, until }) => from <= at && at <= (until ?? Number.POSITIVE_INFINITY));
}
