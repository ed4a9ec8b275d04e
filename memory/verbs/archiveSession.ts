import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { completed, archiveSession as putInArchive } from '../keeping/archive.js';
import { verifySession } from '../keeping/verify.js';
import { RefusedError } from '../logs/kind.js';
import { settledCounts } from '../logs/settledCounts.js';
import type { Locating } from '../look/standing.js';
import { retiredFiles } from '../mirror/retire.js';
import { continueAfter } from '../programs/afterEnd.js';
import type { OpenSession } from '../sessions/sessions.js';
import { mirrorOfArchived } from '../sessions/takeAlong.js';
import type { Listener, Viewer } from '../sessions/views.js';
import { given } from './fields.js';
import { putAway } from './followUps.js';
import { meant } from './meant.js';
import { verb } from './verb.js';

export const archiveSession = verb({
  name: 'archive_session',
  summary: 'end a session and put it into the archive',
  fields: { as: given(z.optional(z.enum(['failed', 'cancelled']))) },
  async run(memory, input) {
    const session = toArchive(memory, input);
    const { as } = input;
    const hadEnded = session.log.state.lifecycle === 'ended';
    const folder = putInArchive(memory, session, { end: as === undefined ? completed : () => as });
    if (!hadEnded) continueAfter(memory, session);
    const checks = verifySession(memory, { ...session, folder }, await settledCounts(session.log));
    return {
      lines: `session ${session.id} is in the archive: ${folder}`,
      value: {
        session_id: session.id,
        archive_path: folder,
        archived_files: [...filesIn(folder), ...mirrored(memory, session)],
        verified: checks.every(({ ok }) => ok),
        checks,
      },
      followUps: putAway(session),
    };
  },
});

/**
 * After the last move a session may have gone into the archive by itself, and its agent continues in one that nothing was planned in: an
 * agent that names none still means the former one.
 */
function toArchive(memory: Locating & Listener, input: { readonly session: string | undefined }): OpenSession {
  const session = meant(memory, input);
  const { facts, steps } = session.log.state;
  if (input.session !== undefined || facts?.explicit !== false || steps.size > 0 || facts.continues === null)
    return session;
  const former = memory.which(facts.continues);
  return former.log.state.archived === null ? session : former;
}

/** @returns its files in the archives of the mirror */
function mirrored(memory: Viewer, { id, log }: OpenSession): string[] {
  try {
    const left = mirrorOfArchived(log.state, memory.workspaceOf(log.state)?.root ?? null, memory.places);
    return left === null ? [] : retiredFiles(left.mirror, id, left.documents);
  } catch (error) {
    // Its folder leads out of the workspace now, which the check says.
    if (error instanceof RefusedError) return [];
    throw error;
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
