/**
 * The memory of chats: their current conversation, which messages are ours, and how far a bot's updates have been processed.
 */
import { FencedError } from '../errors.js';
import { botOfSession } from '../ids.js';
import { applyCommit, type Check, type Write } from '../redis/commit.js';
import { Script } from '../redis/script.js';
import { isAhead, MINUTE } from '../time.js';
import type { AgentSession } from './model.js';
import { markedNumber } from './names.js';
import { ENDED_KEPT_MS, holderCheck } from './sessionChange.js';
import { type StoreContext, StorePart } from './storePart.js';

/** A message that is tried within this time after a ban may meet it again. */
const SEND_BAN_REMEMBERED_MS = 10 * MINUTE;
/** In place of the first bot, if only that there was one is known. */
const UNKNOWN_BOT = '0';

/**
 * The ban that lasts longest holds: an answer to one message may ask for less time than one to another. A known one whose end is further
 * away than its length was stored by a clock that was ahead.
 */
const BAN_SCRIPT = new Script(`
  local upto, length = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%S+)$')
  local known = tonumber(upto or '0')
  local isSound = known <= tonumber(ARGV[4]) + tonumber(length or '0')
  if isSound and known > tonumber(ARGV[1]) then return 0 end
  redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
  return 1`);

export class ChatMemory extends StorePart {
  /** Starts a new conversation in a place: later messages do not continue the current one. */
  async newConversation(projectKey: string, chatId: string, threadId: string | null): Promise<void> {
    await this.redis.incr(this.keys.conversationEpoch(projectKey, chatId, threadId));
  }

  /** Keeps later messages from continuing a conversation that fails. Changes nothing if the run lost its lane. */
  async leaveConversation(session: AgentSession, conversationId: string): Promise<void> {
    const { redis, keys } = this.context;
    if (session.run === null) return;
    const key = keys.conversation(session.conversation_key, session.run.owner.host);
    const checks = [holderCheck(keys, session), { read: ['GET', key], equals: conversationId } as const];
    await applyCommit(redis, { checks, writes: [['DEL', key]] });
  }

  /** Remembers that a message of ours belongs to a session, so that a reply to it continues the conversation. */
  async recordOwnMessage(
    session: AgentSession,
    messageId: string,
    bot = botOfSession(session.session_id),
  ): Promise<void> {
    await applyCommit(this.redis, { checks: [], writes: ownMessageWrites(this.context, session, messageId, bot) });
  }

  /** The bot whose messages carry no mark, the same for ever. @param isLater whether this one is known to have come later */
  async firstBot(botId: string, isLater = false): Promise<string> {
    const { redis, keys } = this;
    const known = await redis.get(keys.firstBot);
    if (known !== null) return known;
    const isKnown = !isLater && (await redis.exists(keys.updateOffset(botId))) === 1;
    const former = isKnown ? null : await anotherBot(this.context, botId);
    await redis.set(keys.firstBot, former ?? (isLater ? UNKNOWN_BOT : botId), 'NX');
    return (await redis.get(keys.firstBot)) ?? botId;
  }

  /** @returns true to the first caller, who then notifies the session's chat why its message waits */
  async isFirstWordOnWaiting(sessionId: string): Promise<boolean> {
    return (await this.redis.set(this.keys.notifiedWaiting(sessionId), '1', 'PX', ENDED_KEPT_MS, 'NX')) !== null;
  }

  /** The first word was certainly not said. */
  async takeBackFirstWordOnWaiting(sessionId: string): Promise<void> {
    await this.redis.del(this.keys.notifiedWaiting(sessionId));
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
    await this.#ban(this.keys.editBan(chatId), lengthMs, lengthMs);
  }

  /** @returns how much longer Telegram wants no edits in a chat, in milliseconds; 0 if it takes them */
  async editBanMs(chatId: string): Promise<number> {
    return (await this.#banMs(this.keys.editBan(chatId))) ?? 0;
  }

  /** Telegram wants no messages in a chat for so long. Afterwards the first sender takes the turn again. */
  async banSends(chatId: string, lengthMs: number): Promise<void> {
    const { redis, keys } = this;
    await this.#ban(keys.sendBan(chatId), lengthMs, lengthMs + SEND_BAN_REMEMBERED_MS);
    await redis.del(keys.firstSend(chatId));
  }

  /** @returns milliseconds for which Telegram still wants no messages; 0 if they are over and no turn was taken; null without a ban */
  async sendBanMs(chatId: string): Promise<number | null> {
    return this.#banMs(this.keys.sendBan(chatId));
  }

  /** @returns whether the session's message is the one that is tried after the ban */
  async takeFirstSend(chatId: string, sessionId: string, forMs: number): Promise<boolean> {
    const key = this.keys.firstSend(chatId);
    if ((await this.redis.set(key, sessionId, 'PX', forMs, 'NX')) !== null) return true;
    return (await this.redis.get(key)) === sessionId;
  }

  /** The chat takes messages again. */
  async endSendBan(chatId: string): Promise<void> {
    await this.redis.del(this.keys.sendBan(chatId), this.keys.firstSend(chatId));
  }

  async #ban(key: string, lengthMs: number, keptMs: number): Promise<void> {
    const now = this.clock.now();
    await BAN_SCRIPT.run(this.redis, [key], [now + lengthMs, lengthMs, Math.ceil(keptMs), now].map(String));
  }

  async #banMs(key: string): Promise<number | null> {
    const found = await this.redis.get(key);
    if (found === null) return null;
    const [until = 0, lengthMs = 0] = found.split(' ').map(Number);
    const now = this.clock.now();
    return isAhead(until, lengthMs, now) ? until - now : 0;
  }
}

/** @returns another bot whose messages were fetched; null if there is none */
async function anotherBot({ redis, keys }: StoreContext, botId: string): Promise<string | null> {
  const prefix = keys.updateOffset('');
  for await (const found of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    for (const key of found as string[]) if (key !== prefix + botId) return key.slice(prefix.length);
  }
  return null;
}

export function ownMessageWrites(
  { keys }: StoreContext,
  session: AgentSession,
  messageId: string,
  bot = botOfSession(session.session_id),
): Write[] {
  const key = keys.ownMessage(session.project_key, session.request.chat_id, markedNumber(messageId, bot));
  return [['SET', key, session.session_id, 'PX', String(ENDED_KEPT_MS)]];
}

/** A piece of a message that the chat has cut: sent again it starts nothing, and a reply to it is a reply to the message. */
export function pieceWrites({ keys }: StoreContext, session: AgentSession, messageId: string): Write[] {
  const { project_key, session_id, request } = session;
  const key = keys.message(project_key, request.chat_id, markedNumber(messageId, botOfSession(session_id)));
  return [
    ['HSET', key, 'session_id', session_id, 'part_of', request.message_id],
    ['PEXPIRE', key, String(ENDED_KEPT_MS)],
  ];
}
