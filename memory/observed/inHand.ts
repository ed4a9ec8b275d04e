/** The work that an agent has in hand: its open turn, and that of its sub-agents, which may continue after it has answered. */
import type { Agent } from './agents.js';
import type { OpenCall } from './calls.js';
import type { WrittenFile } from './shellWrites.js';

/** A file that a sub-agent has changed. */
export interface SubAgentsFile {
  readonly agent: string;
  readonly path: string;
}

export interface Working {
  readonly isTurnOpen: boolean;
  readonly touched: ReadonlySet<string>;
  readonly touchedBySubAgents: readonly SubAgentsFile[];
  readonly shell: { readonly unfinished: readonly WrittenFile[] };
  readonly agents: { list(): readonly Agent[] };
  openCalls(): readonly OpenCall[];
}

/** @returns whether it owes an answer, or a sub-agent has not reported back */
export function isAtWork({ isTurnOpen, agents }: Pick<Working, 'isTurnOpen' | 'agents'>): boolean {
  return isTurnOpen || agents.list().some(({ open }) => open);
}

/** @returns the files that were touched in the work that did not end */
export function filesInHand(working: Working): string[] {
  const { isTurnOpen, touched, touchedBySubAgents, agents } = working;
  const open = new Set(agents.list().flatMap((agent) => (agent.open ? [agent.id] : [])));
  const bySubAgents = touchedBySubAgents.flatMap(({ agent, path }) => (open.has(agent) ? [path] : []));
  const called = working.openCalls().flatMap(({ path }) => path ?? []);
  const written = writtenInHand(working).map(({ path }) => path);
  return [...new Set([...(isTurnOpen ? touched : []), ...bySubAgents, ...called, ...written])];
}

/** @returns the files that commands of a shell write, and have not finished */
export function writtenInHand(working: Pick<Working, 'shell' | 'openCalls'>): WrittenFile[] {
  return [...working.openCalls().flatMap(({ written }) => written), ...working.shell.unfinished];
}
