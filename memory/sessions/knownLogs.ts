/** The logs of the sessions that were read last: where one is read again, only the lines that followed are folded. */
import type { SessionLog } from '../fold/rules/kind.js';

/** A command means few sessions; a look at thousands must not keep them all. */
const MOST_KNOWN = 8;

export class KnownLogs {
  readonly #logs = new Map<string, SessionLog>();

  /** @returns the log as it was read last, perhaps closed; undefined if it is not known */
  of(id: string): SessionLog | undefined {
    return this.#logs.get(id);
  }

  keep(id: string, log: SessionLog): void {
    this.#logs.delete(id);
    this.#logs.set(id, log);
    const [oldest] = this.#logs.keys();
    if (this.#logs.size > MOST_KNOWN && oldest !== undefined) this.#logs.delete(oldest);
  }
}
