/** The sessions, agents and processes in each worktree: a session is found where it began, and where its agent is now. */
import { existsSync } from 'node:fs';
import { isServer, programOfProcess } from '../../src/agents/programs.js';
import { type ProcessPlace, processPlaces } from '../../src/host/directories.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { startersOf } from '../../src/host/processes.js';
import { readArguments } from '../../src/host/procfs.js';
import { readPurpose } from '../observed/purpose.js';
import { isAgent } from '../sessions/agentProcess.js';
import { type Manning, type OpenHere, openIn, openOne } from '../sessions/openHere.js';
import { publishedAgents } from '../sessions/published.js';
import { realOf, type Workspace, worktreeAt } from '../workspaces/workspace.js';
import { worktreeAround } from '../worktrees/worktree.js';
import { type Judge, lookAt } from './look.js';
import { type Locating, locator, placesAround } from './standing.js';

/** A guard: a longer chain of programs, each started by the next, is not followed. */
const MOST_STARTERS = 64;

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
  /** The pid of the server that works on it for a window, as in Codex. Null if its agent has a process of its own. */
  readonly server: number | null;
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

/**
 * @param judge sees whether a server is at work on a session
 * @returns by path of each worktree; one that nothing is in has empty lists
 */
export async function insideOf(
  memory: Locating,
  worktrees: readonly Path[],
  judge: Judge,
): Promise<Map<string, Inside>> {
  const published = agentsIn(memory, worktrees);
  const sessions = await sessionsIn(memory, worktrees, { published, judge });
  const all = processesIn(worktrees, memory.surroundings.process.pid);
  return new Map(
    worktrees.map(({ path }) => {
      const inside = all === null ? null : (all.get(path) ?? []);
      const agents = withUnpublished(memory, published.get(path) ?? [], inside ?? []);
      const processes = inside?.filter(({ pid }) => agents.every((agent) => agent.pid !== pid)) ?? null;
      return [path, { sessions: sessions.get(path) ?? [], agents, processes }];
    }),
  );
}

/**
 * A host has thousands of processes, so each is located once, and only those inside are read.
 * @param own the pid of this process, which is left out
 * @returns by path of the worktree; null if this host does not show where its processes work
 */
function processesIn(worktrees: readonly Path[], own: number): Map<string, ProcessPlace[]> | null {
  const places = processPlaces();
  if (places === null) return null;
  const found = new Map<string, ProcessPlace[]>(worktrees.map(({ path }) => [path, []]));
  for (const place of places) {
    const inside = found.get(worktreeAround(worktrees, place.directory)?.path ?? '');
    // The first window of any directory has started a server. It works for the windows of all, and needs no directory.
    if (place.pid !== own && inside !== undefined && !isServer(readArguments(place.pid))) inside.push(place);
  }
  return found;
}

/** A program may be several processes: one that an agent has started is another agent only if it has a session of its own. */
function withUnpublished(
  memory: Locating,
  published: readonly AgentInside[],
  inside: readonly ProcessPlace[],
): AgentInside[] {
  const { process: here, variables } = memory.surroundings;
  const more = inside.flatMap(({ pid, program }): AgentInside[] => {
    if (published.some((agent) => agent.pid === pid)) return [];
    if (!isAgent(readProcessIdentity(here.host, pid), variables, here)) return [];
    return [{ pid, program: programOfProcess(readArguments(pid)) ?? program, session_id: sessionOf(memory, pid) }];
  });
  const all = [...published, ...more];
  const isStarted = ({ pid }: AgentInside) =>
    startersOf(pid, MOST_STARTERS).some((starter) => all.some((agent) => agent.pid === starter));
  return all.filter((agent) => agent.session_id !== null || published.includes(agent) || !isStarted(agent));
}

function sessionOf({ bindings, surroundings }: Locating, pid: number): string | null {
  return bindings.sessionOf({ process: readProcessIdentity(surroundings.process.host, pid) });
}

/** Living agents, by the directory that their programs publish. */
function agentsIn(memory: Locating, worktrees: readonly Path[]): Map<string, AgentInside[]> {
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
  memory: Locating,
  worktrees: readonly Path[],
  { published, judge }: { readonly published: ReadonlyMap<string, readonly AgentInside[]>; readonly judge: Judge },
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
      found.get(place.root)?.set(session.id, insideValue(memory, session, where));
      if (now !== null) guests.push([now, session]);
    }
  }
  for (const [path, inside] of published)
    for (const { session_id } of inside)
      if (session_id !== null) guests.push(...openOne(memory, session_id).map((session) => [path, session] as const));
  for (const [path, session] of guests)
    if (found.get(path)?.has(session.id) === false)
      found.get(path)?.set(session.id, insideValue(memory, session, A_GUEST));
  const all = new Map<string, SessionInside[]>();
  for (const [path, sessions] of found) all.set(path, await withTranscripts(memory, [...sessions.values()], judge));
  return all;
}

/** Only the transcript says the purpose of a session that began by itself, and whether a server is at work on it. */
async function withTranscripts(
  memory: Locating,
  sessions: readonly SessionInside[],
  judge: Judge,
): Promise<SessionInside[]> {
  const all: SessionInside[] = [];
  for (const session of sessions) {
    const { purpose, agent, server } = session;
    const opened = purpose === '' || server !== null ? memory.look(session.session_id) : null;
    if (opened === null) {
      all.push(session);
      continue;
    }
    const isOver = server !== null && (await lookAt(memory, opened, { judge })).condition.doing === 'idle';
    all.push({
      ...session,
      purpose: purpose || (await readPurpose(opened.log.state, memory.programs, memory.stamp.redact)),
      agent: isOver ? 'left' : agent,
    });
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
  memory: Locating,
  { id, log, manning }: OpenHere,
  where: Pick<SessionInside, 'holds' | 'is_own' | 'agent_is_here'>,
): SessionInside {
  const pids = memory.runsOf(log.state).goingHere.map(({ process }) => process.pid);
  const server = pids.find((pid) => isServer(readArguments(pid))) ?? null;
  return { session_id: id, purpose: log.state.facts?.purpose ?? '', ...where, agent: manning, server };
}
