import { isInAgent } from '../../../memory/sessions/adoption.js';
import { goOnWith, nothingToMove } from '../../command/goOnWith.js';
import { word } from '../../command/word.js';
import { namedSession } from './lifecycle.js';

export const goOn = word({
  usage: 'continue ID [--concurrent]',
  summary:
    'go on with a session: the agent in this shell moves to it;\n      with --concurrent although another agent works on it',
  options: { concurrent: { type: 'boolean' } },
  words: 1,
  run(call) {
    const { memory, print, values } = call;
    const session = namedSession(call);
    if (!isInAgent(memory)) throw nothingToMove(session);
    const { folder, unarchived } = goOnWith(memory, session, values.concurrent);
    print(`going on with session ${session.id}${unarchived ? ', which is out of the archive' : ''}`, {
      session_id: session.id,
      folder,
      unarchived,
    });
    return 0;
  },
});
