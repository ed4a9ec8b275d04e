/**
 * What is remembered of chats: their current conversation, which messages are ours, and how far a bot's updates have been
 * processed.
 */
import { FencedError } from '../errors.js';
import { applyCommit, type Check, type Write } from '../redis/commit.js';
import type { AgentSession } from './model.js';
import { ENDED_KEPT_MS, holderCheck } from './sessionChange.js';
import { type StoreContext, StorePart } from './storePart.js';

export class ChatMemory extends StorePart {
  /** Starts a new conversation in a place: later messages do not continue the current one. */
  async newConversation(projectKey: string, chatId: string, threadId: string | null): Promise<void> {
    await this.redis.incr(this.keys.conversationEpoch(projectKey, chatId, threadId));
  }

  /** A conversation that cannot go on is not continued by later messages. Changes nothing if the run lost its lane. */
  async leaveConversation(session: AgentSession, conversationId: string): Promise<void> {
    const { redis, keys } = this.context;
    if (session.run === null) return;
    const key = keys.conversation(session.conversation_key, session.run.owner.host);
    const checks = [holderCheck(keys, session), { read: ['GET', key], equals: conversationId } as const];
    await applyCommit(redis, { checks, writes: [['DEL', key]] });
  }

  /** Remembers that a message of ours belongs to a session, so that a reply to it continues the conversation. */
  async recordOwnMessage(session: AgentSession, messageId: string): Promise<void> {
    await applyCommit(this.redis, { checks: [], writes: ownMessageWrites(this.context, session, messageId) });
  }

  /** @returns true to the first caller, who then notifies the session's chat why its message waits */
  async isFirstWordOnWaiting(sessionId: string): Promise<boolean> {
    return (await this.redis.set(this.keys.notifiedWaiting(sessionId), '1', 'PX', ENDED_KEPT_MS, 'NX')) !== null;
  }

  /** @throws FencedError if another process fetches the bot's messages; the offset is not changed */
  async saveUpdateOffset(botId: string, offset: number, fence: readonly Check[] = []): Promise<void> {
    const writes: Write[] = [['SET', this.keys.updateOffset(botId), String(offset)]];
    if (await applyCommit(this.redis, { checks: fence, writes })) return;
    throw new FencedError('another process receives messages now');
  }
}

export function ownMessageWrites({ keys }: StoreContext, session: AgentSession, messageId: string): Write[] {
  const key = keys.ownMessage(session.project_key, session.request.chat_id, messageId);
  return [['SET', key, session.session_id, 'PX', String(ENDED_KEPT_MS)]];
}
