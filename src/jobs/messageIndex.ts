/** Which session a message belongs to: one that a person wrote, a piece of one, or one of ours. */
import type { Redis } from 'ioredis';
import type { Keys } from './keys.js';

type Numbered = (messageId: string) => readonly [projectKey: string, chatId: string, messageId: string];

/** @returns the session, the second attempt if there is one; null for a message never seen */
export async function readSessionOfMessage(
  redis: Redis,
  keys: Keys,
  numbered: Numbered,
  messageId: string,
): Promise<string | null> {
  const key = keys.message(...numbered(messageId));
  const [revival = null, first = null, whole = null] = await redis.hmget(key, 'revival_id', 'session_id', 'part_of');
  const ofWhole = whole === null ? null : await redis.hget(keys.message(...numbered(whole)), 'revival_id');
  return revival ?? ofWhole ?? first ?? redis.get(keys.ownMessage(...numbered(messageId)));
}
