/** Words for the record of a session: the archive, the check, generated files, removal. */
import { archiveSession, dueSessions, unarchiveSession } from '../../../memory/keeping/archive.js';
import { purgeSession, sessionsBefore } from '../../../memory/keeping/purge.js';
import { rebuildSession } from '../../../memory/keeping/rebuild.js';
import { verifySession } from '../../../memory/keeping/verify.js';
import { UsageError } from '../../../src/errors.js';
import { oneLine } from '../../../src/log/visibleText.js';
import { isoTime } from '../../../src/time.js';
import type { ExitCode } from '../../command/command.js';
import { parseInstant } from '../../command/options.js';
import { word } from '../../command/word.js';
import { namedSession } from './lifecycle.js';

export const archive = word({
  usage: 'archive ID|--due',
  summary: 'put a session away; --due: all that rested for 30 days',
  options: { due: { type: 'boolean' } },
  words: 1,
  run(call) {
    const { memory, values, words, print } = call;
    if (values.due && words.length > 0) throw new UsageError('name a session or --due, not both');
    const sessions = values.due ? dueSessions(memory).map((id) => memory.which(id)) : [namedSession(call)];
    const archived = sessions.map((session) => ({ session_id: session.id, folder: archiveSession(memory, session) }));
    const lines = archived.map(({ session_id, folder }) => `session ${session_id} is in the archive: ${folder}`);
    print(lines.join('\n') || 'no session rested that long', archived);
    return 0;
  },
});

export const unarchive = word({
  usage: 'unarchive ID',
  summary: 'take a session out of the archive',
  options: {},
  words: 1,
  run(call) {
    const session = namedSession(call);
    const folder = unarchiveSession(call.memory, session);
    call.print(`session ${session.id} is back: ${folder}`, { session_id: session.id, folder });
    return 0;
  },
});

export const verify = word({
  usage: 'verify ID',
  summary: 'check that the record is whole; exit 1 if it is not',
  options: {},
  words: 1,
  run(call) {
    const session = namedSession(call);
    const checks = verifySession(call.memory, session);
    const lines = checks.map(({ check, ok, found }) => `${ok ? 'ok     ' : 'FAULTY '} ${check}: ${oneLine(found)}`);
    const verified = checks.every(({ ok }) => ok);
    call.print(lines.join('\n'), { session_id: session.id, verified, checks });
    return verified ? 0 : 1;
  },
});

export const rebuild = word({
  usage: 'rebuild ID',
  summary: 'write state.json and session.md anew',
  options: {},
  words: 1,
  async run(call): Promise<ExitCode> {
    const session = namedSession(call);
    const files = await rebuildSession(call.memory, session);
    call.print(files.map((path) => `written: ${path}`).join('\n'), { session_id: session.id, files });
    return 0;
  },
});

export const purge = word({
  usage: 'purge ID|--older-than AGE [--yes]',
  summary: 'remove sessions for good; without --yes, only name them',
  options: { 'older-than': { type: 'string' }, yes: { type: 'boolean' } },
  words: 1,
  run(call) {
    const { memory, values, words, print, context } = call;
    const age = values['older-than'];
    if (age !== undefined && words.length > 0) throw new UsageError('name a session or --older-than, not both');
    const doomed =
      age === undefined
        ? [namedSession(call)]
        : sessionsBefore(memory, parseInstant('--older-than', age)).map(({ session_id }) => memory.which(session_id));
    const ids = doomed.map(({ id }) => id);
    if (doomed.length > 0 && !values.yes) {
      const lines = doomed.map(({ id, log: { state } }) => {
        const last = state.last_activity === null ? 'never' : isoTime(state.last_activity);
        return `  ${id}, last activity ${last}: ${oneLine(state.facts?.purpose ?? '')}`;
      });
      context.io.stderr(
        `these sessions would be removed for good:\n${lines.join('\n')}\nRepeat with --yes to do it.\n`,
      );
      return 1;
    }
    for (const session of doomed) purgeSession(memory, session);
    print(ids.map((id) => `session ${id} is removed`).join('\n') || 'no session is that old', { removed: ids });
    return 0;
  },
});
