/**
 * Whether an empty worklog has lost all its lines. A start that was killed, or is at work just now, leaves one that never had any,
 * which is no fault; so something else must show that there were some.
 */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { Memory } from './memory.js';
import { IMPLICIT } from './sessions.js';

/** @param folder of a session whose worklog is empty */
export function hasLostLines({ claims, bindings }: Pick<Memory, 'claims' | 'bindings'>, folder: string): boolean {
  const id = basename(folder);
  // Generated files and copies come after the first lines.
  if (namesIn(folder).length > 1) return true;
  // A hook enters the workspace before it begins the log, a command after that.
  return id.startsWith(IMPLICIT) ? bindings.hasProcess(id) : claims.entered(id) !== null;
}

/** @returns none if it cannot be read: the session may have been removed, or moved to the archive */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
