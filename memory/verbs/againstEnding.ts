/** The reasons against the removal of a worktree that git does not know: processes, sessions, jobs of a bridge, handoffs. */

import type { ProcessPlace } from '../../src/host/directories.js';
import { systemProcessTable } from '../../src/host/processes.js';
import { shellWord } from '../../src/log/shellWords.js';
import { isInside } from '../git/gitLine.js';
import { Handoffs } from '../handoffs/handoffs.js';
import type { Inside } from '../look/inWorktrees.js';
import type { Memory } from '../sessions/memory.js';
import { realOf, worktreeAt } from '../workspaces/workspace.js';
import type { Reason } from '../worktrees/reasons.js';
import { type Worktree, worktreeAround } from '../worktrees/worktree.js';
import type { BridgeWork } from './verb.js';

/** More shells than a person has one in the other. */
const MOST_ABOVE = 64;

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
export function offeredIn(memory: Memory): Map<string, string[]> {
  const handoffs = new Handoffs(memory);
  const found = new Map<string, string[]>();
  for (const id of handoffs.ids()) {
    const state = handoffs.read(id)?.state;
    if (state === undefined || state.answer !== null) continue;
    found.set(state.offer.workspace, [...(found.get(state.offer.workspace) ?? []), id]);
  }
  return found;
}

/** @returns the reasons 1 to 4 */
export function reasonsAround(memory: Memory, { path }: Worktree, around: Around): Reason[] {
  const inside = around.inside.get(path);
  const offered = around.offered.get(worktreeAt(path).id) ?? [];
  return [
    ...processReasons(inside, { ...around, isCaller: isInside(realOf(memory.surroundings.directory), path) }),
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

function processReasons(
  inside: Inside | undefined,
  { home, isCaller }: Pick<Around, 'home'> & { readonly isCaller: boolean },
): Reason[] {
  const found: Pick<ProcessPlace, 'pid' | 'program'>[] = [...(inside?.agents ?? []), ...(inside?.processes ?? [])];
  const own = found.length > 0 ? ancestors() : new Set<number>();
  const remedy = `\`cd ${shellWord(home)}\``;
  const isShellFound = found.some(({ pid }) => own.has(pid));
  return [
    ...(isCaller && !isShellFound
      ? [{ reason: 'in_use', words: 'this command was called in it', remedy } as const]
      : []),
    ...found.map(({ pid, program }): Reason => {
      const words = `${program} (pid ${pid})`;
      if (own.has(pid))
        return { reason: 'in_use', words: `${words}, which has called this command, works in it`, remedy };
      const end = `end it, or let it change its directory: \`kill ${pid}\``;
      return { reason: 'in_use', words: `${words} works in it`, remedy: end };
    }),
  ];
}

/** @returns the pids of the processes that have started this one */
function ancestors(): Set<number> {
  const table = systemProcessTable();
  const found = new Set<number>();
  let pid = process.ppid;
  for (let count = 0; pid > 1 && count < MOST_ABOVE && !found.has(pid); count += 1) {
    found.add(pid);
    pid = table.find(pid)?.parent ?? 0;
  }
  return found;
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
function sessionReasons(memory: Memory, inside: Inside | undefined): Reason[] {
  const holding = inside?.sessions.filter(({ holds }) => holds) ?? [];
  const explicit = holding.filter(({ session_id }) => memory.look(session_id)?.log.state.facts?.explicit === true);
  return explicit.map(({ session_id, purpose }) => ({
    reason: 'session',
    words: `the session ${session_id} holds it: ${purpose}`,
    remedy: `\`watchkeeper work end --session ${session_id}\``,
  }));
}
