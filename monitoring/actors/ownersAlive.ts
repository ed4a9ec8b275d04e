/**
 * Whether the processes that own runs live, asked once for each within one look: thousands of runs have a handful of owners,
 * and each question reads `/proc` or knocks at a socket.
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

  /** Asks about everybody who owns one of these runs. */
  async ask(sessions: readonly WatchedRecord[]): Promise<void> {
    const owners = new Set<ProcessIdentity>();
    for (const { run } of sessions) if (run !== null) owners.add(run.owner);
    for (const owner of owners) await this.isAlive(owner);
  }

  /** @returns null where it cannot be seen from here, and where nobody has asked */
  answerFor(owner: ProcessIdentity): boolean | null {
    return this.#known.get(owner) ?? null;
  }

  /** @param owner the same object for the same process, as {@link WatchedRecord} has it; else it is asked again */
  async isAlive(owner: ProcessIdentity): Promise<boolean | null> {
    const known = this.#known.get(owner);
    if (known !== undefined) return known;
    const answer = await isOwnerAlive(owner, this.#here, this.#logsFolder);
    this.#known.set(owner, answer);
    return answer;
  }
}
