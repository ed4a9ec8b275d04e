/** Words that begin, change and end a session without steps. */

import { archiveSession, unarchiveSession } from '../../../memory/keeping/archive.js';
import { RefusedError } from '../../../memory/logs/log.js';
import { adoptCaller, tellWhatMoved } from '../../../memory/sessions/adoption.js';
import { beginChild } from '../../../memory/sessions/delegation.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { END_REASONS } from '../../../memory/words.js';
import { UsageError } from '../../../src/errors.js';
import type { ExitCode } from '../../command/command.js';
import { endSession } from '../../command/endSession.js';
import { roundLater, sayWhatBecame } from '../../command/keepLater.js';
import { type Call, word } from '../../command/word.js';

export const start = word({
  usage: 'start --purpose TEXT [--name NAME] [--parent ID] [--concurrent]',
  summary: 'begin a session in this directory',
  options: {
    purpose: { type: 'string' },
    name: { type: 'string' },
    parent: { type: 'string' },
    concurrent: { type: 'boolean' },
  },
  words: 0,
  run({ memory, values, print, context }) {
    const { purpose = '', name, parent, concurrent = false } = values;
    if (purpose.trim() === '') throw new UsageError('--purpose is missing, for example --purpose "Fix the login"');
    sayWhatBecame(context, memory);
    const beginning = { purpose, fields: { name }, plan: [], concurrent };
    const session =
      parent === undefined
        ? memory.lifecycle.begin(memory.workspace, beginning)
        : beginChild(memory, memory.which(parent), beginning);
    // The agent in this shell works on the session that it begins; a part of its work may be for another one.
    if (parent === undefined) adoptCaller(memory, session);
    roundLater(context, memory);
    print(`session ${session.id} begins`, { session_id: session.id, folder: session.folder });
    return 0;
  },
});

export const end = word({
  usage: 'end [ID] [--as completed|failed|cancelled|superseded] [--summary TEXT]',
  summary: 'end the session; its steps stay as they are',
  options: { as: { type: 'string' }, summary: { type: 'string' } },
  words: 1,
  async run(call): Promise<ExitCode> {
    const { memory, values, words } = call;
    const session = memory.which(words[0] ?? values.session ?? null);
    const reason = END_REASONS.find((known) => known === (values.as ?? 'completed'));
    if (reason === undefined)
      throw new UsageError(`--as ${JSON.stringify(values.as)}: one of ${END_REASONS.join(', ')}`);
    await endSession(call, session, { lines: () => [], reason, summary: values.summary });
    return 0;
  },
});

export const reopen = word({
  usage: 'reopen ID',
  summary: 'make a session active again that has ended, also an archived one',
  options: {},
  words: 1,
  run(call) {
    const session = namedSession(call);
    const { memory } = call;
    const { facts, archived } = session.log.state;
    const workspace = facts?.workspace ? memory.claims.find(facts.workspace) : null;
    const wasArchived = archived !== null;
    memory.lifecycle.requireFreeFor(session, workspace);
    if (wasArchived) unarchiveSession(memory, session);
    try {
      memory.lifecycle.reopen(session, workspace);
    } catch (error) {
      // It stays as it was.
      if (wasArchived && error instanceof RefusedError && session.log.state.lifecycle === 'ended')
        archiveSession(memory, session);
      throw error;
    }
    tellWhatMoved(memory, session);
    call.print(`session ${session.id} is active again`, { session_id: session.id });
    return 0;
  },
});

/** @throws UsageError if no session is named, or none has that name */
export function namedSession({ memory, values, words: [named] }: Call): OpenSession {
  const name = named ?? (values as { readonly session?: string }).session;
  if (name === undefined) throw new UsageError('which session? Name its id; `watchkeeper work list --all` shows them');
  return memory.which(name);
}
