/** The sessions, agents and processes in each worktree: a session is found where it began, and where its agent is now. */
import { existsSync } from 'node:fs';
import { type ProcessPlace, processPlaces } from '../../src/host/directories.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { readPurpose } from '../observed/purpose.js';
import { isAgent } from '../sessions/agentProcess.js';
import type { Memory } from '../sessions/memory.js';
import { type Manning, type OpenHere, openIn, openOne } from '../sessions/openHere.js';
import { publishedAgents } from '../sessions/published.js';
import { realOf, type Workspace, worktreeAt } from '../workspaces/workspace.js';
import { worktreeAround } from '../worktrees/worktree.js';
import { locator, placesAround } from './standing.js';

export interface SessionInside {
  readonly session_id: string;
  readonly purpose: string;
  /** Whether it holds the worktree. */
  readonly holds: boolean;
  /** Whether it began there, or was declared there. */
  readonly is_own: boolean;
  readonly agent: Manning;
  /** Whether its agent was there last. */
  readonly agent_is_here: boolean;
}

export interface AgentInside {
  readonly pid: number;
  readonly program: string;
  /** Null if no session of this memory is its. */
  readonly session_id: string | null;
}

export interface Inside {
  readonly sessions: readonly SessionInside[];
  readonly agents: readonly AgentInside[];
  /** Those that are no agents; null if this host does not show where processes work. */
  readonly processes: readonly ProcessPlace[] | null;
}

type Path = { readonly path: string };

/** For a session that the log of a worktree does not name. */
const A_GUEST = { holds: false, is_own: false, agent_is_here: true } as const;

/** @returns by path of each worktree; one that nothing is in has empty lists */
export async function insideOf(memory: Memory, worktrees: readonly Path[]): Promise<Map<string, Inside>> {
  const agents = agentsIn(memory, worktrees);
  const found = await sessionsIn(memory, worktrees, agents);
  const places = processPlaces();
  const { process: here, variables } = memory.surroundings;
  return new Map(
    worktrees.map(({ path }) => {
      const inside =
        places?.filter(({ pid, directory }) => pid !== here.pid && isIn(worktrees, path, directory)) ?? null;
      const known = agents.get(path) ?? [];
      const more = (inside ?? []).filter(
        ({ pid }) =>
          known.every((agent) => agent.pid !== pid) && isAgent(readProcessIdentity(here.host, pid), variables, here),
      );
      const unpublished = more.map(({ pid, program }) => ({ pid, program, session_id: sessionOf(memory, pid) }));
      const all = [...known, ...unpublished];
      const processes = inside?.filter(({ pid }) => all.every((agent) => agent.pid !== pid)) ?? null;
      return [path, { sessions: found.get(path) ?? [], agents: all, processes }];
    }),
  );
}

function isIn(worktrees: readonly Path[], path: string, directory: string): boolean {
  return worktreeAround(worktrees, directory)?.path === path;
}

function sessionOf({ bindings, surroundings }: Memory, pid: number): string | null {
  return bindings.sessionOf({ process: readProcessIdentity(surroundings.process.host, pid) });
}

/** Living agents, by the directory that their programs publish. */
function agentsIn(memory: Memory, worktrees: readonly Path[]): Map<string, AgentInside[]> {
  const { surroundings, bindings } = memory;
  const found = new Map<string, AgentInside[]>();
  for (const { isAlive, provider, conversation, process, state } of publishedAgents(
    surroundings.variables,
    surroundings.process,
  )) {
    const path = isAlive ? worktreeAround(worktrees, realOf(state.directory))?.path : undefined;
    if (path === undefined) continue;
    const session_id = bindings.sessionOf({ provider, conversation }) ?? bindings.sessionOf({ process });
    found.set(path, [...(found.get(path) ?? []), { pid: process.pid, program: provider, session_id }]);
  }
  return found;
}

async function sessionsIn(
  memory: Memory,
  worktrees: readonly Path[],
  agents: ReadonlyMap<string, readonly AgentInside[]>,
): Promise<Map<string, SessionInside[]>> {
  const found = new Map<string, Map<string, SessionInside>>(worktrees.map(({ path }) => [path, new Map()]));
  const locate = locator(memory);
  const guests: (readonly [path: string, session: OpenHere])[] = [];
  for (const place of placesOf(worktrees)) {
    const holder = memory.claims.read(place)?.holder?.session_id ?? null;
    for (const session of openIn(memory, place)) {
      const directory = locate(session);
      const now = directory === null ? null : (worktreeAround(worktrees, directory)?.path ?? null);
      const { facts } = session.log.state;
      const is_own = facts === null || facts.workspace === place.id;
      const where = { holds: session.id === holder, is_own, agent_is_here: (now ?? place.root) === place.root };
      found.get(place.root)?.set(session.id, insideValue(session, where));
      if (now !== null) guests.push([now, session]);
    }
  }
  for (const [path, inside] of agents)
    for (const { session_id } of inside)
      if (session_id !== null) guests.push(...openOne(memory, session_id).map((session) => [path, session] as const));
  for (const [path, session] of guests)
    if (found.get(path)?.has(session.id) === false) found.get(path)?.set(session.id, insideValue(session, A_GUEST));
  const all = new Map<string, SessionInside[]>();
  for (const [path, sessions] of found) all.set(path, await withPurposes(memory, [...sessions.values()]));
  return all;
}

/** Only the transcript says the purpose of a session that began by itself. */
async function withPurposes(memory: Memory, sessions: readonly SessionInside[]): Promise<SessionInside[]> {
  const all: SessionInside[] = [];
  for (const session of sessions) {
    const log = session.purpose === '' ? memory.look(session.session_id)?.log.state : undefined;
    const purpose = log === undefined ? session.purpose : await readPurpose(log, memory.programs, memory.stamp.redact);
    all.push({ ...session, purpose });
  }
  return all;
}

/** With the folders that are no worktrees, but where agents of the repository begin all the same. */
function placesOf(worktrees: readonly Path[]): Workspace[] {
  const own = worktrees.map(({ path }) => worktreeAt(path));
  const around = own.find(({ root }) => existsSync(root));
  const others = around === undefined ? [] : placesAround(around);
  return [...new Map([...own, ...others].map((place) => [place.id, place])).values()];
}

function insideValue(
  { id, log, manning }: OpenHere,
  where: Pick<SessionInside, 'holds' | 'is_own' | 'agent_is_here'>,
): SessionInside {
  return { session_id: id, purpose: log.state.facts?.purpose ?? '', ...where, agent: manning };
}
