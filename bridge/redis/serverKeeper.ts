/**
 * Keeps the bridge's own Redis alive: restarts a killed server at the same address and on the same data, as long as that makes
 * sense. Clients reconnect by themselves. Runs go on, because their leases are far longer.
 *
 *     up ──gone──▶ starting ──answers──▶ up
 *     │ ▲             │ fails, or is gone again within a minute: counted
 *     │ │             └── the fifth in a row ──▶ lost: the bridge says so and ends
 *     └─┴─ answers nothing for too long: killed, and so gone
 *
 * Limit: a server whose process is not visible from here is left alone; its bridge reports that Redis is unavailable.
 */
import { describeError, UnreachableError } from '../../src/errors.js';
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';
import { atMost, type Clock, describeDuration, MINUTE, SECOND } from '../../src/time.js';
import type { Endpoint } from './endpoint.js';
import { logPath } from './places.js';
import { answers, killServer } from './serverProcess.js';

const LOOK_EVERY_MS = 500;
/** If the server ends this soon after its start, another start will not help. */
const QUICK_MS = MINUTE;
const MOST_QUICK_ENDS = 5;
/** Before the second start in a row, and longer before each further one. The first start does not wait. */
const PAUSE_MS = SECOND;
/**
 * Consecutive pings without an answer. Counted rather than timed, so that time in which this process was suspended does not
 * count.
 */
const MOST_UNANSWERED = 6;

export interface ServerKeeperParts {
  readonly folder: string;
  /** The server that is up now. */
  readonly endpoint: Endpoint;
  readonly here: ProcessIdentity;
  readonly clock: Clock;
  /** A server that does not answer for this long is killed; milliseconds. */
  readonly hungMs: number;
  readonly notify: (sentence: string) => void;
  /** Resolves when the successor answers; rejects if it does not, or when `ending` aborts. */
  readonly startAgain: (former: Endpoint, ending: AbortSignal) => Promise<Endpoint>;
}

export class ServerKeeper {
  readonly #parts: ServerKeeperParts;
  readonly #ending = new AbortController();
  readonly #lost = new AbortController();
  #endpoint: Endpoint;
  #kept: Promise<unknown> | null = null;

  constructor(parts: ServerKeeperParts) {
    this.#parts = parts;
    this.#endpoint = parts.endpoint;
  }

  /** The current server, or the last one. */
  get endpoint(): Endpoint {
    return this.#endpoint;
  }

  /** Aborted, with an UnreachableError as its reason, when no further start will be tried. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  start(): void {
    this.#kept ??= Promise.all([this.#keep(), this.#endWhatHangs()]);
  }

  /** Gives up a start in progress and kills its server. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#kept;
  }

  async #keep(): Promise<void> {
    const { clock, folder, notify, startAgain } = this.#parts;
    const ending = this.#ending.signal;
    let upSince = clock.monotonic();
    let trouble: string | null = null;
    for (let ends = 1; await this.#isGone(); ends += 1) {
      if (clock.monotonic() - upSince > QUICK_MS) ends = 1;
      if (ends >= MOST_QUICK_ENDS) {
        this.#lost.abort(new UnreachableError(lostWords(this.#endpoint, folder, trouble)));
        return;
      }
      await clock.sleep(PAUSE_MS * (ends - 1), ending);
      if (ending.aborted) return;
      const former = this.#endpoint;
      try {
        this.#endpoint = await startAgain(former, ending);
        notify(replacedWords(former, this.#endpoint));
      } catch (error) {
        trouble = describeError(error);
      }
      upSince = clock.monotonic();
    }
  }

  /** Two servers on the same data would corrupt it, so the hung one is killed and its successor starts when it is gone. */
  async #endWhatHangs(): Promise<void> {
    const { clock, here, hungMs, notify } = this.#parts;
    const ending = this.#ending.signal;
    let unanswered = 0;
    while (!ending.aborted) {
      const asked = this.#endpoint;
      const [isWell] = await Promise.all([this.#answers(asked), clock.sleep(hungMs / MOST_UNANSWERED, ending)]);
      const isUp = asked === this.#endpoint && isProcessAlive(asked.server, here) === true;
      unanswered = isWell || !isUp ? 0 : unanswered + 1;
      if (unanswered < MOST_UNANSWERED || ending.aborted) continue;
      notify(hungWords(asked, hungMs));
      killServer(asked.server, here);
      unanswered = 0;
    }
  }

  async #answers({ url }: Endpoint): Promise<boolean> {
    const { clock, hungMs } = this.#parts;
    const over = new AbortController();
    const asking = answers(url, clock, AbortSignal.any([over.signal, this.#ending.signal]));
    const isWell = await atMost(clock, hungMs / MOST_UNANSWERED, asking, false);
    over.abort();
    return isWell;
  }

  /** @returns true if the server's process has ended; false if the keeper is stopping */
  async #isGone(): Promise<boolean> {
    const { clock, here } = this.#parts;
    const ending = this.#ending.signal;
    while (!ending.aborted) {
      await clock.sleep(LOOK_EVERY_MS, ending);
      if (!ending.aborted && isProcessAlive(this.#endpoint.server, here) === false) return true;
    }
    return false;
  }
}

function hungWords({ kind, server }: Endpoint, hungMs: number): string {
  return `the bridge's own Redis (${kind}, process ${server.pid}) has answered nothing for ${describeDuration(hungMs)} and is killed`;
}

function replacedWords(former: Endpoint, now: Endpoint): string {
  const gone = `the bridge's own Redis (${former.kind}, process ${former.server.pid}) was gone`;
  if (now.persistent) return `${gone}; process ${now.server.pid} serves its data again`;
  return `${gone}, AND EVERYTHING THAT IT HELD IS LOST: messages that wait, sessions, open incidents, conversations; the bridge stores again what it is running and the waiting messages that it knows of. Process ${now.server.pid} begins with nothing. Install Redis 6.2 or newer, or set REDIS_URL`;
}

function lostWords({ kind, persistent }: Endpoint, folder: string, trouble: string | null): string {
  const what = `the bridge's own Redis (${kind}) ended ${MOST_QUICK_ENDS} times in a row, each time within a minute of its start`;
  const last = trouble === null ? '' : ` (at last: ${trouble})`;
  const data = persistent ? `, its data in ${folder} are damaged (\`redis-check-aof --fix\`, on a copy)` : '';
  return `${what}${last}. ${logPath(folder)} says why: memory or disk is full, somebody kills it${data}. Mend that and start the bridge again, or set REDIS_URL to a Redis that runs elsewhere`;
}
