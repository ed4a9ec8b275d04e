/** Verbs that begin, end and reopen a session without steps. */
import { UsageError } from '../../src/errors.js';
import { archiveSession, unarchiveSession } from '../keeping/archive.js';
import { RefusedError } from '../logs/kind.js';
import { adoptCaller, reportMoved } from '../sessions/adoption.js';
import { beginChild } from '../sessions/delegation.js';
import { END_REASONS } from '../words.js';
import { endSession } from './ending.js';
import { flag, neededOption, option } from './fields.js';
import { reportsHere } from './followUps.js';
import { ID, MAYBE_ID, meant, named } from './meant.js';
import { repeatsOf } from './repeats.js';
import { type Outcome, verb } from './verb.js';

export const start = verb({
  name: 'start',
  summary: 'begin a session in this directory',
  fields: {
    purpose: neededOption('--purpose TEXT', '--purpose is missing, for example --purpose "Fix the login"'),
    name: option('[--name NAME]'),
    parent: option('[--parent ID]'),
    concurrent: flag('[--concurrent]'),
  },
  run(memory, { purpose, name, parent, concurrent }) {
    const asides = reportsHere(memory);
    const beginning = { purpose, fields: { name }, plan: [], concurrent };
    const session =
      parent === undefined
        ? memory.lifecycle.begin(memory.workspace, beginning)
        : beginChild(memory, memory.which(parent), beginning);
    // The agent in this shell works on the session that it begins; a child session may be for another agent.
    if (parent === undefined) adoptCaller(memory, session);
    return {
      lines: `session ${session.id} begins`,
      value: { session_id: session.id, folder: session.folder },
      asides,
      followUps: [{ do: 'keep_round' }],
    };
  },
});

export const end = verb({
  name: 'end',
  summary: 'end the session; its steps stay as they are',
  fields: {
    id: MAYBE_ID,
    as: option('[--as completed|failed|cancelled|superseded]'),
    summary: option('[--summary TEXT]'),
  },
  async run(memory, input): Promise<Outcome> {
    const { as = 'completed', summary } = input;
    const session = meant(memory, input);
    const reason = END_REASONS.find((known) => known === as);
    if (reason === undefined) throw new UsageError(`--as ${JSON.stringify(as)}: one of ${END_REASONS.join(', ')}`);
    const { lines, value, ...more } = endSession(memory, session, { lines: () => [], reason, summary });
    const again = await repeatsOf(memory, session.id);
    return { ...more, lines: [...lines, ...again.lines], value: { ...value, ...again.value } };
  },
});

export const reopen = verb({
  name: 'reopen',
  summary: 'make a session active again that has ended, also an archived one',
  fields: { id: ID },
  run(memory, input) {
    const session = named(memory, input);
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
    reportMoved(memory, session);
    return { lines: `session ${session.id} is active again`, value: { session_id: session.id } };
  },
});
