import { unarchiveSession } from '../../../memory/keeping/archive.js';
import { RefusedError } from '../../../memory/logs/log.js';
import { adoptCaller } from '../../../memory/sessions/adoption.js';
import { UsageError } from '../../../src/errors.js';
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
    if (session.log.state.lifecycle === 'ended')
      throw new RefusedError({
        code: 'ended',
        message: `session ${session.id} has ended; first: watchkeeper work reopen ${session.id}`,
      });
    const wasArchived = session.log.state.archived !== null;
    const folder = wasArchived ? unarchiveSession(memory, session) : session.folder;
    adoptCaller(memory, session);
    print(`going on with session ${session.id}${wasArchived ? ', which is out of the archive' : ''}`, {
      session_id: session.id,
      folder,
      unarchived: wasArchived,
    });
    return 0;
  },
});
