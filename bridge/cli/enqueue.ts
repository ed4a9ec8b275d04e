import { userInfo } from 'node:os';
import { describeError, UsageError } from '../../src/errors.js';
import { ulid } from '../../src/ids.js';
import { systemClock } from '../../src/time.js';
import { withStore } from '../assembly/withStore.js';
import { acceptForOthers, LONGEST_MESSAGE, MessageAcceptor } from '../intake/acceptMessage.js';
import type { Command, ExitCode } from './command.js';
import { readOptions, requireText } from './options.js';

/** UTF-8 takes at most this many bytes for a UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3;
const NO_TEXT = 'standard input is not UTF-8 text';

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
    const text = given === '-' ? await readText(context.input) : given;
    return withStore<ExitCode>(settings, async ({ store, foundation: { logger } }) => {
      const acceptor = new MessageAcceptor({
        store,
        accept: acceptForOthers(store),
        settings,
        logger,
        isHostLost: () => false,
      });
      const sender = { id: 'cli', name: userInfo().username };
      const order = { id: ulid(systemClock), projectKey, chatId: values.chat ?? null, sender, text };
      const { session } = await acceptor.acceptOrder(order);
      const { session_id, lane, status } = session;
      if (values.json) io.stdout(`${JSON.stringify({ session_id, lane, status })}\n`);
      else io.stdout(`${session_id}\naccepted; \`watchkeeper session ${session_id}\` shows how it goes\n`);
      return 0;
    });
  },
};

/**
 * @param input read to its end, unless it is certainly too long
 * @returns all of it as text
 * @throws UsageError if it cannot be read, is not UTF-8, is empty, or is too long
 */
async function readText(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of input) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES_PER_UNIT * LONGEST_MESSAGE) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new UsageError(`standard input cannot be read: ${describeError(cause)}`, { cause });
  }
  if (bytes > MOST_BYTES_PER_UNIT * LONGEST_MESSAGE)
    throw new UsageError(`standard input has more than ${LONGEST_MESSAGE} characters: a message cannot be longer`);
  const text = decode(Buffer.concat(chunks));
  // Another character set, such as UTF-16, or no text at all: no agent can receive it as an argument.
  if (text.includes('\0')) throw new UsageError(NO_TEXT);
  if (text.trim() === '') throw new UsageError('standard input is empty, so nothing was started');
  return text;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(NO_TEXT, { cause });
  }
}
