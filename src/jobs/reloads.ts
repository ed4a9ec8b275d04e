/** Asks every bridge and standby that shares this Redis to read its configuration again, and collects what they say. */
import { ulid } from '../ids.js';
import { parseObject } from '../json.js';
import { SECOND } from '../time.js';
import { StorePart } from './storePart.js';
import { publishWake } from './wakes.js';

export interface ReloadAnswer {
  readonly service: 'bridge' | 'watchdog';
  readonly host: string;
  readonly pid: number;
  /** False if the configuration was rejected, and the old one stays. */
  readonly ok: boolean;
  /** The changes, or the reason of its rejection. */
  readonly said: string;
}

export type ReloadOutcome = Pick<ReloadAnswer, 'ok' | 'said'>;

const KEPT_MS = 60 * SECOND;
const REQUEST = /^[0-9A-HJKMNP-TV-Z]{26}$/;

export class Reloads extends StorePart {
  /** @returns the request's id, and how many processes have received it */
  async ask(): Promise<{ id: string; heard: number }> {
    const id = ulid(this.clock);
    return { id, heard: await publishWake(this.context, { reload: id }) };
  }

  /** @param id as it was received; any client of Redis may have sent it */
  async answer(id: string, answer: ReloadAnswer): Promise<void> {
    if (!REQUEST.test(id)) return;
    const key = this.keys.reload(id);
    await this.redis.multi().rpush(key, JSON.stringify(answer)).pexpire(key, KEPT_MS).exec();
  }

  async answers(id: string): Promise<ReloadAnswer[]> {
    const texts = await this.redis.lrange(this.keys.reload(id), 0, -1);
    return texts.flatMap((text) => (parseObject<ReloadAnswer>(text) as ReloadAnswer | null) ?? []);
  }
}
