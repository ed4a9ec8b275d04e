/**
 * Does what an update asks for. When {@link UpdateHandler.handle} returns, everything that must not be lost is stored; answers
 * and reactions follow on their own.
 */
import type { Update } from 'grammy/types';
import type { AgentSession } from '../../src/jobs/model.js';
import { redactShapes } from '../../src/log/redact.js';
import { shorten } from '../../src/log/shorten.js';
import type { Check } from '../../src/redis/commit.js';
import { DAY } from '../../src/time.js';
import type { MessageAcceptor } from '../intake/acceptMessage.js';
import { type Admission, type Admitted, type ChatMessage, OncePer } from '../intake/admission.js';
import { type Commands, parseCommand } from '../intake/commands.js';
import type { TelegramFoundation, Text } from './api.js';
import type { Errands } from './errands.js';
import { type Bot, type Incoming, type Relay, readUpdate } from './incoming.js';
import { MESSAGE_LIMIT, renderClean } from './render.js';

export interface UpdateHandlerParts extends TelegramFoundation {
  readonly admission: Admission;
  readonly acceptor: MessageAcceptor;
  readonly commands: Commands;
}

const ACCEPTED_REACTION = '👀';
const NOTE_PERIOD_MS = DAY;
/** After the words of others, for the agent: what the chat shows of a message is its beginning. */
const RELAYED: Readonly<Record<Relay, string>> = {
  forwarded: '[Forwarded by the person who asks you; the words may be those of somebody else.]',
  via_bot: '[Sent through another bot, which may have written the words.]',
};
const TYPE_IT = 'so I did not carry it out. Only what you type yourself is a command: please type it here.';
const RELAYED_COMMAND: Readonly<Record<Relay, string>> = {
  forwarded: `That command was forwarded, ${TYPE_IT}`,
  via_bot: `That command came through another bot, ${TYPE_IT}`,
};

export class UpdateHandler {
  readonly #parts: UpdateHandlerParts;
  readonly #errands: Errands;
  readonly #answered: OncePer;

  constructor(parts: UpdateHandlerParts, errands: Errands) {
    this.#parts = parts;
    this.#errands = errands;
    this.#answered = new OncePer(parts.clock, NOTE_PERIOD_MS);
  }

  /**
   * @param fence the condition for taking messages in
   * @throws UsageError if the update is malformed
   * @throws FencedError if another process takes them in now
   * @throws ioredis' error if Redis is unreachable; the same update may be handled again later
   */
  async handle(update: Update, bot: Bot, fence: readonly Check[]): Promise<void> {
    const incoming = readUpdate(update, bot);
    if (incoming.kind === 'migrated') this.#noteMigration(incoming);
    else if (incoming.kind !== 'nothing') await this.#handleMessage(incoming, bot, fence);
  }

  /** @returns the message that handling this update would accept; null if it would start nothing */
  wouldAccept(update: Update, bot: Bot): ChatMessage | null {
    const incoming = readUpdate(update, bot);
    if (incoming.kind !== 'text' || parseCommand(incoming.message.text, bot.username) !== null) return null;
    const { message } = incoming;
    const { admission, acceptor } = this.#parts;
    return admission.admit(message).admitted && acceptor.faultOf(message.text) === null ? message : null;
  }

  /**
   * Answers a message, as far as the chat can be reached; `text` is plain.
   * @param onLost called if the answer was not sent, and another one could be
   */
  say(message: ChatMessage, text: string, onLost?: () => void): void {
    this.#answer(message, { plain: shorten(redactShapes(text), MESSAGE_LIMIT), html: null }, onLost);
  }

  /** As {@link say}, but only the first time for this key and day, if that was sent. */
  #sayOnce(key: string, message: ChatMessage, text: string): void {
    if (this.#answered.first(key)) this.say(message, text, () => this.#answered.forget(key));
  }

  #sayMarkdown(message: ChatMessage, text: string): void {
    const [part] = renderClean(text, redactShapes).parts;
    if (part !== undefined) this.#answer(message, part);
  }

  #answer(message: ChatMessage, text: Text, onLost?: () => void): void {
    const to = { chatId: message.chatId, threadId: message.threadId, replyTo: message.messageId };
    this.#errands.run('answer', (signal) => this.#parts.api.sendMessage(to, text, { signal }), onLost);
  }

  /** Anybody can let a group of their own migrate: only a listed one needs any action. */
  #noteMigration({ chatId, toChatId }: Extract<Incoming, { kind: 'migrated' }>): void {
    const fields = { chat_id: chatId, new_chat_id: toChatId };
    if (!this.#parts.admission.isListed(chatId)) {
      this.#parts.logger.debug(fields, 'a chat that no project lists has another id now');
      return;
    }
    const said = `chat ${chatId} is now ${toChatId}: put the new id into watchkeeper.config.json`;
    this.#parts.logger.warn(fields, said);
  }

  async #handleMessage(
    incoming: Extract<Incoming, { message: ChatMessage }>,
    bot: Bot,
    fence: readonly Check[],
  ): Promise<void> {
    const { message } = incoming;
    const command = incoming.kind === 'text' ? parseCommand(message.text, bot.username) : null;
    if (command === 'for_another') return;
    const found = this.#parts.admission.admit(message);
    if (!found.admitted) {
      const { admission } = this.#parts;
      const answer = admission.refuse(message, found);
      const { chatId: chat_id, messageId: message_id, sender } = message;
      const fields = { chat_id, message_id, sender_id: sender.id, why: found.why };
      this.#parts.logger.info(fields, 'a message was refused');
      if (answer !== null) this.say(message, answer, () => admission.forgetAnswer(message, found));
      return;
    }
    if (incoming.kind === 'not_text') {
      const answer = `I can only read text messages, and this is ${incoming.what}. Nothing was started. Please send your request as text.`;
      // An album comes as one update per picture.
      return incoming.album === null
        ? this.say(message, answer)
        : this.#sayOnce(`album ${incoming.album}`, message, answer);
    }
    const { relay } = incoming;
    const work = relay === null ? message : { ...message, text: `${message.text}\n\n${RELAYED[relay]}` };
    if (incoming.kind === 'edited') return this.#noteEdit(work, found);
    // A person may forward, or pick from what a bot offers, what others made to look like work.
    if (command !== null && relay !== null) return this.say(message, RELAYED_COMMAND[relay]);
    if (command !== null) {
      const { chatId, threadId, replyTo } = message;
      const { project, place } = found;
      const at = { project, directory: place.directory, chatId, threadId, replyTo };
      return this.#sayMarkdown(message, await this.#parts.commands.answer(command, at));
    }
    await this.#accept(work, found, fence);
  }

  async #accept(message: ChatMessage, admitted: Admitted, fence: readonly Check[]): Promise<void> {
    const fault = this.#parts.acceptor.faultOf(message.text);
    if (fault !== null) return this.say(message, fault);
    const { isNew } = await this.#parts.acceptor.accept(message, admitted, fence);
    if (isNew) {
      this.#errands.run('reaction', (signal) =>
        this.#parts.api.react(message.chatId, message.messageId, ACCEPTED_REACTION, signal),
      );
    }
  }

  /** Telegram also calls it an edit when only a link preview appeared. */
  async #noteEdit(message: ChatMessage, { project }: Admitted): Promise<void> {
    const { records } = this.#parts.store;
    const id = await records.sessionOfMessage(project.key, message.chatId, message.messageId);
    const session = id === null ? null : await records.session(id);
    if (session === null || session.request.message_text === message.text) return;
    const end = endOf(session);
    const answer =
      end === null
        ? 'I ignore edits and continue with the original text. To change your request, send it as a new message. To stop the old one, reply to it with /cancel.'
        : `I ignore edits, and that message ${end}. To ask for something else, send it as a new message.`;
    this.#sayOnce(`edit ${message.chatId} ${message.messageId} ${end}`, message, answer);
  }
}

/** @returns what has become of a message, as the end of a clause; null while there is work for it */
function endOf({ status, stop }: AgentSession): string | null {
  switch (status) {
    case 'completed':
      return 'was already answered';
    case 'failed':
      return 'has already failed';
    case 'cancelled':
      return 'was cancelled';
    case 'pending':
    case 'active':
      return stop?.cause === 'cancel' ? 'is being cancelled' : null;
    default:
      return status satisfies never;
  }
}
