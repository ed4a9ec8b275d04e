import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { completed, archiveSession as putInArchive } from '../keeping/archive.js';
import { verifySession } from '../keeping/verify.js';
import { settledCounts } from '../logs/settledCounts.js';
import { continueAfter } from '../programs/afterEnd.js';
import { given } from './fields.js';
import { putAway } from './followUps.js';
import { meant } from './meant.js';
import { verb } from './verb.js';

export const archiveSession = verb({
  name: 'archive_session',
  summary: 'end a session and put it into the archive',
  fields: { as: given(z.optional(z.enum(['failed', 'cancelled']))) },
  async run(memory, input) {
    const session = meant(memory, input);
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
        archived_files: filesIn(folder),
        verified: checks.every(({ ok }) => ok),
        checks,
      },
      followUps: putAway(session),
    };
  },
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
