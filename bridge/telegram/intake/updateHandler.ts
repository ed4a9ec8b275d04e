/** When {@link UpdateHandler.handle} returns, all that must not be lost is stored; answers and reactions follow on their own. */
import type { Update } from 'grammy/types';
import { redactShapes } from '../../../src/log/redact.js';
import { shorten } from '../../../src/log/shorten.js';
import type { Check } from '../../../src/redis/commit.js';
import { DAY } from '../../../src/time.js';
import type { MessageAcceptor } from '../../intake/acceptMessage.js';
import { type Admission, type Admitted, type ChatMessage, OncePer, type Refused } from '../../intake/admission.js';
import type { Commands } from '../../intake/commands/commands.js';
import {
  answersSilently,
  type Command,
  isKnownCommand,
  isLoneStop,
  parseCommand,
} from '../../intake/commands/commandText.js';
import type { TelegramFoundation, Text } from '../api.js';
import type { Errands } from '../errands.js';
import { MESSAGE_LIMIT, renderClean } from '../markdown/render.js';
import { answerToEdit } from './edits.js';
import { type Bot, type Incoming, type IncomingText, type Relay, readUpdate } from './incoming.js';
import { pasteIn, readOrNull } from './pastes.js';

export interface UpdateHandlerParts extends TelegramFoundation {
  readonly admission: Admission;
  readonly acceptor: MessageAcceptor;
  readonly commands: Commands;
}

const ACCEPTED_REACTION = '👀';
const NOTE_PERIOD_MS = DAY;
/** After the words of others, for the agent: the chat shows only the beginning of a message. */
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
   * @param later the updates after it: one paste may have become several messages
   * @returns those of them that were handled with it
   * @throws UsageError if the update is malformed
   * @throws FencedError if another process takes them in now
   * @throws ioredis' error if Redis is unreachable; the same update may be handled again later
   */
  async handle(
    update: Update,
    bot: Bot,
    fence: readonly Check[],
    later: readonly Update[] = [],
  ): Promise<readonly Update[]> {
    const incoming = readUpdate(update, bot);
    if (incoming.kind === 'migrated') this.#noteMigration(incoming);
    if (incoming.kind === 'migrated' || incoming.kind === 'nothing') return [];
    const paste = pasteIn(incoming, later, bot);
    const isNew = await this.#handleMessage(await this.#numbered(paste?.whole ?? incoming), bot, fence);
    // Accepted before: a piece that came after that is a message of its own.
    return isNew ? (paste?.pieces ?? []) : [];
  }

  /** @returns the last piece so far of a paste, beginning with the update, whose next one may still come; null if there is none */
  unfinishedPaste(update: Update, later: readonly Update[], bot: Bot): Update | null {
    const incoming = readOrNull(update, bot);
    const paste = incoming === null ? null : pasteIn(incoming, later, bot);
    if (paste === null || paste.isComplete || !this.#parts.admission.admit(paste.whole.message).admitted) return null;
    return paste.pieces.at(-1) ?? update;
  }

  /** @returns the message that handling this update would accept; null if it would start nothing */
  wouldAccept(update: Update, bot: Bot): ChatMessage | null {
    const incoming = readUpdate(update, bot);
    if (incoming.kind !== 'text' || isLoneStop(incoming.typed)) return null;
    const command = parseCommand(incoming.typed, bot.username);
    if (command === 'for_another' || (command === null ? !this.#isForUs(incoming) : command.name !== 'ask'))
      return null;
    const { message } = incoming;
    const { admission, acceptor } = this.#parts;
    return admission.admit(message).admitted && acceptor.faultOf(message.text) === null ? message : null;
  }

  /** `text` is plain. @param onLost called if the answer was not sent, and another one could be */
  say(message: ChatMessage, text: string, onLost?: () => void): void {
    this.#answer(message, { plain: shorten(redactShapes(text), MESSAGE_LIMIT), html: null }, onLost);
  }

  /** As {@link say}, but only the first time for this key and day, if that was sent. */
  #sayOnce(key: string, message: ChatMessage, text: string): void {
    if (this.#answered.first(key)) this.say(message, text, () => this.#answered.forget(key));
  }

  #sayMarkdown(message: ChatMessage, text: string, silent: boolean): void {
    const [part] = renderClean(text, redactShapes).parts;
    if (part !== undefined) this.#answer(message, part, undefined, silent);
  }

  #answer(message: ChatMessage, text: Text, onLost?: () => void, silent = false): void {
    const to = { chatId: message.chatId, threadId: message.threadId, replyTo: message.messageId };
    const call = { name: 'answer', chatId: message.chatId } as const;
    this.#errands.run(call, (signal) => this.#parts.api.sendMessage(to, text, { signal, silent }), onLost);
  }

  /** Strangers can let a group of their own migrate: only a listed one needs any action. */
  #noteMigration({ chatId, toChatId }: Extract<Incoming, { kind: 'migrated' }>): void {
    const fields = { chat_id: chatId, new_chat_id: toChatId };
    if (!this.#parts.admission.isListed(chatId)) {
      this.#parts.logger.debug(fields, 'a chat that no project lists has another id now');
      return;
    }
    const said = `chat ${chatId} is now ${toChatId}: put the new id into watchkeeper.config.json`;
    this.#parts.logger.warn(fields, said);
  }

  /** @returns false if it is work that was accepted before */
  async #handleMessage(
    incoming: Extract<Incoming, { message: ChatMessage }>,
    bot: Bot,
    fence: readonly Check[],
  ): Promise<boolean> {
    const { message } = incoming;
    const command = incoming.kind === 'not_text' ? null : parseCommand(incoming.typed, bot.username);
    if (command === 'for_another') return true;
    const isForUs = command !== null || this.#isForUs(incoming);
    const found = this.#parts.admission.admit(message);
    if (!found.admitted) {
      // Other bots of the group have commands, too.
      if (this.#isForUs(incoming) || (command !== null && isKnownCommand(command))) this.#refuse(message, found);
      return true;
    }
    if (incoming.kind === 'not_text') {
      if (isForUs) this.#answerContent(incoming);
      return true;
    }
    if (incoming.kind === 'edited') {
      // An unknown command may be that of another bot.
      const isCalled = this.#isForUs(incoming) || (command !== null && isKnownCommand(command));
      await this.#noteEdit({ ...incoming, message: this.#workOf(incoming) }, found, isCalled);
      return true;
    }
    const { relay } = incoming;
    const asked =
      command ??
      (relay === null ? await this.#parts.commands.stopIn(incoming.typed, placeOf(message, found), isForUs) : null);
    if (asked === null && !isForUs) return true;
    if (asked !== null && (asked.name !== 'ask' || relay !== null || message.text === '')) {
      // A person may forward, or pick from a bot's offers, a text that others made to look like work.
      if (relay !== null) this.say(message, RELAYED_COMMAND[relay]);
      else await this.#carryOut(asked, message, found, bot);
      return true;
    }
    return this.#accept(await this.#withEarlier(incoming, found), found, fence);
  }

  /** @returns it with the bot whose numbers its ids are */
  async #numbered<Read extends { readonly message: ChatMessage }>(incoming: Read): Promise<Read> {
    const { message } = incoming;
    const mark = await this.#parts.numbers.markIn(message.chatId);
    const receivedBy = this.#parts.api.botId;
    return { ...incoming, message: { ...message, receivedBy, ...(mark !== null && { bot: mark }) } };
  }

  /** In a group people talk with each other: only messages addressed to the bot are for it, unless its chat wants all of it. */
  #isForUs({ message, isAddressed }: { readonly message: ChatMessage; readonly isAddressed: boolean }): boolean {
    return isAddressed || this.#parts.admission.triggerOf(message) === 'any';
  }

  #refuse(message: ChatMessage, refused: Refused): void {
    const { admission, logger } = this.#parts;
    const answer = admission.refuse(message, refused);
    const { chatId: chat_id, messageId: message_id, sender } = message;
    logger.info({ chat_id, message_id, sender_id: sender.id, why: refused.why }, 'a message was refused');
    if (answer !== null) this.say(message, answer, () => admission.forgetAnswer(message, refused));
  }

  #answerContent({ message, what, album }: Extract<Incoming, { kind: 'not_text' }>): void {
    const answer = `I can only read text messages, and this is ${what}. Nothing was started. Please send your request as text.`;
    // An album comes as one update per picture, and each may be edited.
    this.#sayOnce(
      album === null ? `content ${message.chatId} ${message.messageId}` : `album ${album}`,
      message,
      answer,
    );
  }

  async #carryOut(command: Command, message: ChatMessage, found: Admitted, bot: Bot): Promise<void> {
    const at = { ...placeOf(message, found), hearsMentions: bot.readsGroups ?? true };
    this.#sayMarkdown(message, await this.#parts.commands.answer(command, at), answersSilently(command));
  }

  #workOf({ message, relay }: IncomingText): ChatMessage {
    return relay === null ? message : { ...message, text: `${message.text}\n\n${RELAYED[relay]}` };
  }

  /** An answered message that no conversation knows, such as talk in a group, or the answer to a command. */
  async #withEarlier(incoming: IncomingText, { project }: Admitted): Promise<ChatMessage> {
    const message = this.#workOf(incoming);
    const { chatId, replyTo, text, bot } = message;
    if (incoming.ownEarlier === null || replyTo === null) return message;
    const known = await this.#parts.store.records.sessionOfMessage(project.key, chatId, replyTo, bot);
    return known === null ? { ...message, text: `${text}\n\n${incoming.ownEarlier}`.trim() } : message;
  }

  async #accept(message: ChatMessage, admitted: Admitted, fence: readonly Check[]): Promise<boolean> {
    const fault = this.#parts.acceptor.faultOf(message.text);
    if (fault !== null) this.say(message, fault);
    if (fault !== null) return true;
    const { isNew } = await this.#parts.acceptor.accept(message, admitted, fence);
    if (!isNew) return false;
    for (const messageId of [message.messageId, ...(message.pieces ?? [])]) {
      this.#errands.run({ name: 'reaction', chatId: message.chatId }, (signal) =>
        this.#parts.api.react(message.chatId, messageId, ACCEPTED_REACTION, signal),
      );
    }
    return true;
  }

  async #noteEdit(edited: IncomingText, { project }: Admitted, isForUs: boolean): Promise<void> {
    const { message } = edited;
    const said = await answerToEdit(this.#parts.store.records, project.key, edited, isForUs);
    if (said !== null) this.#sayOnce(`edit ${message.chatId} ${message.messageId} ${said}`, message, said);
  }
}

function placeOf({ chatId, threadId, replyTo, bot }: ChatMessage, { project, place }: Admitted) {
  return { project, directory: place.directory, chatId, threadId, replyTo, bot };
}
