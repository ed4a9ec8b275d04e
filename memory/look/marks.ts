/** What is noted of sessions on which no agent works, in the log of their workspace. It holds until a session's worklog grows. */
import { statSync } from 'node:fs';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { WEIGHTS, type Weighty } from '../condition/weight.js';
import type { Viewer } from '../sessions/views.js';
import type { LeftSession } from '../workspaces/log.js';
import type { Workspace } from '../workspaces/workspace.js';

const NO_ERROR = { throwIfNoEntry: false } as const;

export interface Weighed extends Weighty {
  readonly id: string;
  /** Its agent crashed or was cut off. */
  readonly isInterrupted: boolean;
}

/** @returns what is noted of the session, if its worklog is still what it was; else null */
export function markOf(
  { places, surroundings }: Pick<Viewer, 'places' | 'surroundings'>,
  id: string,
  mark: LeftSession | undefined,
): LeftSession | null {
  if (mark === undefined || sizeOf(places, id) !== mark.at) return null;
  // After the host was started again, a window that had answered is no crash.
  const isOfThisBoot = mark.boot_id === surroundings.process.boot_id;
  return mark.weight === 'crashed' && !isOfThisBoot ? null : mark;
}

/** @returns nothing for one that has ended, or is in the archive */
export function weighedBy(id: string, { weight, interrupted, last_activity }: LeftSession): Weighed[] {
  const known = WEIGHTS.find((each) => each === weight);
  return known === undefined ? [] : [{ id, weight: known, isInterrupted: interrupted, last_activity }];
}

/** @returns the bytes of its worklog; -1 if that is not among the sessions, but in the archive */
export function sizeOf(places: Viewer['places'], id: string): number {
  return statSync(places.worklogOf(id), NO_ERROR)?.size ?? -1;
}

/** A memory that takes no lines is looked at all the same. */
export function noteLeft(
  { claims, isBridges }: Viewer,
  workspace: Workspace,
  found: ReadonlyMap<string, LeftSession>,
): void {
  if (found.size === 0 || isBridges) return;
  try {
    claims.leave(workspace, found);
  } catch (error) {
    if (!(error instanceof UnreachableError || error instanceof UsageError)) throw error;
  }
}

/** Writes to a session something that says nothing of its work: what is noted of it still holds. */
export function keepMark(memory: Viewer, id: string, write: () => void): void {
  const { workspace } = memory;
  const mark = markOf(memory, id, memory.claims.read(workspace)?.left.get(id));
  write();
  if (mark !== null) noteLeft(memory, workspace, new Map([[id, { ...mark, at: sizeOf(memory.places, id) }]]));
}
