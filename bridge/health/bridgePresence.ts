/** Announces every few seconds that this bridge is alive, and what it is doing; see {@link Presence}. */

import { servedPlaces } from '../../src/config/servedPlaces.js';
import type { ProjectRules, Settings } from '../../src/config/settings.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Presence, Presences } from '../../src/jobs/presence.js';
import type { Logger } from '../../src/log/logger.js';
import { Rounds } from '../../src/rounds.js';
import { type Clock, SECOND } from '../../src/time.js';
import type { IntakeSigns, WorkerSigns } from './gauges.js';

const SAY_AT_LEAST_EVERY_MS = 10 * SECOND;
const WORDS_PER_LEASE = 3;
/** Two announcements may get lost. */
const SAID_FOR_MS = 35 * SECOND;

export interface BridgePresenceOptions {
  readonly presences: Presences;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly here: ProcessIdentity;
  /** Its projects may be reloaded. */
  readonly settings: Settings;
  readonly botId: string | null;
  readonly worker: WorkerSigns;
  /** Null without Telegram. */
  readonly intake: IntakeSigns | null;
}

/** Serves, drains, stops: a bridge that lets its runs finish is not gone yet. */
export class BridgePresence {
  readonly #options: BridgePresenceOptions;
  readonly #startedAt: number;
  readonly #rounds: Rounds;
  /** The last announcement. */
  #said: Presence | null = null;
  #drainingSince: number | null = null;

  constructor(options: BridgePresenceOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    // After two leases without an announcement, other hosts take the bridge for lost.
    const everyMs = Math.min(SAY_AT_LEAST_EVERY_MS, options.settings.timings.runLeaseMs / WORDS_PER_LEASE);
    this.#rounds = new Rounds(options.clock, () => this.#say(), everyMs);
  }

  async start(): Promise<void> {
    if (this.#rounds.isRunning) return;
    this.#drainingSince = null;
    await this.#say();
    this.#rounds.start('with a pause');
  }

  /** Keeps announcing, but that it no longer takes messages. Never throws. */
  async drain(): Promise<void> {
    if (!this.#rounds.isRunning || this.#drainingSince !== null) return;
    const serving = this.#said;
    this.#drainingSince = this.#options.clock.now();
    const poll = serving === null ? undefined : this.#options.presences.takeBackPoll(serving);
    await Promise.all([this.#say(), poll?.catch(() => undefined)]);
  }

  /** Removes the announcement. Never throws. */
  async stop(): Promise<void> {
    if (!this.#rounds.isRunning) return;
    await this.#rounds.stop();
    const said = this.#said;
    if (said !== null) await this.#options.presences.takeBack(said).catch(() => undefined);
  }

  async #say(): Promise<void> {
    const { presences, settings, logger } = this.#options;
    this.#said = this.#present();
    await presences
      .say(this.#said, servedPlaces(settings), SAID_FOR_MS)
      .catch((err: unknown) => logger.debug({ err }, 'the word of the living was lost'));
  }

  #present(): Presence {
    const { here, clock, settings, botId, worker, intake } = this.#options;
    const since = this.#drainingSince;
    const isDraining = since !== null;
    return {
      v: 1,
      owner: here,
      started_at: this.#startedAt,
      said_at: clock.now(),
      bot_id: isDraining || intake?.isStandingBy === true ? null : botId,
      polled_at: intake?.lastPollAt ?? null,
      poll_trouble: intake?.trouble ?? null,
      took_job_at: worker.lastActiveAt,
      is_full: worker.isFull,
      rules: rulesByProject(settings),
      ...(isDraining && { draining_since: since }),
    };
  }
}

function rulesByProject({ projects }: Settings): Record<string, ProjectRules> {
  return Object.fromEntries([...projects].map(([key, { thresholds, actions }]) => [key, { thresholds, actions }]));
}
