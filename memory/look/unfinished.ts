/**
 * The sessions of a workspace on which no agent works, weighed against each other. A directory may have thousands: what was found of
 * each is noted in the workspace's log, and holds until the session's worklog grows.
 */
import { statSync } from 'node:fs';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { type Condition, conditionOf } from '../condition/condition.js';
import { isDamaged } from '../condition/damage.js';
import { recordedIn, recordedOf } from '../condition/recorded.js';
import { byWeight, isUnfinished, WEIGHTS, type Weight } from '../condition/weight.js';
import { isInterrupted } from '../condition/words.js';
import { isUnused } from '../fold/unused.js';
import type { Worklog } from '../fold/worklog.js';
import type { Memory } from '../sessions/memory.js';
import { mostUrgentFirst, type OpenHere, openOne } from '../sessions/openHere.js';
import type { Viewer } from '../sessions/views.js';
import type { LeftSession } from '../workspaces/log.js';
import type { Workspace } from '../workspaces/workspace.js';
import { type Look, lookAt } from './look.js';
import { inDoubt } from './settledSince.js';
import { settledState } from './written.js';

const NO_ERROR = { throwIfNoEntry: false } as const;
/** A guess looks at no more of them. */
const MOST_GUESSED = 50;

export interface Weighed {
  readonly id: string;
  readonly weight: Weight;
  /** Its agent crashed or was cut off. */
  readonly isInterrupted: boolean;
  /** UTC epoch milliseconds. Null if there was none. */
  readonly last_activity: number | null;
}

export interface WeighedHere {
  /** The heaviest first. */
  readonly gone: readonly Weighed[];
  /** An agent of this host may be at work on these. */
  readonly atWork: readonly OpenHere[];
  /** The agents of these ran on another host. They are weighed, too. */
  readonly elsewhere: readonly OpenHere[];
}

type Weighing = Viewer & Pick<Memory, 'isBridges'>;

interface WeighOptions {
  /** The id of a session that is left out. */
  readonly except?: string | null;
  /** From then on only worklogs are read, UTC epoch milliseconds. */
  readonly until?: number;
}

export async function weighedHere(
  memory: Weighing,
  workspace: Workspace,
  { except = null, until = Number.POSITIVE_INFINITY }: WeighOptions = {},
): Promise<WeighedHere> {
  const known = memory.claims.read(workspace);
  const found = new Map<string, LeftSession>();
  const gone: Weighed[] = [];
  const unread: OpenHere[] = [];
  for (const id of known?.sessions ?? []) {
    if (id === except) continue;
    const mark = markOf(memory, id, known?.left.get(id));
    if (mark !== null) gone.push(...weighedBy(id, mark));
    else if (memory.sessions.endsEnded(id)) found.set(id, endedMark(memory, id));
    else unread.push(...openOne(memory, id));
  }
  const atWork = unread.filter(({ manning }) => manning === 'at_work');
  for (const session of mostUrgentFirst(unread.filter(({ manning }) => manning !== 'at_work'))) {
    const { mark, isNothing, ...weighed } = await weigh(memory, session, until);
    if (!isNothing) gone.push(weighed);
    if (mark !== null) found.set(session.id, mark);
  }
  await weighAgain(memory, { gone, marks: found }, until);
  noteLeft(memory, workspace, found);
  return {
    gone: gone.sort(byWeight),
    atWork: mostUrgentFirst(atWork),
    elsewhere: unread.filter(({ manning }) => manning === 'elsewhere'),
  };
}

interface Found {
  readonly gone: Weighed[];
  /** By session, what was found just now. */
  readonly marks: Map<string, LeftSession>;
}

/** Others may have finished files in doubt since that was noted. The heaviest is looked at, until one is still in doubt. */
async function weighAgain(memory: Weighing, { gone, marks }: Found, until: number): Promise<void> {
  for (const one of inDoubt(gone).slice(0, MOST_GUESSED)) {
    if (marks.has(one.id) || memory.clock.now() >= until) return;
    const [session] = openOne(memory, one.id);
    if (session === undefined) continue;
    const { mark, isNothing: _, ...weighed } = await weigh(memory, session, until);
    if (weighed.weight === one.weight) return;
    gone.splice(gone.indexOf(one), 1, weighed);
    if (mark !== null) marks.set(one.id, mark);
  }
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
function sizeOf(places: Viewer['places'], id: string): number {
  return statSync(places.worklogOf(id), NO_ERROR)?.size ?? -1;
}

function endedMark({ places, surroundings }: Pick<Viewer, 'places' | 'surroundings'>, id: string): LeftSession {
  const { boot_id } = surroundings.process;
  return { weight: null, interrupted: false, at: sizeOf(places, id), last_activity: null, boot_id };
}

/** @returns null if what was found may change although its worklog does not */
export function markFor(
  memory: Viewer,
  { id, log }: Pick<OpenHere, 'id' | 'log'>,
  { weight, damage, agent }: Pick<Condition, 'weight' | 'damage' | 'agent'>,
  last_activity: number | null,
): LeftSession | null {
  const { runs, conversations } = log.state;
  const { liveness } = memory.runsOf(log.state);
  const mayGrow =
    runs.length === 0 ? conversations.length > 0 : liveness !== 'dead' && !memory.runsOf(log.state).hasEnded;
  if (mayGrow || isDamaged(damage) || damage.newer > 0) return null;
  const { boot_id } = memory.surroundings.process;
  return { weight, interrupted: isInterrupted({ agent }), at: sizeOf(memory.places, id), last_activity, boot_id };
}

async function weigh(
  memory: Viewer,
  session: OpenHere,
  until: number,
): Promise<Weighed & { readonly isNothing: boolean; readonly mark: LeftSession | null }> {
  const { id, log, folder } = session;
  const state = settledState(memory, folder);
  const isRead = state !== null || memory.clock.now() < until;
  const recorded = state === null ? recordedOf(log.state, undefined, log.counts) : recordedIn(state);
  const { clock, settings, surroundings } = memory;
  const viewpoint = { here: surroundings.process, now: clock.now(), hours: settings.freshness, judged: null };
  const known = conditionOf(recorded, viewpoint);
  const isLooked = isRead && (state === null || (known.weight === 'files_in_doubt' && memory.clock.now() < until));
  const look = isLooked ? await lookAt(memory, session) : null;
  const condition = look?.condition ?? known;
  // It began by itself, and nothing was asked or declared in it.
  const isNothing = look !== null && isNeverAsked(look, log.state);
  const last_activity = look?.state.last_activity ?? recorded.last_activity;
  const isSure = isRead && session.manning !== 'elsewhere';
  const mark = markFor(memory, session, condition, last_activity);
  return {
    ...{ id, weight: condition.weight, isInterrupted: isInterrupted(condition), last_activity },
    isNothing,
    mark: isSure && mark !== null ? { ...mark, weight: isNothing ? null : mark.weight } : null,
  };
}

/** It cannot be seen which task a crashed agent had. It can be seen that it crashed. */
function isNeverAsked({ fold, isUnseen, condition }: Look, log: Worklog): boolean {
  return isUnused(log, fold, isUnseen) && !(isUnseen && condition.agent === 'crashed');
}

/** A memory that takes no lines is looked at all the same. */
export function noteLeft(
  { claims, isBridges }: Pick<Memory, 'claims' | 'isBridges'>,
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
export function keepMark(memory: Weighing, id: string, write: () => void): void {
  const { workspace } = memory;
  const mark = markOf(memory, id, memory.claims.read(workspace)?.left.get(id));
  write();
  if (mark !== null) noteLeft(memory, workspace, new Map([[id, { ...mark, at: sizeOf(memory.places, id) }]]));
}

/** @returns the session that a directory's next agent would most likely hear of first, as worklogs alone show it. Null if there is none */
export function likelyFirst(memory: Weighing, except: string): string | null {
  const known = memory.claims.read(memory.workspace);
  const isHeavy = (id: string) => {
    const mark = markOf(memory, id, known?.left.get(id));
    return id !== except && (mark === null || weighedBy(id, mark).some(isUnfinished));
  };
  const ids = [...(known?.sessions ?? [])].filter(isHeavy).slice(-MOST_GUESSED);
  const open = ids.flatMap((id) => openOne(memory, id)).filter(({ manning }) => manning !== 'at_work');
  return mostUrgentFirst(open)[0]?.id ?? null;
}
