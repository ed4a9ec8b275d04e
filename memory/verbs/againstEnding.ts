/** The reasons against the removal of a worktree that git does not know: processes, sessions, jobs of a bridge, handoffs. */

import type { ProcessPlace } from '../../src/host/directories.js';
import { startersOf } from '../../src/host/processes.js';
import { shellWord } from '../../src/log/shellWords.js';
import { isInside } from '../git/outside.js';
import type { Handoffs } from '../handoffs/handoffs.js';
import type { Inside } from '../look/inWorktrees.js';
import type { Viewer } from '../sessions/views.js';
import { realOf, worktreeAt } from '../workspaces/workspace.js';
import type { Reason } from '../worktrees/reasons.js';
import { type Worktree, worktreeAround } from '../worktrees/worktree.js';
import type { BridgeWork } from './verb.js';

/** More shells than a person has one in the other. */
const MOST_ABOVE = 64;
const MOST_STARTED = 5;
const SHELLS: ReadonlySet<string> = new Set(['ash', 'bash', 'csh', 'dash', 'fish', 'ksh', 'sh', 'tcsh', 'zsh']);
/** Before the name of a shell that a login has started. */
const LOGIN = /^-/;

/** The facts about all worktrees, asked for once. */
export interface Around {
  readonly inside: ReadonlyMap<string, Inside>;
  /** Work of the bridge, wherever it is. */
  readonly bridge: readonly BridgeWork[];
  /** The handoffs that are on offer, by workspace. */
  readonly offered: ReadonlyMap<string, readonly string[]>;
  readonly worktrees: readonly Worktree[];
  /** A directory that stays, for the caller's own shell. */
  readonly home: string;
}

/** @returns the ids of the handoffs that are without an answer, by the workspace of their author */
export function offeredIn(handoffs: Handoffs): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const id of handoffs.ids()) {
    const state = handoffs.read(id)?.state;
    if (state === undefined || state.answer !== null) continue;
    found.set(state.offer.workspace, [...(found.get(state.offer.workspace) ?? []), id]);
  }
  return found;
}

/** @returns the reasons 1 to 4 */
export function reasonsAround(memory: Viewer, { path }: Pick<Worktree, 'path'>, around: Around): Reason[] {
  const inside = around.inside.get(path);
  const offered = around.offered.get(worktreeAt(path).id) ?? [];
  return [
    ...processReasons(inside, { ...around, isCaller: isInside(realOf(memory.surroundings.directory), path) }),
    ...servedReasons(inside),
    ...bridgeReasons(path, around),
    ...sessionReasons(memory, inside),
    ...offered.map(
      (id): Reason => ({
        reason: 'handoff',
        words: `the handoff ${id} of it is on offer`,
        remedy: `\`watchkeeper handoff accept ${id} --as follow\`, or \`watchkeeper handoff withdraw ${id}\``,
      }),
    ),
  ];
}

/** The programs that an agent has started are named with it: they end with it, and a person knows none of them. */
function processReasons(
  inside: Inside | undefined,
  { home, isCaller }: Pick<Around, 'home'> & { readonly isCaller: boolean },
): Reason[] {
  const agents = inside?.agents ?? [];
  const all: readonly Found[] = [...agents, ...(inside?.processes ?? [])];
  const own = new Set(all.length > 0 ? startersOf(process.pid, MOST_ABOVE) : []);
  const isShellFound = all.some(({ pid }) => own.has(pid));
  const remedy = `\`cd ${shellWord(home)}\``;
  const pids = new Set(agents.map(({ pid }) => pid));
  // Without `/proc`, each look at a process starts a program.
  const starters = new Map(
    all.map(({ pid }) => [pid, own.has(pid) ? undefined : startersOf(pid, MOST_ABOVE).find((one) => pids.has(one))]),
  );
  return [
    ...(isCaller && !isShellFound
      ? [{ reason: 'in_use', words: 'this command was called in it', remedy } as const]
      : []),
    ...all
      .filter((found) => starters.get(found.pid) === undefined)
      .map((found): Reason => {
        const caller = own.has(found.pid) ? ', which has called this command,' : '';
        const started = startedWords(all.filter((one) => starters.get(one.pid) === found.pid));
        const words = `${named(found)}${caller} works in it${started}`;
        return { reason: 'in_use', words, remedy: caller === '' ? endOf(found) : remedy };
      }),
  ];
}

/** An agent that works in the server of its program has no process in the worktree. */
function servedReasons(inside: Inside | undefined): Reason[] {
  const served = inside?.sessions.filter(({ server, agent }) => server !== null && agent === 'at_work') ?? [];
  return served.map(({ session_id, server }) => ({
    reason: 'in_use',
    words: `an agent works in it on session ${session_id}, in the server of its program (pid ${server})`,
    remedy: 'wait until it has answered, or stop it in a window of its program',
  }));
}

type Found = Pick<ProcessPlace, 'pid' | 'program'>;

function named({ pid, program }: Found): string {
  return `${program.replace(LOGIN, '')} (pid ${pid})`;
}

function startedWords(started: readonly Found[]): string {
  if (started.length === 0) return '';
  const names = started.slice(0, MOST_STARTED).map(named);
  const more = started.length - names.length;
  return `, with what it has started: ${names.join(', ')}${more === 0 ? '' : `, and ${more} more`}`;
}

/** A shell that waits for a person ignores SIGTERM. */
function endOf({ pid, program }: Found): string {
  const isShell = SHELLS.has(program.replace(LOGIN, ''));
  return `end it, or let it change its directory: \`kill ${isShell ? '-HUP ' : ''}${pid}\``;
}

function bridgeReasons(path: string, { bridge, worktrees }: Around): Reason[] {
  const here = bridge.filter(({ directory }) => worktreeAround(worktrees, realOf(directory))?.path === path);
  return here.map(({ session_id, status }) => ({
    reason: 'bridge',
    words: `a bridge ${status === 'active' ? 'runs' : 'has queued'} ${session_id} there`,
    remedy: `wait for it, or \`watchkeeper cancel ${session_id}\``,
  }));
}

/** Sessions that hooks have begun come and go with their agents, which are looked for as processes. */
function sessionReasons(memory: Viewer, inside: Inside | undefined): Reason[] {
  const holding = inside?.sessions.filter(({ holds }) => holds) ?? [];
  const explicit = holding.filter(({ session_id }) => memory.look(session_id)?.log.state.facts?.explicit === true);
  return explicit.map(({ session_id, purpose }) => ({
    reason: 'session',
    words: `the session ${session_id} holds it: ${purpose}`,
    remedy: `\`watchkeeper work end --session ${session_id}\``,
  }));
}
