/** A living bridge says every few seconds that it is there, so that a command knows whether it may ask Telegram for messages. */

import type { ServedPlace } from '../config/servedPlaces.js';
import type { ProjectRules } from '../config/settings.js';
import type { ProcessIdentity } from '../host/identity.js';
import { applyCommit, type Check } from '../redis/commit.js';
import { SECOND } from '../time.js';
import { StorePart } from './storePart.js';

/** Instants are UTC epoch milliseconds of the bridge's clock; null if it has not happened. */
export interface Presence {
  readonly v: 1;
  readonly owner: ProcessIdentity;
  readonly started_at: number;
  readonly said_at: number;
  /** The bot whose messages it fetches; null without Telegram, and while another bridge fetches them. */
  readonly bot_id: string | null;
  /** When the last `getUpdates` completed. */
  readonly polled_at: number | null;
  /** The trouble that keeps it from fetching messages, in a word or two; null if there is none. */
  readonly poll_trouble: string | null;
  /** When its worker last took a job. */
  readonly took_job_at: number | null;
  /** Whether as many agents run as allowed: then it takes no job. */
  readonly is_full: boolean;
  /** When its stop began: it takes no more messages, and lives until its runs have ended. Missing before. */
  readonly draining_since?: number;
  /** By project, the rules of its watchdog: a command may have been started in another environment. */
  readonly rules?: Readonly<Record<string, ProjectRules>>;
}

/** A time without a bridge that was reported and is not over. Instants are UTC epoch milliseconds. */
export interface BridgeAbsence {
  readonly incident_id: string;
  readonly since: number;
  /** When the host's bridge last announced itself; null if none ever did. */
  readonly last_word: number | null;
}

const TOUCHED_FOR_MS = 60 * SECOND;

export class Presences extends StorePart {
  /** A draining bridge is silent to other hosts: they take over. @param forMs without another announcement it counts as gone */
  async say(presence: Presence, places: readonly ServedPlace[], forMs: number): Promise<void> {
    const text = JSON.stringify(presence);
    const words = this.#keysOf(presence).map((key) => ['SET', key, text, 'PX', String(forMs)] as const);
    const isServing = presence.draining_since === undefined;
    const seen = ['SET', this.keys.bridgeSeen(presence.owner.host), String(presence.said_at)] as const;
    const served = ['SET', this.keys.hostPlaces(presence.owner.host), JSON.stringify(places)] as const;
    await applyCommit(this.redis, { checks: [], writes: isServing ? [...words, seen, served] : words });
  }

  /** One small, meaningless write that shows whether the store accepts writes. A full one refuses it. */
  async touch(host: string): Promise<void> {
    await this.redis.set(this.keys.touched(host), '', 'PX', TOUCHED_FOR_MS);
  }

  /** This may also remove the announcement of a successor on the same host, until its next one. */
  async takeBack(presence: Presence): Promise<void> {
    await this.redis.del(...this.#keysOf(presence));
  }

  /** It no longer fetches the bot's messages. */
  async takeBackPoll({ bot_id }: Presence): Promise<void> {
    if (bot_id !== null) await this.redis.del(this.keys.poller(bot_id));
  }

  /** @returns the bridge of the host, serving or draining; null if none has announced itself lately */
  async ofHost(host: string): Promise<Presence | null> {
    return this.#read(this.keys.bridge(host));
  }

  /** @returns when a bridge of the host last announced that it serves, epoch milliseconds; null if none ever did */
  async lastSeen(host: string): Promise<number | null> {
    return this.#read(this.keys.bridgeSeen(host));
  }

  /** @returns the check that no bridge of the host has announced itself since `lastSeen`, as {@link lastSeen} returned it */
  isSilentSince(host: string, lastSeen: number | null): Check {
    return { read: ['GET', this.keys.bridgeSeen(host)], equals: lastSeen === null ? null : String(lastSeen) };
  }

  /** @returns the places that the host serves, as last announced by its bridge; none if it never had one */
  async placesOf(host: string): Promise<ServedPlace[]> {
    return (await this.#read<ServedPlace[]>(this.keys.hostPlaces(host))) ?? [];
  }

  /** @returns the bridge that fetches the bot's messages; null if none has announced itself lately */
  async ofBot(botId: string): Promise<Presence | null> {
    return this.#read(this.keys.poller(botId));
  }

  /** @returns the time without a bridge that was reported for the host and is not over; null if there is none */
  async absenceOf(host: string): Promise<BridgeAbsence | null> {
    return this.#read(this.keys.bridgeAbsence(host));
  }

  async noteAbsence(host: string, absence: BridgeAbsence): Promise<void> {
    await this.redis.set(this.keys.bridgeAbsence(host), JSON.stringify(absence));
  }

  async forgetAbsence(host: string): Promise<void> {
    await this.redis.del(this.keys.bridgeAbsence(host));
  }

  #keysOf({ owner, bot_id }: Presence): string[] {
    return [this.keys.bridge(owner.host), ...(bot_id === null ? [] : [this.keys.poller(bot_id)])];
  }

  async #read<T>(key: string): Promise<T | null> {
    const text = await this.redis.get(key);
    return text === null ? null : (JSON.parse(text) as T);
  }
}
