/** The paths of a session's work as a reader of its branch knows them. */
import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { Worklog } from '../fold/worklog.js';
import { directoryOfAgent, type Locating } from '../look/standing.js';
import type { ShownFile } from '../observed/combined.js';
import { pathInWorkspace, type Workspace } from '../workspaces/workspace.js';

/** @returns a path as it is in its worktree; null for a file that is no part of the work */
export type OwnPath = (path: string) => string | null;

/**
 * The agent may have entered another worktree: its files there are part of the work, and their paths begin there.
 * @returns for paths that are absolute, or begin where the session began
 */
export function ownPathOf(memory: Locating, log: Worklog): OwnPath {
  const own = memory.workspaceOf(log);
  if (own === null) return (path) => (/^(?:[/~]|\.\.)/.test(path) ? null : path);
  const entered = enteredBy(memory, log, own);
  const places = entered === null ? [own] : [entered, own];
  return (path) => {
    for (const place of places) {
      const inside = pathInWorkspace(resolve(own.root, path), place.root, place);
      if (!isAbsolute(inside) && !inside.startsWith('..')) return inside;
    }
    return null;
  };
}

/** @returns whether a file was changed in the work, or the record says that it is done or worked on; not if that was taken back */
export function isOfWork({ change, status, rewound }: ShownFile): boolean {
  const isChanged = change !== undefined && change !== 'read';
  return rewound !== true && (isChanged || status === 'done' || status === 'working');
}

/** @returns the worktree that the agent was in last; null if the session began there */
function enteredBy(memory: Locating, log: Worklog, own: Workspace): Workspace | null {
  const directory = directoryOfAgent(memory, { id: log.session_id ?? '', log: { state: log } });
  if (directory === null) return null;
  const workspace = existsSync(directory)
    ? memory.claims.workspaceOf(directory, memory.surroundings.variables)
    : { ...own, root: directory };
  return workspace.root === own.root || workspace.kind !== 'git' ? null : workspace;
}
