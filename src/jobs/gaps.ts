/**
 * The gaps when a watchdog of a logs folder was suspended, or its clock jumped, shared with every other watchdog of that folder.
 */
import { parseObject } from '../json.js';
import { DAY } from '../time.js';
import type { WatchdogGap } from './findings.js';
import { StorePart } from './storePart.js';

/** A session is rarely older than a day; if a host has a gap every few minutes, the list holds the recent ones. */
const MOST_KEPT = 50;
const KEPT_FOR_MS = 30 * DAY;

export class Gaps extends StorePart {
  /** Adds it once, however often it is called. */
  async add(logsId: string, gap: WatchdogGap): Promise<void> {
    const key = this.keys.gaps(logsId);
    const text = JSON.stringify(gap);
    await this.redis
      .multi()
      .lrem(key, 0, text)
      .lpush(key, text)
      .ltrim(key, 0, MOST_KEPT - 1)
      .pexpire(key, KEPT_FOR_MS)
      .exec();
  }

  /** @returns the stored gaps, the newest first; an unreadable one is left out, because it excuses nothing */
  async of(logsId: string): Promise<WatchdogGap[]> {
    const texts = await this.redis.lrange(this.keys.gaps(logsId), 0, -1);
    return texts.map(parse).filter((gap) => gap !== null);
  }
}

function parse(text: string): WatchdogGap | null {
  const gap = parseObject<WatchdogGap>(text);
  const isWhole = Number.isFinite(gap?.from) && Number.isFinite(gap?.until) && typeof gap?.by?.host === 'string';
  return isWhole ? (gap as WatchdogGap) : null;
}
