import { CANCELLED_TEXT } from '../../monitoring/incident/texts/chatTexts.js';
import { UsageError } from '../../src/errors.js';
import { withStore } from '../assembly/withStore.js';
import { type Command, type ExitCode, printJson, printLines } from '../command/command.js';
import { readOptions } from '../command/options.js';
import { readSessionId, sessionOf } from './session.js';
import { isOfTerminal } from './sessionMemory.js';

export const command: Command = {
  help: `usage: watchkeeper cancel SESSION_ID [--json]

Cancels a waiting session at once. For a running session, its bridge first ends
the agent and all of its processes, then cancels the session and notifies the
chat. A cancelled message is never tried again. A session of a terminal can only
be stopped there, by its person.

exit code: 0 cancelled or asked to end, 1 it had already ended, 2 no such
session, 3 Redis is unreachable

example:
  watchkeeper cancel tg_popoto_-5294327191_4469`,
  async run(args, context) {
    const { io } = context;
    const { values, positionals } = readOptions(args, { json: { type: 'boolean' } }, 1);
    const sessionId = readSessionId(positionals);
    if (isOfTerminal(sessionId, context)) {
      const why = `${sessionId} is a session of a terminal, and only its person can stop it there`;
      throw new UsageError(`${why}; \`watchkeeper session ${sessionId}\` shows it`);
    }
    return withStore<ExitCode>(await context.readSettings(), async ({ store }) => {
      const before = await sessionOf(sessionId, store);
      const after = await store.transitions.cancel(sessionId, CANCELLED_TEXT);
      const status = after?.status ?? before.status;
      const result = after === null ? 'ended_before' : after.status === 'cancelled' ? 'cancelled' : 'asked_to_end';
      if (values.json) printJson(io, { session_id: sessionId, result, status });
      else printLines(io, `${sessionId}: ${SENTENCES[result]}`);
      return after === null ? 1 : 0;
    });
  },
};

const SENTENCES = {
  ended_before: 'it had ended already; nothing changed',
  cancelled: 'cancelled before it began',
  asked_to_end: 'its bridge is asked to end it',
} as const;
