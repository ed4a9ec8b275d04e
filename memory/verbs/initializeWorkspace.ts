import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { describeError, UnreachableError, UsageError } from '../../src/errors.js';
import { makeMirror, mirrorAt } from '../mirror/mirror.js';
import { requireOwnMemory } from '../sessions/ownMemory.js';
import { given } from './fields.js';
import { verb } from './verb.js';

export const initializeWorkspace = verb({
  name: 'initialize_workspace',
  summary: 'make a directory known, and name the folder that mirrors its active session',
  isAnywhere: true,
  fields: {
    workspace_path: { ...given(z.string()), missing: 'workspace_path is missing: the path of a directory' },
    /** Null for no mirror any more. */
    state_dir: given(z.optional(z.nullable(z.string()))),
  },
  run(memory, { workspace_path: path, state_dir: named }) {
    const { claims, surroundings, places } = memory;
    requireOwnMemory(places);
    const workspace = claims.workspaceOf(directoryAt(resolve(surroundings.directory, path)), surroundings.variables);
    const stateDir = named === undefined ? surroundings.variables.MAESTRO_STATE_DIR?.trim() || undefined : named;
    const isKnown = claims.find(workspace.id) !== null;
    const mirror = typeof stateDir === 'string' ? mirrorAt(workspace.root, stateDir) : null;
    const { made, fault } = mirror === null ? { made: [], fault: null } : makeOrSay(mirror);
    claims.setMirror(workspace, mirror?.name ?? (stateDir === null ? null : undefined));
    return {
      lines:
        mirror === null
          ? `${workspace.root} is known`
          : `${mirror.name} mirrors the active session of ${workspace.root}`,
      value: {
        workspace_id: workspace.id,
        root: workspace.root,
        created_directories: made,
        already_existed: isKnown && made.length === 0,
      },
      asides: fault === null ? [] : [`exclude ${mirror?.name} from git yourself: ${fault}`],
    };
  },
});

/** @throws UsageError if it is no directory */
function directoryAt(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new UsageError(`workspace_path ${JSON.stringify(path)}: there is no such directory`);
}

/** @throws UnreachableError if its folders cannot be made */
function makeOrSay(mirror: Parameters<typeof makeMirror>[0]) {
  try {
    return makeMirror(mirror);
  } catch (cause) {
    throw new UnreachableError(`${mirror.folder} cannot be made: ${describeError(cause)}`, { cause });
  }
}
