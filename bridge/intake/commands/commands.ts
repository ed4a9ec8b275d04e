/** The commands that people type into a chat. They read and change the store directly, so they never queue behind work. */
import type { ChatFoundation } from '../../chat/foundation.js';
import { cancel } from './cancel.js';
import { COMMANDS, type Command, type CommandPlace, help, isLoneStop } from './commandText.js';
import { sessionsOf } from './sessionsHere.js';
import { type Sights, status } from './status.js';

const STOP: Command = { name: 'cancel', argument: '' };
export class Commands {
  readonly #base: ChatFoundation;
  readonly #sights: Sights;

  constructor(base: ChatFoundation, sights: Sights) {
    this.#base = base;
    this.#sights = sights;
  }

  /** @returns the answer, for the place of the command; Markdown @throws ioredis' error if Redis is unreachable */
  async answer({ name, argument }: Command, place: CommandPlace): Promise<string> {
    switch (name) {
      case 'start':
      case 'help':
        return help(place);
      case 'ask':
        return 'Write your request behind it, such as: /ask why does the build fail?';
      case 'status':
        return status(this.#base, this.#sights, place);
      case 'cancel':
        return cancel(this.#base, argument, place);
      case 'new':
        await this.#base.store.chatMemory.newConversation(place.project.key, place.chatId, place.threadId);
        return 'Your next message starts a new conversation. A reply to an older message still continues that conversation.';
      default:
        return `I don't know /${name}. I know ${COMMANDS.map(({ command }) => `/${command}`).join(', ')}.`;
    }
  }

  /** @param isForUs in other talk, a lone "stop" is a command only if work runs here @throws ioredis' error */
  async stopIn(text: string, place: CommandPlace, isForUs: boolean): Promise<Command | null> {
    if (!isLoneStop(text)) return null;
    if (place.replyTo !== null) {
      const { project, chatId, replyTo, bot } = place;
      const known = await this.#base.store.records.sessionOfMessage(project.key, chatId, replyTo, bot);
      return known === null && !isForUs ? null : STOP;
    }
    const { running, waiting } = await sessionsOf(this.#base.store, place);
    return running.length > 0 || (isForUs && waiting.length > 0) ? STOP : null;
  }
}
