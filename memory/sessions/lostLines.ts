/**
 * Whether an empty worklog has lost all its lines. A start that was killed, or is at work just now, leaves one that never had any,
 * which is no fault; so something else must show that there were some.
 */
import { basename } from 'node:path';
import { namesIn } from '../../src/files/entries.js';
import type { Memory } from './memory.js';
import { IMPLICIT } from './sessions.js';

/** @param folder of a session whose worklog is empty */
export function hasLostLines({ claims, bindings }: Pick<Memory, 'claims' | 'bindings'>, folder: string): boolean {
  const id = basename(folder);
  // Generated files and copies come after the first lines. A session that is gone, or in the archive by now, has none here.
  if (namesIn(folder).length > 1) return true;
  // A hook enters the workspace before it begins the log, a command after that.
  return id.startsWith(IMPLICIT) ? bindings.hasProcess(id) : claims.entered(id) !== null;
}
