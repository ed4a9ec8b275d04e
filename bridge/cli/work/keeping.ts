/** Words for the record of a session: the archive, the check, generated files, removal. */

import { archiveSession, dueSessions, unarchiveSession } from '../../../memory/keeping/archive.js';
import { finishRemovals, oldSession, purgeSession, sessionsBefore } from '../../../memory/keeping/purge.js';
import { rebuildSession } from '../../../memory/keeping/rebuild.js';
import { verifySession } from '../../../memory/keeping/verify.js';
import { settledCounts } from '../../../memory/logs/settledCounts.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { UsageError, WatchkeeperError } from '../../../src/errors.js';
import { isoTime } from '../../../src/time.js';
import type { ExitCode } from '../../command/command.js';
import { parseInstant } from '../../command/options.js';
import { sayLines } from '../../command/print.js';
import { word } from '../../command/word.js';
import { namedSession } from './lifecycle.js';

export const archive = word({
  usage: 'archive ID|--due',
  summary: 'put a session away; --due: all that rested for 30 days',
  options: { due: { type: 'boolean' } },
  words: 1,
  run(call): ExitCode {
    const { memory, values, words, print } = call;
    if (values.due && words.length > 0) throw new UsageError('name a session or --due, not both');
    const archived: { session_id: string; folder: string }[] = [];
    const put = (session: OpenSession) =>
      archived.push({ session_id: session.id, folder: archiveSession(memory, session) });
    if (values.due) forEach(memory, dueSessions(memory), put);
    else put(namedSession(call));
    const lines = archived.map(({ session_id, folder }) => `session ${session_id} is in the archive: ${folder}`);
    print(lines.length === 0 ? 'no session rested that long' : lines, archived);
    return memory.leftOut.length === 0 ? 0 : 3;
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
  async run(call): Promise<ExitCode> {
    const session = namedSession(call);
    const checks = verifySession(call.memory, session, await settledCounts(session.log));
    const lines = checks.map(({ check, ok, found }) => `${ok ? 'ok     ' : 'FAULTY '} ${check}: ${found}`);
    const verified = checks.every(({ ok }) => ok);
    call.print(lines, { session_id: session.id, verified, checks });
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
    call.print(
      files.map((path) => `written: ${path}`),
      { session_id: session.id, files },
    );
    return 0;
  },
});

export const purge = word({
  usage: 'purge ID|--older-than AGE [--yes]',
  summary: 'remove sessions for good; without --yes, only name them',
  options: { 'older-than': { type: 'string' }, yes: { type: 'boolean' } },
  words: 1,
  async run(call): Promise<ExitCode> {
    const { memory, values, words, print, context } = call;
    const age = values['older-than'];
    if (age !== undefined && words.length > 0) throw new UsageError('name a session or --older-than, not both');
    finishRemovals(memory);
    const doomed =
      age === undefined
        ? [await oldSession(memory, namedSession(call))]
        : await sessionsBefore(memory, parseInstant('--older-than', age));
    if (doomed.length > 0 && !values.yes) {
      const lines = doomed.map(({ session_id, purpose, last_activity }) => {
        const last = last_activity === null ? 'never' : isoTime(last_activity);
        return `  ${session_id}, last activity ${last}: ${purpose}`;
      });
      sayLines(context.io, ['these sessions would be removed for good:', ...lines, 'Repeat with --yes to do it.']);
      return 1;
    }
    const removed: string[] = [];
    const remove = (session: OpenSession) => {
      purgeSession(memory, session);
      removed.push(session.id);
    };
    if (age === undefined) remove(namedSession(call));
    else
      forEach(
        memory,
        doomed.map(({ session_id }) => session_id),
        remove,
      );
    print(removed.length === 0 ? 'no session is that old' : removed.map((id) => `session ${id} is removed`), {
      removed,
    });
    return memory.leftOut.length === 0 ? 0 : 3;
  },
});

/** One session that cannot be read or written, or that somebody works on again, keeps no other from it. */
function forEach(memory: Memory, ids: readonly string[], work: (session: OpenSession) => void): void {
  for (const id of ids) {
    try {
      const session = memory.which(id);
      work(session);
    } catch (error) {
      if (!(error instanceof WatchkeeperError)) throw error;
      memory.leftOut.push(error.message);
    }
  }
}
