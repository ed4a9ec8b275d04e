/** The folder of a project that mirrors its sessions. */
import type { Workspace } from '../workspaces/workspace.js';
import type { Viewer } from './views.js';

/** @returns as it was named: by the caller's variable, for the caller's own workspace, else in the workspace's log. Null if by neither */
export function stateDirOf({ claims, surroundings, workspace: own }: Viewer, workspace: Workspace): string | null {
  const named = workspace.id === own.id ? surroundings.variables.MAESTRO_STATE_DIR?.trim() : '';
  return named || claims.mirrorOf(workspace);
}
