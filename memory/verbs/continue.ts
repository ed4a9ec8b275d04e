import { isInAgent } from '../sessions/adoption.js';
import { flag } from './fields.js';
import { ID, named } from './meant.js';
import { nothingToMove, resumeWith } from './resumeWith.js';
import { verb } from './verb.js';

export const continueSession = verb({
  name: 'continue',
  summary:
    'go on with a session: the agent in this shell moves to it;\nwith --concurrent although another agent works on it',
  fields: { id: ID, concurrent: flag('[--concurrent]') },
  run(memory, input) {
    const session = named(memory, input);
    if (!isInAgent(memory)) throw nothingToMove(session);
    const { folder, unarchived } = resumeWith(memory, session, input.concurrent);
    return {
      lines: `going on with session ${session.id}${unarchived ? ', which is out of the archive' : ''}`,
      value: { session_id: session.id, folder, unarchived },
    };
  },
});
