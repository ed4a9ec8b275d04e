/**
 * What is remembered of chats: their current conversation, which messages are ours, and how far a bot's updates have been
 * processed.
 */
import { FencedError } from '../errors.js';
import { applyCommit, type Check, type Write } from '../redis/commit.js';
import { isAhead } from '../time.js';
import type { AgentSession } from './model.js';
import { ENDED_KEPT_MS } from './sessionChange.js';
import { type StoreContext, StorePart } from './storePart.js';

export class ChatMemory extends StorePart {
  /** Starts a new conversation in a place: later messages do not continue the current one. */
  async newConversation(projectKey: string, chatId: string, threadId: string | null): Promise<void> {
    await this.redis.incr(this.keys.conversationEpoch(projectKey, chatId, threadId));
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

  /** Telegram wants no edits in a chat for so long: that binds every process. */
  async banEdits(chatId: string, lengthMs: number): Promise<void> {
    if (lengthMs <= 0) return;
    const until = this.clock.now() + lengthMs;
    await this.redis.set(this.keys.editBan(chatId), `${until} ${lengthMs}`, 'PX', Math.ceil(lengthMs));
  }

  /** @returns how much longer Telegram wants no edits in a chat, in milliseconds; 0 if it takes them */
  async editBanMs(chatId: string): Promise<number> {
    const [until = 0, lengthMs = 0] = ((await this.redis.get(this.keys.editBan(chatId))) ?? '').split(' ').map(Number);
    const now = this.clock.now();
    return isAhead(until, lengthMs, now) ? until - now : 0;
  }
}

export function ownMessageWrites({ keys }: StoreContext, session: AgentSession, messageId: string): Write[] {
  const key = keys.ownMessage(session.project_key, session.request.chat_id, messageId);
  return [['SET', key, session.session_id, 'PX', String(ENDED_KEPT_MS)]];
}
