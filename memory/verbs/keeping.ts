/** Verbs for the record of a session: the archive, the check, generated files, removal. */
import { UsageError, WatchkeeperError } from '../../src/errors.js';
import { parseInstant } from '../../src/instant.js';
import { localTime } from '../../src/time.js';
import { archiveSession, dueSessions, unarchiveSession } from '../keeping/archive.js';
import { finishRemovals, oldSession, purgeSession, sessionsBefore } from '../keeping/purge.js';
import { rebuildSession } from '../keeping/rebuild.js';
import { verifySession } from '../keeping/verify.js';
import { settledCounts } from '../logs/settledCounts.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Listener } from '../sessions/views.js';
import { flag, option, word } from './fields.js';
import { ID, named } from './meant.js';
import { type Outcome, verb } from './verb.js';

export const archive = verb({
  name: 'archive',
  summary: 'put a session away; --due: all that rested for 30 days',
  fields: { id: word('ID|--due'), due: flag('') },
  run(memory, input): Outcome {
    if (input.due && input.id !== undefined) throw new UsageError('name a session or --due, not both');
    const archived: { session_id: string; folder: string }[] = [];
    // What a session is archived without is said, and its record is whole.
    let said = 0;
    const put = (session: OpenSession) => {
      const before = memory.leftOut.length;
      archived.push({ session_id: session.id, folder: archiveSession(memory, session) });
      said += memory.leftOut.length - before;
    };
    if (input.due) forEach(memory, dueSessions(memory), put);
    else put(named(memory, input));
    const lines = archived.map(({ session_id, folder }) => `session ${session_id} is in the archive: ${folder}`);
    return {
      lines: lines.length === 0 ? 'no session rested that long' : lines,
      value: archived,
      ...partly(memory, said),
    };
  },
});

export const unarchive = verb({
  name: 'unarchive',
  summary: 'take a session out of the archive',
  fields: { id: ID },
  run(memory, input) {
    const session = named(memory, input);
    const folder = unarchiveSession(memory, session);
    return { lines: `session ${session.id} is back: ${folder}`, value: { session_id: session.id, folder } };
  },
});

export const verify = verb({
  name: 'verify',
  summary: 'check that the record is whole; exit 1 if it is not',
  fields: { id: ID },
  async run(memory, input) {
    const session = named(memory, input);
    const checks = verifySession(memory, session, await settledCounts(session.log));
    const verified = checks.every(({ ok }) => ok);
    return {
      lines: checks.map(({ check, ok, found }) => `${ok ? 'ok     ' : 'FAULTY '} ${check}: ${found}`),
      value: { session_id: session.id, verified, checks },
      ...(!verified && { verdict: 'found' }),
    };
  },
});

export const rebuild = verb({
  name: 'rebuild',
  summary: 'write state.json and session.md anew',
  fields: { id: ID },
  async run(memory, input) {
    const session = named(memory, input);
    const files = await rebuildSession(memory, session);
    return { lines: files.map((path) => `written: ${path}`), value: { session_id: session.id, files } };
  },
});

export const purge = verb({
  name: 'purge',
  summary: 'remove sessions for good; without --yes, only name them',
  fields: { id: word('ID|--older-than AGE'), older_than: option(''), yes: flag('[--yes]') },
  async run(memory, input): Promise<Outcome> {
    const { older_than: age, id, yes } = input;
    if (age !== undefined && id !== undefined) throw new UsageError('name a session or --older-than, not both');
    finishRemovals(memory);
    const doomed =
      age === undefined
        ? [await oldSession(memory, named(memory, input))]
        : await sessionsBefore(memory, parseInstant('--older-than', age, memory.clock.now()));
    if (doomed.length > 0 && !yes) return confirmFirst(doomed);
    const removed: string[] = [];
    const remove = (session: OpenSession) => {
      purgeSession(memory, session);
      removed.push(session.id);
    };
    const ids = doomed.map(({ session_id }) => session_id);
    if (age === undefined) remove(wholly(memory, input));
    else forEach(memory, ids, remove);
    const lines = removed.map((each) => `session ${each} is removed`);
    return { lines: lines.length === 0 ? 'no session is that old' : lines, value: { removed }, ...partly(memory) };
  },
});

/** A caller must name a session that is removed for good by its whole id, or its name. */
function wholly(memory: Listener, input: { readonly id?: string | undefined; readonly session: string | undefined }) {
  const session = named(memory, input);
  const typed = input.id ?? input.session;
  if (typed === session.id || typed === session.log.state.facts?.name) return session;
  throw new UsageError(`which session is to be removed? Name its whole id: watchkeeper work purge ${session.id} --yes`);
}

function confirmFirst(doomed: Awaited<ReturnType<typeof sessionsBefore>>): Outcome {
  const lines = doomed.map(({ session_id, purpose, last_activity }) => {
    const last = last_activity === null ? 'never' : localTime(last_activity);
    return `  ${session_id}, last activity ${last}: ${purpose}`;
  });
  return {
    verdict: 'refused',
    lines: ['these sessions would be removed for good:', ...lines, 'Repeat with --yes to do it.'],
    value: null,
  };
}

/**
 * @param others how many entries say something else
 * @returns the verdict if sessions were left out because they could not be read
 */
function partly({ leftOut }: Pick<Memory, 'leftOut'>, others = 0): Pick<Outcome, 'verdict'> {
  return leftOut.length === others ? {} : { verdict: 'partial' };
}

/** Continues with the others if one session cannot be read or written, or an agent works on it again. */
function forEach(
  memory: Pick<Memory, 'which' | 'leftOut'>,
  ids: readonly string[],
  work: (session: OpenSession) => void,
): void {
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
