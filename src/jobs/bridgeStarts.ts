/** The recent starts of a host's bridge that no orderly stop followed: nothing else shows one that is killed again and again. */
import { applyCommit } from '../redis/commit.js';
import { DAY, MINUTE } from '../time.js';
import { StorePart } from './storePart.js';

/** This many starts within {@link QUICK_MS} are a fault. */
export const MOST_QUICK_STARTS = 3;
export const QUICK_MS = 10 * MINUTE;
const KEPT_MS = DAY;
const MOST_KEPT = 50;

/** @returns when the start of this id was, epoch milliseconds; NaN for none of ours */
export function startedAt(start: string): number {
  return Number(start.split('.', 1)[0]);
}

export class BridgeStarts extends StorePart {
  /** @param starts the ids of this start, and of earlier ones that may not have reached the store; at least one */
  async note(host: string, starts: readonly string[]): Promise<void> {
    const key = this.keys.bridgeStarts(host);
    await applyCommit(this.redis, {
      checks: [],
      writes: [
        ['ZADD', key, ...starts.flatMap((start) => [String(startedAt(start)), start])],
        ['ZREMRANGEBYRANK', key, '0', String(-MOST_KEPT - 1)],
        ['PEXPIRE', key, String(KEPT_MS)],
      ],
    });
  }

  /** It stopped in order, so it does not count. */
  async ended(host: string, start: string): Promise<void> {
    await this.redis.zrem(this.keys.bridgeStarts(host), start);
  }

  /**
   * @returns the ids of the starts within the last {@link QUICK_MS} that no orderly stop followed, the oldest first
   */
  async recent(host: string): Promise<string[]> {
    return this.redis.zrangebyscore(this.keys.bridgeStarts(host), this.clock.now() - QUICK_MS, '+inf');
  }

  /** @returns whether the current series was not reported yet; it then counts as reported while it lasts */
  async isNews(host: string): Promise<boolean> {
    const key = this.keys.bridgeRestartsReported(host);
    const now = this.clock.now();
    const reported = await this.redis.get(key);
    if (reported !== null && now - Number(reported) < QUICK_MS) return false;
    return applyCommit(this.redis, {
      checks: [{ read: ['GET', key], equals: reported }],
      writes: [['SET', key, String(now), 'PX', String(KEPT_MS)]],
    });
  }
}
