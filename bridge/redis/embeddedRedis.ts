/**
 * The bridge's own Redis, used when REDIS_URL is not set. Each logs folder has at most one, owned by one living bridge. It
 * survives a killed bridge; the next bridge adopts it, or starts another on the same data.
 *
 * If the server is killed or hangs, its bridge starts another one at the same address and on the same data, as long as that
 * makes sense. Clients reconnect by themselves. Runs continue, because their leases are far longer.
 *
 *     up ──gone──▶ starting ──answers──▶ up
 *     │ ▲             │ fails, or is gone again within a minute: counted
 *     │ │             └── the fifth in a row ──▶ lost: the bridge says so and ends
 *     └─┴─ answers nothing for too long: killed, and so gone
 *
 * Limit: a server whose process is not visible from here is left alone; its bridge reports that Redis is unavailable.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { describeError, UnreachableError } from '../../src/errors.js';
import { isProcessAlive, readProcessIdentity } from '../../src/host/identity.js';
import { atMost, type Clock, MINUTE, SECOND } from '../../src/time.js';
import { type Claim, claimFolder } from './claim.js';
import {
  type Endpoint,
  endpointPath,
  prepareFolder,
  removeEndpoint,
  type ServerKind,
  writeEndpoint,
} from './endpoint.js';
import { adopt, ownerLives, startFirst, startSuccessor } from './obtainServer.js';
import { hungWords, IN_MEMORY, lostWords, replacedWords } from './serverNotices.js';
import { answers, refuseWhenStopping, type ServerFolder, signalServer, stopServer } from './serverProcess.js';

const LOOK_EVERY_MS = 500;
const WRITTEN_WITHIN_MS = MINUTE;
/** Redis' own names for its data, since version 7 and before. */
const DATA_NAMES = ['appendonlydir', 'appendonly.aof'];
/** If the server ends this soon after its start, another start will not help. */
const QUICK_MS = MINUTE;
const MOST_QUICK_ENDS = 5;
/** Before the second start in a row, and longer before each further one. The first start does not wait. */
const PAUSE_MS = SECOND;
/**
 * Consecutive pings without an answer. Counted rather than timed, so that a suspension of this process does not count.
 */
const MOST_UNANSWERED = 6;

export interface EmbeddedRedisOptions {
  readonly logsFolder: string;
  readonly path: string;
  /** `WATCHKEEPER_HOST`, else the host's name. */
  readonly host: string;
  readonly clock: Clock;
  /** Ends the start at once. */
  readonly stopping: AbortSignal;
  /** A server that does not answer for this long is killed and restarted; milliseconds. */
  readonly hungMs: number;
  /** Called with a sentence when the server had to be restarted. */
  readonly notify: (sentence: string) => void;
}

/** @throws UsageError if a living bridge owns the folder, or the programs are too old; UnreachableError if it does not come up */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const { clock, stopping, path } = options;
  const folder = prepareFolder(options.logsFolder);
  const ours: ServerFolder = { folder, here: readProcessIdentity(options.host), clock, stopping };
  const claim = await claimFolder(ours, (owner) => ownerLives(owner, ours));
  try {
    const notices: string[] = [];
    const adopted = await adopt(ours, notices);
    refuseWhenStopping(stopping);
    const endpoint = adopted ?? (await startFirst(path, ours));
    if (!endpoint.persistent) notices.push(IN_MEMORY);
    const notice = notices.length === 0 ? null : notices.join('. ');
    const redis = new EmbeddedRedis({ ...ours, claim }, options, endpoint, notice);
    redis.start();
    return redis;
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** A server that is up, and is kept up until it is stopped. */
export class EmbeddedRedis {
  /** May hold a password. */
  readonly url: string;
  readonly kind: ServerKind;
  /** Whether the data outlives the server. */
  readonly persistent: boolean;
  /** A warning for the operator; null if there is nothing to report. */
  readonly notice: string | null;
  readonly #ours: ServerFolder & { readonly claim: Claim };
  readonly #options: EmbeddedRedisOptions;
  readonly #ending = new AbortController();
  readonly #lost = new AbortController();
  #kept: Promise<unknown> | null = null;
  /** The current server, or the last one. */
  #endpoint: Endpoint;
  #stopped: Promise<void> | null = null;

  constructor(
    ours: ServerFolder & { readonly claim: Claim },
    options: EmbeddedRedisOptions,
    endpoint: Endpoint,
    notice: string | null,
  ) {
    this.url = endpoint.url;
    this.kind = endpoint.kind;
    this.persistent = endpoint.persistent;
    this.notice = notice;
    this.#ours = { ...ours, stopping: this.#ending.signal };
    this.#options = options;
    this.#endpoint = endpoint;
  }

  /** Aborted, with an UnreachableError as its reason, when the server keeps ending and is not restarted any more. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  start(): void {
    this.#kept ??= Promise.all([this.#keep(), this.#endWhatHangs()]);
  }

  /** @returns a file of the living server that is gone; null if none is, or the server is just being started */
  missingFile(): string | null {
    const { folder, here, stopping } = this.#ours;
    if (stopping.aborted || isProcessAlive(this.#endpoint.server, here) !== true) return null;
    if (!existsSync(endpointPath(folder))) return endpointPath(folder);
    const hasData = !this.persistent || DATA_NAMES.some((name) => existsSync(join(folder, name)));
    return hasData ? null : folder;
  }

  /**
   * The server's files were deleted. It still has everything in memory: it writes that into the folder, which is made again, and
   * ends; its successor reads it and has a socket that clients can find. A server that keeps nothing is only recorded again.
   * @param client connected since before
   * @throws ioredis' error if the server refuses; UnreachableError if it does not write its data in time
   */
  async saveAgain(client: Redis): Promise<void> {
    if (this.missingFile() === null) return;
    const { clock, here } = this.#ours;
    const folder = prepareFolder(this.#options.logsFolder);
    if (this.persistent) {
      await client.config('SET', 'dir', folder);
      // Switched on again, it writes its whole data first.
      await client.config('SET', 'appendonly', 'no');
      await client.config('SET', 'appendonly', 'yes');
      await untilWritten(client, clock);
    }
    writeEndpoint(folder, this.#endpoint);
    if (this.persistent) signalServer(this.#endpoint.server, here, 'SIGTERM');
  }

  /** Shuts the server down in order; resolves when it is gone. Gives up a start in progress. Idempotent. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#ending.abort();
    await this.#kept;
    await stopServer(this.#endpoint, this.#ours);
    removeEndpoint(this.#ours.folder);
    this.#ours.claim.release();
  }

  async #keep(): Promise<void> {
    const { path, notify } = this.#options;
    const { clock, folder, stopping: ending } = this.#ours;
    let upSince = clock.monotonic();
    let trouble: string | null = null;
    for (let ends = 1; await this.#isGone(); ends += 1) {
      if (clock.monotonic() - upSince > QUICK_MS) ends = 1;
      if (ends >= MOST_QUICK_ENDS) {
        this.#lost.abort(new UnreachableError(lostWords(this.#endpoint, { folder, ends: MOST_QUICK_ENDS, trouble })));
        return;
      }
      await clock.sleep(PAUSE_MS * (ends - 1), ending);
      if (ending.aborted) return;
      const former = this.#endpoint;
      try {
        this.#endpoint = await startSuccessor(path, this.#ours, former);
        notify(replacedWords(former, this.#endpoint));
      } catch (error) {
        trouble = describeError(error);
      }
      upSince = clock.monotonic();
    }
  }

  /** Two servers on the same data would corrupt it, so the hung one is killed and its successor starts when it is gone. */
  async #endWhatHangs(): Promise<void> {
    const { hungMs, notify } = this.#options;
    const { clock, here, stopping: ending } = this.#ours;
    let unanswered = 0;
    while (!ending.aborted) {
      const asked = this.#endpoint;
      const [isWell] = await Promise.all([this.#answers(asked), clock.sleep(hungMs / MOST_UNANSWERED, ending)]);
      const isUp = asked === this.#endpoint && isProcessAlive(asked.server, here) === true;
      unanswered = isWell !== false || !isUp ? 0 : unanswered + 1;
      if (unanswered < MOST_UNANSWERED || ending.aborted) continue;
      notify(hungWords(asked, hungMs));
      signalServer(asked.server, here, 'SIGKILL');
      unanswered = 0;
    }
  }

  async #answers({ url }: Endpoint): Promise<boolean | null> {
    const { clock, hungMs } = this.#options;
    const over = new AbortController();
    const asking = answers(url, clock, AbortSignal.any([over.signal, this.#ending.signal]));
    const isWell = await atMost(clock, hungMs / MOST_UNANSWERED, asking, false);
    over.abort();
    return isWell;
  }

  /** @returns true if the server's process has ended; false if this Redis is being stopped */
  async #isGone(): Promise<boolean> {
    const { clock, here, stopping: ending } = this.#ours;
    while (!ending.aborted) {
      await clock.sleep(LOOK_EVERY_MS, ending);
      if (!ending.aborted && isProcessAlive(this.#endpoint.server, here) === false) return true;
    }
    return false;
  }
}

/** @throws UnreachableError if that takes too long */
async function untilWritten(client: Redis, clock: Clock): Promise<void> {
  const end = clock.monotonic() + WRITTEN_WITHIN_MS;
  for (;;) {
    const state = await client.info('persistence');
    const isBusy = /aof_rewrite_(?:in_progress|scheduled):1/.test(state);
    if (!isBusy && /aof_enabled:1/.test(state) && /aof_last_bgrewrite_status:ok/.test(state)) return;
    if (clock.monotonic() > end) throw new UnreachableError('Redis has not written its data again in time');
    await clock.sleep(LOOK_EVERY_MS / 10);
  }
}
