/** The worklogs that a bridge writes: open from the first line of a run to the end of its session, so that neither reads them again. */
import type { Worklog } from '../fold/worklog.js';
import type { NewLine } from '../logs/line.js';
import type { EndReason } from '../words.js';
import { BridgeSession, type BridgeStamp } from './bridgeSession.js';

/** More than run at once. Of some sessions another process stores the end, and theirs would stay open. */
const MOST_OPEN = 200;

export class BridgeWorklogs {
  readonly #logsFolder: string;
  readonly #stamp: BridgeStamp;
  /** The one that was asked for last is the last one. */
  readonly #open = new Map<string, BridgeSession>();

  /** @param logsFolder the memory of the bridge */
  constructor(logsFolder: string, stamp: BridgeStamp) {
    this.#logsFolder = logsFolder;
    this.#stamp = stamp;
  }

  /** @returns the worklog of the session; it opens its file when something is written, also after it was closed */
  of(sessionId: string): BridgeSession {
    const session = this.#open.get(sessionId) ?? new BridgeSession(this.#logsFolder, sessionId, this.#stamp);
    this.#open.delete(sessionId);
    this.#open.set(sessionId, session);
    const [oldest] = this.#open.keys();
    if (this.#open.size <= MOST_OPEN || oldest === undefined) return session;
    this.#open.get(oldest)?.close();
    this.#open.delete(oldest);
    return session;
  }

  /**
   * Writes the end, unless it is written already or nothing was ever run.
   * @param before lines that come before it
   * @throws UnreachableError, or the file system's error, if it cannot be written
   */
  end(sessionId: string, reason: EndReason, before?: (state: Worklog) => readonly NewLine[]): void {
    this.of(sessionId).end(reason, before);
    this.#open.delete(sessionId);
  }
}
