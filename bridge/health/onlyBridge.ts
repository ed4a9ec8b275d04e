/**
 * Allows at most one bridge per host id. Lanes, leases and proofs of death go by the id, so two bridges with the same id take
 * each other's runs for their own. The second one is refused with an explanation.
 *
 * There are two marks, because each has a gap. A claim in Redis, renewed while its bridge lives, works between machines and
 * containers, but is lost if Redis is flushed. A claim file of this user on this machine does not need Redis. A killed bridge
 * keeps no other one out: on the same machine its process is seen to be gone; otherwise its claim in Redis expires.
 */
import { chmodSync, lstatSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeError, UnreachableError, UsageError } from '../../src/errors.js';
import { makePrivateFolderSync, PRIVATE_FOLDER } from '../../src/files/privateFiles.js';
import { isProcessAlive, isVisible, type ProcessIdentity } from '../../src/host/identity.js';
import { isOwnerAlive } from '../../src/host/lifeSign.js';
import { ulid } from '../../src/ids.js';
import { contentDigest } from '../../src/journal/digest.js';
import { parseJson } from '../../src/json.js';
import type { Logger } from '../../src/log/logger.js';
import { redactUrl } from '../../src/redis/connect.js';
import type { HeldLease, Leases } from '../../src/redis/leases.js';
import { Rounds } from '../../src/rounds.js';
import { type Clock, describeDuration, isoTime, SECOND } from '../../src/time.js';
import { type Claim, claimFolder } from '../redis/claim.js';

/** A bridge whose death cannot be seen delays its successor by this much. */
const LEASE_MS = 30 * SECOND;
const RENEWALS_PER_LEASE = 3;
const LOOK_AGAIN_MS = SECOND;
/** The value on Linux, as programs see it. */
const TICKS_PER_SECOND = 100;

export interface OnlyBridgeOptions {
  readonly here: ProcessIdentity;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logsFolder: string;
  /** Null if the bridge starts its own Redis: no other bridge uses it, because its folder is claimed as well. */
  readonly redisUrl: string | null;
  /** Ends the wait for the claim of a bridge that is not visible from here. */
  readonly stopping: AbortSignal;
}

export class OnlyBridge {
  readonly #options: OnlyBridgeOptions;
  readonly #owner: string;
  readonly #lost = new AbortController();
  readonly #files: Claim[] = [];
  #leases: Leases | null = null;
  #held: HeldLease | null = null;
  readonly #rounds: Rounds;

  constructor(options: OnlyBridgeOptions) {
    this.#options = options;
    this.#owner = JSON.stringify({ ...options.here, id: ulid(options.clock) });
    this.#rounds = new Rounds(options.clock, () => this.#renew(), LEASE_MS / RENEWALS_PER_LEASE);
  }

  /** Aborted, with a UsageError as its reason, when another bridge has the claim in Redis. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** A folder that cannot be written does not matter. @throws UsageError if another bridge with this host id is alive here */
  async claimMachine(): Promise<void> {
    const { redisUrl, here, logger, logsFolder } = this.#options;
    if (redisUrl === null) return;
    const places = [
      join(logsFolder, 'claims', contentDigest(here.host)),
      machineFolder(`${here.host} ${redactUrl(redisUrl)}`),
    ];
    for (const folder of places) {
      try {
        this.#files.push(await this.#claimFile(folder));
      } catch (error) {
        if (error instanceof UsageError || error instanceof UnreachableError) throw error;
        logger.warn(`${folder} cannot be claimed (${describeError(error)}): only Redis prevents a second bridge`);
      }
    }
  }

  /** Keeps the claim from then on. @throws UsageError if another bridge with this host id is alive; UnreachableError if stopped */
  async claim(leases: Leases): Promise<void> {
    const { clock, logger, here, stopping } = this.#options;
    this.#leases = leases;
    let waitsFor: HeldLease | null = null;
    for (;;) {
      const isDead = async (owner: string) => (await this.#lives(owner)) === false;
      this.#held = await leases.hold(this.#leaseName, this.#owner, LEASE_MS, { isDead });
      if (this.#held !== null) break;
      const other = await leases.read(this.#leaseName);
      if (other === null || other.owner === '') continue;
      const isRenewed = waitsFor !== null && (other.until !== waitsFor.until || other.owner !== waitsFor.owner);
      if (isRenewed || (await this.#lives(other.owner)) === true) throw refusal(here, identityOf(other.owner));
      const leftMs = Math.min(LEASE_MS, other.until - clock.now());
      if (waitsFor === null)
        logger.info(
          `a bridge with the host id "${here.host}" was running, and from here it is unknown whether it still is: this one starts in ${describeDuration(leftMs)} unless that one reports`,
        );
      waitsFor = other;
      await clock.sleep(Math.min(LOOK_AGAIN_MS, Math.max(leftMs, 1)), stopping);
      if (stopping.aborted) throw new UnreachableError('the bridge was stopped before it could start');
    }
    this.#rounds.start('with a pause');
  }

  /** Releases the claims, so that a successor need not wait. */
  async stop(): Promise<void> {
    await this.#rounds.stop();
    const held = this.#held;
    this.#held = null;
    if (held !== null) await this.#leases?.giveBack(held).catch(() => undefined);
    for (const file of this.#files.splice(0)) file.release();
  }

  get #leaseName(): string {
    return `bridge:${this.#options.here.host}`;
  }

  async #renew(): Promise<void> {
    const { logger, here } = this.#options;
    const leases = this.#leases;
    if (leases === null || this.#lost.signal.aborted) return;
    try {
      this.#held = await leases.hold(this.#leaseName, this.#owner, LEASE_MS);
    } catch (err) {
      logger.debug({ err }, 'the claim of the host id could not be renewed; trying again');
      return;
    }
    if (this.#held !== null) return;
    const other = await leases.read(this.#leaseName).catch(() => null);
    const error = refusal(here, identityOf(other?.owner ?? ''));
    logger.error(error.message);
    this.#lost.abort(error);
  }

  async #claimFile(folder: string): Promise<Claim> {
    const { here, clock, stopping } = this.#options;
    let living: ProcessIdentity | null = null;
    // The claim in Redis keeps away bridges that are not visible from here.
    const lives = async (owner: ProcessIdentity) => {
      const isLiving = isProcessAlive(owner, here);
      if (isLiving === true) living = owner;
      return isLiving ?? (isVisible(owner, here) ? null : false);
    };
    makePrivateFolderSync(folder);
    const claim = await claimFolder({ folder, here, clock, stopping }, lives).catch((error: unknown) => {
      if (error instanceof UsageError && living !== null) throw refusal(here, living);
      throw error;
    });
    return {
      release() {
        claim.release();
        removeIfEmpty(folder);
      },
    };
  }

  /** Another boot id may be another machine with the same host id, so it does not prove a death here. */
  async #lives(owner: string): Promise<boolean | null> {
    const { here, logsFolder } = this.#options;
    const identity = identityOf(owner);
    if (identity === null || identity.boot_id !== here.boot_id) return null;
    return isOwnerAlive(identity, here, logsFolder);
  }
}

/** @returns a folder of this user that all of its processes find @throws Error if another user's is in its place */
function machineFolder(words: string): string {
  const user = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `watchkeeper-${user}`);
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const found = lstatSync(folder);
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== user))
    throw new Error(`${folder} is not a directory of this user`);
  chmodSync(folder, PRIVATE_FOLDER);
  return join(folder, contentDigest(words));
}

/** It may contain another process's claim. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not empty, or gone.
  }
}

function identityOf(owner: string): ProcessIdentity | null {
  return parseJson(owner) as ProcessIdentity | null;
}

function refusal({ host, boot_id }: ProcessIdentity, other: ProcessIdentity | null): UsageError {
  const startedAt = other?.boot_id === boot_id ? startOf(other) : null;
  const since = startedAt === null ? '' : `, started at ${isoTime(startedAt)}`;
  const who = other === null ? '' : `: process ${other.pid}${since}`;
  return new UsageError(
    `another bridge with the host id "${host}" is running${who}. Stop it first, or give this one its own host id and logs folder (WATCHKEEPER_HOST, WATCHKEEPER_LOGS)`,
  );
}

/** @returns when the process was started, epoch milliseconds; correct only if its clock ticks are those of this system */
function startOf({ pid_start: ticks }: ProcessIdentity): number | null {
  try {
    const bootedAt = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1];
    if (ticks === '' || bootedAt === undefined) return null;
    return (Number(bootedAt) + Math.floor(Number(ticks) / TICKS_PER_SECOND)) * SECOND;
  } catch {
    return null;
  }
}
