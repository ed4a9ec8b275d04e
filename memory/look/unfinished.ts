/**
 * The sessions of a workspace on which no agent works, weighed against each other. A directory may have thousands: what was found of
 * each is noted in the workspace's log, and holds until the session's worklog grows.
 */
import { type Condition, conditionOf } from '../condition/condition.js';
import { isDamaged } from '../condition/damage.js';
import { recordedIn, recordedOf } from '../condition/recorded.js';
import { byWeight, isToBeReported } from '../condition/weight.js';
import { isInterrupted } from '../condition/words.js';
import { isUnused } from '../fold/unused.js';
import type { Worklog } from '../fold/worklog.js';
import { mostUrgentFirst, type OpenHere, openOne } from '../sessions/openHere.js';
import type { Viewer } from '../sessions/views.js';
import type { LeftSession } from '../workspaces/log.js';
import type { Workspace } from '../workspaces/workspace.js';
import { type Look, lookAt } from './look.js';
import { markOf, noteLeft, sizeOf, type Weighed, weighedBy } from './marks.js';
import { type Locating, standingIn } from './standing.js';
import { mayHaveChanged } from './stillInDoubt.js';
import { settledState } from './written.js';

/** Each look compares a session with the others of the directory, and an agent waits for it. */
const MOST_LOOKED_AT = 10;
/** A guess looks at no more of them. */
const MOST_GUESSED = 50;

export interface WeighedHere {
  /** The heaviest first. */
  readonly gone: readonly Weighed[];
  /** An agent of this host may be at work on these. */
  readonly atWork: readonly OpenHere[];
  /** The agents of these ran on another host. They are weighed, too. */
  readonly elsewhere: readonly OpenHere[];
}

type Weighing = Locating;

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
  const { known, guests } = standingIn(memory, workspace, until);
  const guestIds = new Set(guests.map(({ id }) => id));
  const found = new Map<string, LeftSession>();
  const gone: Weighed[] = [];
  const unread: OpenHere[] = [];
  for (const id of [...(known?.sessions ?? []), ...guestIds]) {
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
    // Notes on a session are where it began.
    if (mark !== null && !guestIds.has(session.id)) found.set(session.id, mark);
  }
  await weighAgain(memory, { gone, marks: found, left: known?.left ?? new Map() }, until);
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
  /** By session, what was noted before. */
  readonly left: ReadonlyMap<string, LeftSession>;
}

/** What others did since it was noted may have changed a weight. Once one is found still in doubt, no lighter one in doubt is looked at. */
async function weighAgain(memory: Weighing, { gone, marks, left }: Found, until: number): Promise<void> {
  let isInDoubt = false;
  for (const one of mayHaveChanged(gone, left).slice(0, MOST_LOOKED_AT)) {
    if (memory.clock.now() >= until) return;
    const wasInDoubt = one.weight === 'files_in_doubt';
    if (isInDoubt && wasInDoubt) continue;
    const [session] = marks.has(one.id) ? [] : openOne(memory, one.id);
    if (session === undefined) {
      isInDoubt ||= wasInDoubt && marks.has(one.id);
      continue;
    }
    const { mark, isNothing: _, ...weighed } = await weigh(memory, session, until);
    isInDoubt ||= weighed.weight === 'files_in_doubt';
    if (weighed.weight === one.weight) continue;
    gone.splice(gone.indexOf(one), 1, weighed);
    if (mark !== null) marks.set(one.id, mark);
  }
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
  const found = markFor(memory, session, condition, last_activity);
  const by = [...new Set(look?.condition.settled.flatMap((file) => file.by ?? []))];
  const mark = found === null || by.length === 0 ? found : { ...found, by };
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

/** @returns the session that a directory's next agent would most likely hear of first, as worklogs alone show it. Null if there is none */
export function likelyFirst(memory: Weighing, except: string): string | null {
  const known = memory.claims.read(memory.workspace);
  const isHeavy = (id: string) => {
    const mark = markOf(memory, id, known?.left.get(id));
    return id !== except && (mark === null || weighedBy(id, mark).some(isToBeReported));
  };
  const ids = [...(known?.sessions ?? [])].filter(isHeavy).slice(-MOST_GUESSED);
  const open = ids.flatMap((id) => openOne(memory, id)).filter(({ manning }) => manning !== 'at_work');
  return mostUrgentFirst(open)[0]?.id ?? null;
}
