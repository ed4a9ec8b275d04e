/**
 * The one way into the queue, for Telegram, the terminal and the command line alike: finds the message's place and the
 * conversation that it continues; then one commit. Accepted means stored.
 */
import { didYouMean } from '../../src/config/didYouMean.js';
import { directoryFor, servedPlaces } from '../../src/config/servedPlaces.js';
import type { Project, Settings } from '../../src/config/settings.js';
import { CorruptRecordError, UsageError } from '../../src/errors.js';
import { commandLineSessionId, telegramSessionId } from '../../src/ids.js';
import type { AgentSession, Sender } from '../../src/jobs/model.js';
import { conversationKey, laneOf } from '../../src/jobs/names.js';
import type { SessionDraft } from '../../src/jobs/newRecords.js';
import type { Store } from '../../src/jobs/store.js';
import type { AcceptedMessage } from '../../src/jobs/transitions.js';
import type { Logger } from '../../src/log/logger.js';
import type { Check } from '../../src/redis/commit.js';
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
  /** A chat of the project that gets the answer; null: the terminal. */
  readonly chatId: string | null;
  readonly sender: Sender;
  readonly text: string;
}

/** @throws as `Transitions.accept` */
export type Accept = (draft: SessionDraft, fence: readonly Check[]) => Promise<AcceptedMessage>;

/** For processes other than the bridge: the lane's bridge is woken. */
export function acceptForOthers({ transitions }: Store): Accept {
  return (draft, fence) => transitions.accept(draft, { fence });
}

export interface AcceptorParts {
  readonly store: Store;
  readonly accept: Accept;
  readonly settings: Settings;
  readonly logger: Logger;
  /** @returns whether the bridge of a host is known to be lost */
  isHostLost(host: string): boolean;
}

export class MessageAcceptor {
  private readonly parts: AcceptorParts;

  constructor(parts: AcceptorParts) {
    this.parts = parts;
  }

  /** @returns why this text starts nothing, in words for the chat; null if it may */
  faultOf(text: string): string | null {
    if (text.trim() === '') return 'The message holds no text, so nothing was started.';
    if (text.length <= LONGEST_MESSAGE) return null;
    return `The message has ${text.length} characters; ${LONGEST_MESSAGE} is the most that can be taken. Nothing was started.`;
  }

  /**
   * Accepts an admitted chat message without a fault. A message that was seen before changes nothing.
   * @param fence the condition for taking the chat's messages in
   * @throws ioredis' error if Redis is unreachable: then the same call may come again
   * @throws FencedError if another process takes them in now
   * @throws UsageError if the ids cannot name a session
   */
  async accept(message: ChatMessage, { project }: Admitted, fence: readonly Check[] = []): Promise<AcceptedMessage> {
    const { chatId, threadId, messageId, sender, text, replyTo } = message;
    const draft = {
      ...(await this.work(project, chatId, threadId)),
      session_id: telegramSessionId(project.key, chatId, messageId),
      chat_id: chatId,
      message_id: messageId,
      thread_id: threadId,
      sender,
      message_text: text,
      conversation_key: await this.conversationOf(project.key, chatId, threadId, replyTo),
    };
    return this.store(draft, fence);
  }

  /**
   * @throws UsageError if the project, the chat or the text cannot be used
   * @throws ioredis' error if Redis is unreachable
   */
  async acceptOrder(order: Order): Promise<AcceptedMessage> {
    const { project, chatId } = this.destinationOf(order);
    const fault = this.faultOf(order.text);
    if (fault !== null) throw new UsageError(fault);
    return this.store({
      ...(await this.work(project, chatId, null)),
      session_id: commandLineSessionId(project.key, order.id),
      chat_id: chatId,
      message_id: order.id,
      thread_id: null,
      sender: order.sender,
      message_text: order.text,
      conversation_key: await this.conversationOf(project.key, chatId, null, null),
    });
  }

  private async store(draft: SessionDraft, fence: readonly Check[] = []): Promise<AcceptedMessage> {
    const accepted = await this.parts.accept(draft, fence);
    const { session_id, project_key, chat_id, message_id, lane } = draft;
    if (accepted.isNew) {
      const said = `session ${session_id}: message accepted (project ${project_key})`;
      this.parts.logger.info({ session_id, project_key, chat_id, message_id, lane }, said);
    }
    return accepted;
  }

  private destinationOf({ projectKey, chatId }: Order): { project: Project; chatId: string } {
    const { projects } = this.parts.settings;
    const project = projects.get(projectKey);
    if (project === undefined) {
      const known = [...projects.keys()];
      const hint =
        known.length === 0
          ? '; none is configured'
          : `${didYouMean(projectKey, known)} (there are: ${known.join(', ')})`;
      throw new UsageError(`there is no project ${JSON.stringify(projectKey)}${hint}`);
    }
    if (chatId === null || chatId === TERMINAL_CHAT) {
      return { project, chatId: TERMINAL_CHAT };
    }
    if (!project.places.some((each) => each.chatId === chatId)) {
      throw new UsageError(`the project "${projectKey}" does not list the chat ${JSON.stringify(chatId)}`);
    }
    return { project, chatId };
  }

  private async work(
    project: Project,
    chatId: string,
    threadId: string | null,
  ): Promise<Pick<SessionDraft, 'project_key' | 'lane' | 'working_directory' | 'agent'>> {
    const { host, directory } = await this.hostFor(project, chatId, threadId);
    return {
      project_key: project.key,
      lane: laneOf(host, directory),
      working_directory: directory,
      agent: project.agent.kind,
    };
  }

  /** Its home, unless that is lost, or never existed, and this host can do it. */
  private async hostFor(
    { key, host: home }: Project,
    chatId: string,
    threadId: string | null,
  ): Promise<{ host: string; directory: string }> {
    const { settings, store, isHostLost } = this.parts;
    const here = directoryFor(servedPlaces(settings), key, chatId, threadId);
    const isAtHome = home === null || home === settings.host || isHostLost(home);
    if (here !== null && isAtHome) return { host: settings.host, directory: here };
    const there = home === null ? null : directoryFor(await store.presences.placesOf(home), key, chatId, threadId);
    if (home !== null && there !== null) return { host: home, directory: there };
    if (here !== null) return { host: settings.host, directory: here };
    throw new UsageError(`the project "${key}" is not served here, and its host ${home} has never had a bridge`);
  }

  /** A reply continues the conversation of the message that it answers, ours or a person's. */
  private async conversationOf(projectKey: string, chatId: string, threadId: string | null, replyTo: string | null) {
    const { records } = this.parts.store;
    const answered = replyTo === null ? null : await records.sessionOfMessage(projectKey, chatId, replyTo);
    const session = answered === null ? null : await records.session(answered).catch(nullIfCorrupt);
    if (session !== null) return session.conversation_key;
    return conversationKey(projectKey, chatId, threadId, await records.conversationEpoch(projectKey, chatId, threadId));
  }
}

/** A message is not lost because the one that it answers cannot be read. */
function nullIfCorrupt(error: unknown): AgentSession | null {
  if (error instanceof CorruptRecordError) return null;
  throw error;
}
