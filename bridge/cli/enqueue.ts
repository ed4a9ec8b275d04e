import { userInfo } from 'node:os';
import { quoted } from '../../memory/brief/fence.js';
import { Handoffs } from '../../memory/handoffs/handoffs.js';
import { settledBy } from '../../memory/handoffs/kind.js';
import { homeFolder, Places } from '../../memory/home/places.js';
import { ulid } from '../../src/ids.js';
import { systemClock } from '../../src/time.js';
import { AcceptedMessages } from '../accepted/acceptedMessages.js';
import { withStore } from '../assembly/withStore.js';
import {
  type Command,
  type CommandContext,
  type ExitCode,
  printJson,
  printLines,
  sayLines,
} from '../command/command.js';
import { readOptions, requireText } from '../command/options.js';
import { readText } from '../command/standardInput.js';
import { acceptForOthers, LONGEST_MESSAGE, MessageAcceptor } from '../intake/acceptMessage.js';

export const command: Command = {
  help: `usage: watchkeeper enqueue --project KEY --text TEXT [--handoff ID] [--chat ID]
       [--json]

Puts a message into the queue of a project, like a message from Telegram. The
answer goes to the bridge's terminal, or to one of the project's chats.

  --project KEY   a project in watchkeeper.config.json; "local" if there is no
                  such file
  --text TEXT     what the agent should do; "-" reads all of standard input
  --handoff ID    unfinished work that the agent takes over; TEXT may be missing
  --chat ID       the chat that gets the answer; the project must list it
  --json          {"session_id", "lane", "status"}

exit code: 0 accepted, 1 another worker has the handoff, 2 no such project, chat
or handoff, or no text, 3 Redis is unreachable

examples:
  watchkeeper enqueue --project local --text "say hello"
  git diff | watchkeeper enqueue --project local --text -
  watchkeeper enqueue --project local --handoff ho_01M8KCBXK5VDSK37E3XKYAD8SB
  watchkeeper enqueue --project popoto --chat -5294327191 --text "update the changelog" --json`,
  async run(args, context) {
    const { io } = context;
    const { values } = readOptions(args, {
      project: { type: 'string' },
      text: { type: 'string' },
      handoff: { type: 'string' },
      chat: { type: 'string' },
      json: { type: 'boolean' },
    });
    const projectKey = requireText(values.project, 'project', 'local');
    const handoff = values.handoff === undefined ? null : offeredHandoff(values.handoff, context);
    const isNeeded = handoff === null || values.text !== undefined;
    const given = isNeeded ? requireText(values.text, 'text', '"say hello"') : '';
    const settings = await context.readSettings();
    if (handoff?.refusal) {
      sayLines(io, `watchkeeper: ${handoff.refusal}; nothing was queued`);
      return 1;
    }
    const asked = given === '-' ? await readText(context.input, LONGEST_MESSAGE) : given;
    const text = handoff === null ? asked : [handoff.order, asked].filter(Boolean).join('\n\n');
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
      const to = { projectKey, chatId: values.chat ?? null };
      const order = { id: ulid(systemClock), ...to, sender, text, ...(handoff && { handoff: handoff.reference }) };
      const { session } = await acceptor.acceptOrder(order);
      accepted.close();
      const { session_id, lane, status } = session;
      if (values.json) printJson(io, { session_id, lane, status });
      else printLines(io, [session_id, `accepted; \`watchkeeper session ${session_id}\` shows how it goes`]);
      return 0;
    });
  },
};

/** @returns the order for the agent, and why no message should be queued: a worker has the handoff. @throws UsageError if there is none */
function offeredHandoff(name: string, { surroundings, redact }: CommandContext) {
  const home = homeFolder(surroundings.variables);
  const stamp = { clock: systemClock, redact, origin: 'person' } as const;
  const { id, state } = new Handoffs({ places: new Places(home), stamp }).named(name);
  return {
    reference: { id, home },
    order: `Take over the work of handoff ${id}: ${quoted(state.offer.document.title)}`,
    refusal: state.answer === null ? null : settledBy(state.answer).message,
  };
}
