/**
 * What a living bridge says of itself every few seconds, so that a command beside it knows what it may do: whoever asks
 * Telegram for messages while our own bridge does so takes the poll away from it.
 */

import type { Redis } from 'ioredis';
import type { ServedPlace } from '../config/servedPlaces.js';
import type { ProjectRules } from '../config/settings.js';
import type { ProcessIdentity } from '../host/identity.js';
import { applyCommit, type Check } from '../redis/commit.js';
import { SECOND } from '../time.js';
import type { Keys } from './keys.js';

/** Instants are UTC epoch milliseconds of the bridge's clock; null where it has not happened. */
export interface Presence {
  readonly v: 1;
  readonly owner: ProcessIdentity;
  readonly started_at: number;
  readonly said_at: number;
  /** The bot whose messages it fetches; null without Telegram, and while another bridge does so. */
  readonly bot_id: string | null;
  /** When the last `getUpdates` completed. */
  readonly polled_at: number | null;
  /** What keeps it from fetching messages, in a word or two; null where nothing does. */
  readonly poll_trouble: string | null;
  /** When its worker last took a job. */
  readonly took_job_at: number | null;
  /** Whether as many agents run as may run: then it takes no job, and rightly. */
  readonly is_full: boolean;
  /** Since when it is being stopped: it serves nobody any more, and lives until its runs have ended. Missing before. */
  readonly draining_since?: number;
  /** By project, what its watchdog judges by: a command may have been started in another environment. */
  readonly rules?: Readonly<Record<string, ProjectRules>>;
}

/** A time without a bridge that was reported and is not over. Instants are UTC epoch milliseconds. */
export interface BridgeAbsence {
  readonly incident_id: string;
  readonly since: number;
  /** When the host's bridge last spoke; null where none ever did. */
  readonly last_word: number | null;
}

const TOUCHED_FOR_MS = 60 * SECOND;

export class Presences {
  readonly #redis: Redis;
  readonly #keys: Keys;

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /**
   * A draining bridge serves nobody: to other hosts it is silent, so that they take over what waits there.
   * @param places where the host works
   * @param forMs after this without another word the bridge counts as gone, in milliseconds
   */
  async say(presence: Presence, places: readonly ServedPlace[], forMs: number): Promise<void> {
    const text = JSON.stringify(presence);
    const words = this.#keysOf(presence).map((key) => ['SET', key, text, 'PX', String(forMs)] as const);
    const isServing = presence.draining_since === undefined;
    const seen = ['SET', this.#keys.bridgeSeen(presence.owner.host), String(presence.said_at)] as const;
    const served = ['SET', this.#keys.hostPlaces(presence.owner.host), JSON.stringify(places)] as const;
    await applyCommit(this.#redis, { checks: [], writes: isServing ? [...words, seen, served] : words });
  }

  /** One small write that means nothing: whether the store takes any. One that is full refuses it. */
  async touch(host: string): Promise<void> {
    await this.#redis.set(this.#keys.touched(host), '', 'PX', TOUCHED_FOR_MS);
  }

  /** What a successor on the same host has said meanwhile may go with it, until it speaks again. */
  async takeBack(presence: Presence): Promise<void> {
    await this.#redis.del(...this.#keysOf(presence));
  }

  /** It fetches the bot's messages no more. */
  async takeBackPoll({ bot_id }: Presence): Promise<void> {
    if (bot_id !== null) await this.#redis.del(this.#keys.poller(bot_id));
  }

  /** @returns the bridge of the host, serving or draining; null where none has spoken lately */
  async ofHost(host: string): Promise<Presence | null> {
    return this.#read(this.#keys.bridge(host));
  }

  /** @returns when a bridge of the host last said that it serves, epoch milliseconds; null where none ever did */
  async lastSeen(host: string): Promise<number | null> {
    const instant = await this.#redis.get(this.#keys.bridgeSeen(host));
    return instant === null ? null : Number(instant);
  }

  /** @returns the same as it stands there, to be compared */
  async lastWord(host: string): Promise<string | null> {
    return this.#redis.get(this.#keys.bridgeSeen(host));
  }

  /** @returns the check that no bridge of the host has said that it serves since its last word was read */
  isSilentSince(host: string, word: string | null): Check {
    return { read: ['GET', this.#keys.bridgeSeen(host)], equals: word };
  }

  /** @returns where the host works, as its bridge last said; none where it never had one */
  async placesOf(host: string): Promise<ServedPlace[]> {
    const text = await this.#redis.get(this.#keys.hostPlaces(host));
    return text === null ? [] : (JSON.parse(text) as ServedPlace[]);
  }

  /** @returns the bridge that fetches the bot's messages; null where none has spoken lately */
  async ofBot(botId: string): Promise<Presence | null> {
    return this.#read(this.#keys.poller(botId));
  }

  /** @returns the time without a bridge that was reported for the host and is not over; null where there is none */
  async absenceOf(host: string): Promise<BridgeAbsence | null> {
    const text = await this.#redis.get(this.#keys.bridgeAbsence(host));
    return text === null ? null : (JSON.parse(text) as BridgeAbsence);
  }

  async noteAbsence(host: string, absence: BridgeAbsence): Promise<void> {
    await this.#redis.set(this.#keys.bridgeAbsence(host), JSON.stringify(absence));
  }

  async forgetAbsence(host: string): Promise<void> {
    await this.#redis.del(this.#keys.bridgeAbsence(host));
  }

  #keysOf({ owner, bot_id }: Presence): string[] {
    return [this.#keys.bridge(owner.host), ...(bot_id === null ? [] : [this.#keys.poller(bot_id)])];
  }

  async #read(key: string): Promise<Presence | null> {
    const text = await this.#redis.get(key);
    return text === null ? null : (JSON.parse(text) as Presence);
  }
}
