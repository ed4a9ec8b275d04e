/** The sessions, agents and processes in each worktree: a session is found where it began, and where its agent is now. */

import { type ProcessPlace, processPlaces } from '../../src/host/directories.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { isAgent } from '../sessions/agentProcess.js';
import type { Memory } from '../sessions/memory.js';
import { type Manning, type OpenHere, openIn } from '../sessions/openHere.js';
import { publishedAgents } from '../sessions/published.js';
import { realOf, worktreeAt } from '../workspaces/workspace.js';
import { worktreeAround } from '../worktrees/worktree.js';
import { lastDirectory } from './presentDirectory.js';

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

/** @returns by path of each worktree; one that nothing is in has empty lists */
export function insideOf(memory: Memory, worktrees: readonly Path[]): Map<string, Inside> {
  const agents = agentsIn(memory, worktrees);
  const found = sessionsIn(memory, worktrees, agents);
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

function sessionsIn(
  memory: Memory,
  worktrees: readonly Path[],
  agents: ReadonlyMap<string, readonly AgentInside[]>,
): Map<string, SessionInside[]> {
  const found = new Map<string, SessionInside[]>(worktrees.map(({ path }) => [path, []]));
  for (const { path } of worktrees) {
    const workspace = worktreeAt(path);
    const holder = memory.claims.read(workspace)?.holder?.session_id ?? null;
    for (const session of openIn(memory, workspace)) {
      const at = pathOfAgent(memory, session, worktrees, agents) ?? path;
      const one = insideValue(session, { holds: session.id === holder, is_own: true, agent_is_here: at === path });
      found.get(path)?.push(one);
      if (at !== path) found.get(at)?.push({ ...one, holds: false, is_own: false, agent_is_here: true });
    }
  }
  return found;
}

function insideValue(
  { id, log, manning }: OpenHere,
  where: Pick<SessionInside, 'holds' | 'is_own' | 'agent_is_here'>,
): SessionInside {
  return { session_id: id, purpose: log.state.facts?.purpose ?? '', ...where, agent: manning };
}

/** @returns the worktree in which the agent of a session is, or was last; null if that is none of them, or it is not known */
function pathOfAgent(
  { programs }: Memory,
  { id, log, manning }: OpenHere,
  worktrees: readonly Path[],
  agents: ReadonlyMap<string, readonly AgentInside[]>,
): string | null {
  const published = [...agents].find(([, inside]) => inside.some((agent) => agent.session_id === id));
  if (published !== undefined) return published[0];
  // An agent that has ended in order works nowhere.
  if (programs === null || manning === 'left') return null;
  const conversation = log.state.conversations.findLast(({ moved_at }) => moved_at === null);
  const directory = conversation === undefined ? null : lastDirectory(conversation, programs);
  return directory === null ? null : (worktreeAround(worktrees, realOf(directory))?.path ?? null);
}
