import { userInfo } from 'node:os';
import { ulid } from '../../src/ids.js';
import { systemClock } from '../../src/time.js';
import { AcceptedMessages } from '../accepted/acceptedMessages.js';
import { withStore } from '../assembly/withStore.js';
import { type Command, type ExitCode, printJson, printLines } from '../command/command.js';
import { readOptions, requireText } from '../command/options.js';
import { readText } from '../command/standardInput.js';
import { acceptForOthers, LONGEST_MESSAGE, MessageAcceptor } from '../intake/acceptMessage.js';

export const command: Command = {
  help: `usage: watchkeeper enqueue --project KEY --text TEXT [--chat ID] [--json]

Puts a message into the queue of a project, like a message from Telegram. The
answer goes to the bridge's terminal, or to one of the project's chats.

  --project KEY   a project in watchkeeper.config.json; "local" if there is no
                  such file
  --text TEXT     what the agent should do; "-" reads all of standard input
  --chat ID       the chat that gets the answer; the project must list it
  --json          {"session_id", "lane", "status"}

exit code: 0 accepted, 2 no such project or chat, or no text, 3 Redis is
unreachable

examples:
  watchkeeper enqueue --project local --text "say hello"
  git diff | watchkeeper enqueue --project local --text -
  watchkeeper enqueue --project popoto --chat -5294327191 --text "update the changelog" --json`,
  async run(args, context) {
    const { io } = context;
    const { values } = readOptions(args, {
      project: { type: 'string' },
      text: { type: 'string' },
      chat: { type: 'string' },
      json: { type: 'boolean' },
    });
    const projectKey = requireText(values.project, 'project', 'local');
    const given = requireText(values.text, 'text', '"say hello"');
    const settings = await context.readSettings();
    const text = given === '-' ? await readText(context.input, LONGEST_MESSAGE) : given;
    return withStore<ExitCode>(settings, async ({ store, foundation: { logger, clock } }) => {
      const accepted = new AcceptedMessages({ settings, logger, clock });
      const acceptor = new MessageAcceptor({
        store,
        accept: accepted.noting(acceptForOthers(store)),
        settings,
        logger,
        isHostLost: () => false,
      });
      const sender = { id: 'cli', name: userInfo().username };
      const order = { id: ulid(systemClock), projectKey, chatId: values.chat ?? null, sender, text };
      const { session } = await acceptor.acceptOrder(order);
      accepted.close();
      const { session_id, lane, status } = session;
      if (values.json) printJson(io, { session_id, lane, status });
      else printLines(io, [session_id, `accepted; \`watchkeeper session ${session_id}\` shows how it goes`]);
      return 0;
    });
  },
};
