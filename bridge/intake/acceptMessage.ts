/** The one way into the queue: finds a message's place and the conversation that it continues. Accepted means stored. */
import { didYouMean } from '../../src/config/didYouMean.js';
import { directoryFor, servedPlaces } from '../../src/config/servedPlaces.js';
import type { Project, Settings } from '../../src/config/settings.js';
import { nullIfUnreadable, UsageError } from '../../src/errors.js';
import { commandLineSessionId, telegramSessionId } from '../../src/ids.js';
import type { AgentSession, HandedOver, Sender } from '../../src/jobs/model.js';
import { conversationKey, laneOf } from '../../src/jobs/names.js';
import type { SessionDraft } from '../../src/jobs/newRecords.js';
import type { Store } from '../../src/jobs/store.js';
import type { AcceptedMessage } from '../../src/jobs/transitions.js';
import type { Logger } from '../../src/log/logger.js';
import type { Check } from '../../src/redis/commit.js';
import { DAY } from '../../src/time.js';
import { TERMINAL_CHAT } from '../chat/chatRouter.js';
import type { Admitted, ChatMessage } from './admission.js';

/** UTF-16 units. Telegram's own messages end at 4,096; this is for the command line. */
export const LONGEST_MESSAGE = 100_000;

/** The answer to a person whose message waits for Redis, exactly as the contract has it. */
export const STORE_AWAY_TEXT = 'Received; I start it when my store is back';

/** An operator's message; the allow-list does not apply. */
export interface Order {
  /** A ULID of its own: the same order given again, because Redis' answer was lost, is accepted once. */
  readonly id: string;
  readonly projectKey: string;
  /** A chat of the project that gets the answer; null for the terminal. */
  readonly chatId: string | null;
  readonly sender: Sender;
  readonly text: string;
  /** The handoff whose work the agent takes over. None if missing. */
  readonly handoff?: HandedOver;
}

/** @throws as `Transitions.accept` */
export type Accept = (
  draft: SessionDraft,
  fence: readonly Check[],
  pieces?: readonly string[],
) => Promise<AcceptedMessage>;

/** For processes other than the bridge: the lane's bridge is woken. */
export function acceptForOthers({ transitions }: Store): Accept {
  return (draft, fence, pieces) => transitions.accept(draft, { fence, pieces });
}

interface AcceptorParts {
  readonly store: Store;
  readonly accept: Accept;
  readonly settings: Settings;
  readonly logger: Logger;
  isHostLost(host: string): boolean;
}

export class MessageAcceptor {
  readonly #parts: AcceptorParts;

  constructor(parts: AcceptorParts) {
    this.#parts = parts;
  }

  /** @returns why this text starts nothing, in words for the chat; null if it may */
  faultOf(text: string): string | null {
    if (text.trim() === '') return 'The message has no text, so nothing was started.';
    if (text.length <= LONGEST_MESSAGE) return null;
    return `The message has ${text.length} characters; ${LONGEST_MESSAGE} is the limit. Nothing was started.`;
  }

  /**
   * Accepts an admitted chat message without a fault. A message that was seen before changes nothing.
   * @param fence the condition for taking the chat's messages in
   * @throws ioredis' error if Redis is unreachable: then the same call may come again
   * @throws FencedError if another process takes them in now
   * @throws UsageError if the ids cannot name a session
   */
  async accept(message: ChatMessage, { project }: Admitted, fence: readonly Check[] = []): Promise<AcceptedMessage> {
    const { chatId, messageId, bot, receivedBy, writtenAt } = message;
    const idFor = (mark: string | undefined) => telegramSessionId(project.key, chatId, messageId, mark);
    const accepted = await this.#store(project, message, idFor(bot), fence);
    if (accepted.isNew || !isAnother(accepted.session, writtenAt)) return accepted;
    // A number that has come back, although nothing says why: what a person writes today is no repetition of last week.
    const { session_id } = accepted.session;
    const said = `message ${messageId} of chat ${chatId} has the number of session ${session_id}, but is another one`;
    this.#parts.logger.warn({ session_id, chat_id: chatId, message_id: messageId }, said);
    const again = await this.#store(project, { ...message, bot: receivedBy }, idFor(receivedBy), fence);
    if (again.isNew || !isAnother(again.session, writtenAt)) return again;
    throw new UsageError(`${said}, and so is ${again.session.session_id}`);
  }

  /** @throws UsageError if the project, the chat or the text cannot be used; ioredis' error if Redis is unreachable */
  async acceptOrder(order: Order): Promise<AcceptedMessage> {
    const { project, chatId } = this.#destinationOf(order);
    const { id: messageId, sender, text, handoff = null } = order;
    const fault = this.faultOf(text);
    if (fault !== null) throw new UsageError(fault);
    const message = { chatId, threadId: null, messageId, sender, text, replyTo: null };
    return this.#store(project, { ...message, handoff }, commandLineSessionId(project.key, messageId), []);
  }

  async #store(
    project: Project,
    message: ChatMessage & { readonly handoff?: HandedOver | null },
    session_id: string,
    fence: readonly Check[],
  ) {
    const { handoff = null } = message;
    const { chatId: chat_id, threadId: thread_id, messageId: message_id, sender, text: message_text } = message;
    const { key: project_key, agent } = project;
    const { host, directory: working_directory } = await this.#hostFor(project, chat_id, thread_id);
    if (handoff !== null && host !== this.#parts.settings.host)
      throw new UsageError(
        `the project "${project_key}" is worked on by host ${host}, which cannot read the handoffs here`,
      );
    const lane = laneOf(host, working_directory);
    const conversation_key = await this.#conversationOf(project_key, message);
    const asked = { session_id, project_key, chat_id, message_id, thread_id, sender, message_text, handoff };
    const work = { lane, working_directory, agent: agent.kind, conversation_key };
    const accepted = await this.#parts.accept({ ...asked, ...work }, fence, message.pieces ?? []);
    if (accepted.isNew) {
      const said = `session ${session_id}: message accepted (project ${project_key})`;
      this.#parts.logger.info({ session_id, project_key, chat_id, message_id, lane }, said);
    } else {
      const said = `message ${message_id} of chat ${chat_id} was accepted before, as session ${accepted.session.session_id}`;
      this.#parts.logger.info({ session_id: accepted.session.session_id, chat_id, message_id }, said);
    }
    return accepted;
  }

  #destinationOf({ projectKey, chatId }: Order): { project: Project; chatId: string } {
    const { projects } = this.#parts.settings;
    const project = projects.get(projectKey);
    if (project === undefined) {
      const known = [...projects.keys()];
      const choice = `${didYouMean(projectKey, known)} (there are: ${known.join(', ')})`;
      const hint = known.length === 0 ? '; none is configured' : choice;
      throw new UsageError(`there is no project ${JSON.stringify(projectKey)}${hint}`);
    }
    if (chatId === null || chatId === TERMINAL_CHAT) return { project, chatId: TERMINAL_CHAT };
    if (!project.places.some((each) => each.chatId === chatId)) {
      throw new UsageError(`the project "${projectKey}" does not list the chat ${JSON.stringify(chatId)}`);
    }
    return { project, chatId };
  }

  /** Its home, unless that is lost, or never existed, and this host can do it. */
  async #hostFor({ key, host: home }: Project, chatId: string, threadId: string | null) {
    const { settings, store, isHostLost } = this.#parts;
    const here = directoryFor(servedPlaces(settings), key, chatId, threadId);
    const isAtHome = home === null || home === settings.host || isHostLost(home);
    if (here !== null && isAtHome) return { host: settings.host, directory: here };
    const there = home === null ? null : directoryFor(await store.presences.placesOf(home), key, chatId, threadId);
    if (home !== null && there !== null) return { host: home, directory: there };
    if (here !== null) return { host: settings.host, directory: here };
    throw new UsageError(`the project "${key}" is not served here, and its host ${home} has never had a bridge`);
  }

  /** A reply continues the conversation of the message that it answers, ours or a person's. */
  async #conversationOf(projectKey: string, { chatId, threadId, replyTo, bot }: ChatMessage): Promise<string> {
    const { records } = this.#parts.store;
    const answered = replyTo === null ? null : await records.sessionOfMessage(projectKey, chatId, replyTo, bot);
    // A message is not lost because the one that it answers cannot be read.
    const session = answered === null ? null : await records.session(answered).catch(nullIfUnreadable);
    if (session !== null) return session.conversation_key;
    return conversationKey(projectKey, chatId, threadId, await records.conversationEpoch(projectKey, chatId, threadId));
  }
}

/** Telegram keeps an unconfirmed update for a day: what was written later than that after the acceptance is another message. */
function isAnother({ created_at }: AgentSession, writtenAt: number | undefined): boolean {
  return writtenAt !== undefined && writtenAt > created_at + DAY;
}
