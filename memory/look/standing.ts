/**
 * The one answer to the question where a session stands: in the workspace where it began, in those whose logs name it, and in the one
 * where its agent is, or was last. No hook fires when an agent moves on, so its program's files say where it is.
 */
import { existsSync } from 'node:fs';
import { UnreachableError, UsageError } from '../../src/errors.js';
import type { Worklog } from '../fold/worklog.js';
import type { Memory } from '../sessions/memory.js';
import { mostUrgentFirst, type OpenHere, openIn, openOne } from '../sessions/openHere.js';
import { type PublishedAgent, publishedAgents } from '../sessions/published.js';
import type { Viewer } from '../sessions/views.js';
import type { WorkspaceState } from '../workspaces/log.js';
import { realOf, type Workspace, worktreeAt } from '../workspaces/workspace.js';
import { registeredIn, repositoryAt } from '../worktrees/place.js';
import { markOf } from './marks.js';
import { lastDirectory } from './presentDirectory.js';

/** Sessions of one other place that are looked at, the last begun first: an agent's start waits for it. */
const MOST_LOOKED_AT = 50;

/** Sees where the agents of sessions are. */
export type Locating = Viewer & Pick<Memory, 'bindings'>;

/** A session, as far as it says where its agent is. */
export interface Located {
  readonly id: string;
  readonly log: { readonly state: Worklog };
}

/** A session that began elsewhere, and whose agent is in the workspace. */
export interface Guest {
  readonly id: string;
  /** Where its agent is, or was last. */
  readonly directory: string;
}

export interface Standing {
  /** The state of the workspace's log. Null if it has had no session. */
  readonly known: WorkspaceState | null;
  /** Those that its log does not name. */
  readonly guests: readonly Guest[];
}

/**
 * @param until no more sessions are looked at from then on, UTC epoch milliseconds
 * @returns the sessions that stand in a workspace
 */
export function standingIn(memory: Locating, workspace: Workspace, until = Number.POSITIVE_INFINITY): Standing {
  const known = memory.claims.read(workspace);
  const { variables } = memory.surroundings;
  const isIn = (directory: string) => memory.claims.workspaceOf(directory, variables).id === workspace.id;
  const published = publishedHere(memory);
  const may = mayBeGuests(memory, workspace, known?.sessions ?? new Set(), published);
  if (may.length === 0) return { known, guests: [] };
  const locate = locator(memory, published);
  const guests = may.flatMap((id): Guest[] => {
    if (memory.clock.now() >= until || memory.sessions.endsEnded(id)) return [];
    const [session] = openOne(memory, id);
    const directory = session === undefined ? null : locate(session);
    return directory !== null && isIn(directory) ? [{ id, directory }] : [];
  });
  return { known, guests };
}

/** @returns the sessions that stand in the caller's workspace and have not ended, the most urgent first */
export function openHere(memory: Locating): OpenHere[] {
  const { workspace } = memory;
  const { guests } = standingIn(memory, workspace);
  return mostUrgentFirst([...openIn(memory, workspace), ...guests.flatMap(({ id }) => openOne(memory, id))]);
}

/** Sessions of some directories, for a list of them. */
export interface Within {
  /** The ids of the workspaces where they began. */
  readonly workspaces: ReadonlySet<string>;
  /** Those that came there. */
  readonly sessions: ReadonlySet<string>;
}

type OnUnreadable = (error: UnreachableError) => void;

/**
 * @param onUnreadable is called for each log that cannot be read
 * @returns the sessions that stand in the caller's workspace
 */
export function withinWorkspace(memory: Locating, onUnreadable: OnUnreadable): Within {
  const { workspace } = memory;
  const workspaces = new Set([workspace.id]);
  try {
    const { known, guests } = standingIn(memory, workspace);
    return { workspaces, sessions: new Set([...(known?.sessions ?? []), ...guests.map(({ id }) => id)]) };
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    onUnreadable(error);
    return { workspaces, sessions: new Set() };
  }
}

/**
 * @param onUnreadable is called for each log that cannot be read
 * @returns the sessions of all worktrees of the caller's repository, also of removed ones, and of its container
 * @throws UsageError if the caller is in no repository
 */
export function withinRepository(memory: Locating, onUnreadable: OnUnreadable): Within {
  const { workspace, claims, surroundings } = memory;
  const place = repositoryAt(surroundings.directory);
  if (place === null) throw new UsageError(`${surroundings.directory} is in no git repository: change to one first`);
  const present = [workspace, ...placesAround(workspace)].map(({ id }) => id);
  const locate = locator(memory);
  const isInside = (directory: string) => existsSync(directory) && repositoryAt(directory)?.id === place.id;
  // An agent that came from another repository; each of this one began in one of its places.
  const guests = publishedHere(memory).flatMap((agent) => sessionOf(memory, agent) ?? []);
  const sessions = guests.filter((id) => {
    const directory = openOne(memory, id).map(locate)[0] ?? null;
    return directory !== null && isInside(directory);
  });
  return {
    workspaces: new Set([...present, ...claims.worktrees.ofRepository(place.id, onUnreadable)]),
    sessions: new Set(sessions),
  };
}

/** @returns where the agent of a session is, or was last; null if it is not known */
export function directoryOfAgent(memory: Locating, session: Located): string | null {
  return locator(memory)(session);
}

/** As {@link directoryOfAgent}, for many sessions. */
export function locator(memory: Locating, agents = publishedHere(memory)): (session: Located) => string | null {
  const { programs } = memory;
  const published = new Map<string, string>();
  for (const agent of agents) {
    const id = agent.isAlive ? sessionOf(memory, agent) : null;
    if (id !== null) published.set(id, agent.state.directory);
  }
  return ({ id, log }) => {
    const present = published.get(id);
    if (present !== undefined) return realOf(present);
    const conversation = log.state.conversations.findLast(({ moved_at }) => moved_at === null);
    const directory = programs === null || conversation === undefined ? null : lastDirectory(conversation, programs);
    return directory === null ? null : realOf(directory);
  };
}

function publishedHere({ programs, surroundings }: Locating): PublishedAgent[] {
  return programs === null ? [] : publishedAgents(programs, surroundings.process);
}

function sessionOf({ bindings }: Locating, { provider, conversation, process }: PublishedAgent): string | null {
  return bindings.sessionOf({ provider, conversation }) ?? bindings.sessionOf({ process });
}

/** @returns sessions whose agents may be in the workspace: those of the same repository, and those of agents that publish a directory */
function mayBeGuests(
  memory: Locating,
  workspace: Workspace,
  known: ReadonlySet<string>,
  agents: readonly PublishedAgent[],
): string[] {
  if (memory.isBridges) return [];
  const published = agents.flatMap((agent) => sessionOf(memory, agent) ?? []);
  const others = placesAround(workspace).flatMap((place) => unsettledOf(memory, place));
  return [...new Set([...published, ...others])].filter((id) => !known.has(id));
}

/** @returns the other places of the repository where an agent may have begun: checkouts, also removed ones, and a container's folders */
export function placesAround({ id, root }: Workspace): Workspace[] {
  const place = existsSync(root) ? repositoryAt(root) : null;
  if (place === null) return [];
  const roots = [place.home, place.common, ...registeredIn(place.common).flatMap((one) => one.root ?? [])];
  return [...new Set(roots.map((path) => realOf(path)))].map(worktreeAt).filter((other) => other.id !== id);
}

/** @returns the sessions of a place, without those that `keep` has entered where their agents ended, the last begun first */
function unsettledOf(memory: Locating, place: Workspace): string[] {
  const state = memory.claims.read(place);
  const isSettled = (id: string) => markOf(memory, id, state?.left.get(id))?.interrupted === false;
  return [...(state?.sessions ?? [])]
    .reverse()
    .filter((id) => !isSettled(id))
    .slice(0, MOST_LOOKED_AT);
}
