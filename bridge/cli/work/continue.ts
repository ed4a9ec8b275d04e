import { UsageError } from '../../../src/errors.js';
import { goOnWith } from '../../command/goOnWith.js';
import { word } from '../../command/word.js';
import { namedSession } from './lifecycle.js';

export const goOn = word({
  usage: 'continue ID',
  summary: 'go on with a session: the agent in this shell moves to it',
  options: {},
  words: 1,
  run(call) {
    const { memory, print } = call;
    const session = namedSession(call);
    if (memory.conversation === null && memory.agentProcess === null)
      throw new UsageError(
        `no agent works in this shell, so there is nothing to move; \`watchkeeper track resume ${session.id}\` shows how to go on`,
      );
    const { folder, unarchived } = goOnWith(memory, session);
    print(`going on with session ${session.id}${unarchived ? ', which is out of the archive' : ''}`, {
      session_id: session.id,
      folder,
      unarchived,
    });
    return 0;
  },
});
