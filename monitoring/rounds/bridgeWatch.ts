/**
 * Whether a bridge runs messages at all, as its standby sees it. Everything else may look healthy while the bridge is gone:
 * nothing waits, the standby judges on time, Redis answers. So the standby itself reports it, once per absence, even across its
 * own restarts: the absence is kept in Redis until a bridge is back.
 *
 * It looks for the bridge of this host, or for any bridge on the Redis if this host never had one.
 */

import { describeError } from '../../src/errors.js';
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';
import type { BridgeAbsence, Presence } from '../../src/jobs/presence.js';
import { RepeatedService } from '../../src/rounds.js';
import { describeDuration, isoTime, isoTimeOrNull, SECOND } from '../../src/time.js';
import { Unchanged } from '../../src/unchanged.js';
import type { ActingContext } from '../actors/actedFolders.js';
import { noticeEvent } from '../events/notice.js';

const LOOK_AT_LEAST_EVERY_MS = 5 * SECOND;
const LOOKS_PER_LIMIT = 4;
/** A standby that did not look for longer than this many intervals knows nothing about the time between. */
const INTERVALS_UNSEEN = 4;

export interface BridgeWatchOptions extends Omit<ActingContext, 'folders'> {
  readonly here: ProcessIdentity;
  /** The hosts named in the configuration. */
  readonly homes: readonly string[];
  /** An absence of this length is reported; milliseconds. */
  readonly goneMs: number;
}

export class BridgeWatch extends RepeatedService {
  readonly name = 'watch over the bridge';
  readonly #options: BridgeWatchOptions;
  readonly #missing: Unchanged;
  #hasFailed = false;
  /** Reported and still lasting. Redis may forget it. */
  #reported: BridgeAbsence | null = null;

  constructor(options: BridgeWatchOptions) {
    const everyMs = Math.min(LOOK_AT_LEAST_EVERY_MS, options.goneMs / LOOKS_PER_LIMIT);
    super(options.clock, everyMs);
    this.#options = options;
    this.#missing = new Unchanged(options.clock, INTERVALS_UNSEEN * everyMs);
  }

  /** @returns the bridge that is alive; null if there is none @throws ioredis' error if Redis is unreachable */
  async living(): Promise<Presence | null> {
    const { store, here, homes } = this.#options;
    const own = this.#unlessDead(await store.presences.ofHost(here.host));
    if (own !== null || (await store.presences.lastSeen(here.host)) !== null) return own;
    for (const host of new Set([...homes, ...(await store.records.hosts())])) {
      const other = this.#unlessDead(await store.presences.ofHost(host));
      if (other !== null) return other;
    }
    return null;
  }

  /** @throws ioredis' error if Redis is unreachable, UnreachableError if the event cannot be written */
  async runOnce(): Promise<void> {
    const { store, here, goneMs, clock } = this.#options;
    const isLiving = (await this.living()) !== null;
    const missingMs = this.#missing.look(here.host, isLiving ? 'living' : 'missing');
    const known = this.#reported ?? (await store.presences.absenceOf(here.host));
    if (isLiving && known !== null) await this.#close(known);
    if (isLiving || known !== null || missingMs < goneMs) return;
    const lastWord = await store.presences.lastSeen(here.host);
    const since = Math.round(clock.now() - missingMs);
    await this.#report({
      incident_id: `bridge-gone-${here.host.replace(/[^\w-]/g, '_')}-${lastWord ?? since}`,
      since,
      last_word: lastWord,
    });
  }

  protected override async round(): Promise<void> {
    const { logger } = this.#options;
    try {
      await this.runOnce();
      this.#hasFailed = false;
    } catch (err) {
      if (!this.#hasFailed)
        logger.warn({ err }, `whether a bridge is alive will be checked again: ${describeError(err)}`);
      this.#hasFailed = true;
    }
  }

  async #report(absence: BridgeAbsence): Promise<void> {
    const { store, here, logger, goneMs } = this.#options;
    await this.#log(absence, 'detected');
    this.#reported = absence;
    const last = absence.last_word === null ? '' : `, the last one reported at ${isoTime(absence.last_word)}`;
    logger.error(
      { host: here.host },
      `no bridge has been running for ${describeDuration(goneMs)}${last}: messages are not run; start the bridge of ${here.host}`,
    );
    await store.presences.noteAbsence(here.host, absence);
  }

  async #close(absence: BridgeAbsence): Promise<void> {
    const { store, here, logger, clock } = this.#options;
    await this.#log(absence, 'closed');
    this.#reported = null;
    await store.presences.forgetAbsence(here.host);
    const lasted = describeDuration(clock.now() - absence.since);
    logger.info({ host: here.host }, `a bridge is back after ${lasted}`);
  }

  #log(absence: BridgeAbsence, step: 'detected' | 'closed'): Promise<void> {
    const { clock, events, here, goneMs } = this.#options;
    const details = {
      host: here.host,
      since: isoTime(absence.since),
      last_word: isoTimeOrNull(absence.last_word),
      ...(step === 'closed' && { gone_ms: Math.round(clock.now() - absence.since) }),
    };
    const reason = `no_bridge_for_${Math.round(goneMs / SECOND)}_s`;
    const { incident_id } = absence;
    return events.logCriticalEvent(
      noticeEvent({ incident_id, step, event: 'bridge_gone', reason, details }, clock.now()),
    );
  }

  /** A killed bridge leaves its last presence for half a minute. */
  #unlessDead(presence: Presence | null): Presence | null {
    return presence === null || isProcessAlive(presence.owner, this.#options.here) === false ? null : presence;
  }
}
