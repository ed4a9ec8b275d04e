/**
 * Whether the processes that own runs are alive, checked once for each during one look. Thousands of runs share a handful of
 * owners, and each check reads `/proc` or connects to a socket.
 */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { isOwnerAlive } from '../../src/host/lifeSign.js';
import type { WatchedRecord } from './watchedRecord.js';

export class OwnersAlive {
  readonly #here: ProcessIdentity;
  readonly #logsFolder: string;
  readonly #known = new Map<ProcessIdentity, boolean | null>();

  constructor(here: ProcessIdentity, logsFolder: string) {
    this.#here = here;
    this.#logsFolder = logsFolder;
  }

  /** Checks the owner of each of these runs. */
  async ask(sessions: readonly WatchedRecord[]): Promise<void> {
    const owners = new Set<ProcessIdentity>();
    for (const { run } of sessions) if (run !== null) owners.add(run.owner);
    for (const owner of owners) await this.isAlive(owner);
  }

  /** @returns null if it cannot be seen from here, or has not been checked */
  answerFor(owner: ProcessIdentity): boolean | null {
    return this.#known.get(owner) ?? null;
  }

  /** @param owner the same object for the same process, as in {@link WatchedRecord}; otherwise it is checked again */
  async isAlive(owner: ProcessIdentity): Promise<boolean | null> {
    const known = this.#known.get(owner);
    if (known !== undefined) return known;
    const answer = await isOwnerAlive(owner, this.#here, this.#logsFolder);
    this.#known.set(owner, answer);
    return answer;
  }
}
