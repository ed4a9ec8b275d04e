/**
 * The worklogs that a bridge writes: open from the first line of a run to the end of its session, so that neither reads them again.
 * Lines that no reader can miss yet are written a little later, so that no message waits for them.
 *
 * They give way to messages: while runs begin and end one after the other, writing waits for a gap. An overdue line waits for none,
 * but a burst keeps most of the time for itself. The bound of what waits holds whatever happens.
 */
import type { Service } from '../../src/service.js';
import { MINUTE, SECOND, type Timer } from '../../src/time.js';
import type { EndReason } from '../words.js';
import { workspaceOf } from '../workspaces/workspace.js';
import { BridgeSession, type BridgeStamp, type LateEnd } from './bridgeSession.js';
import type { Facts } from './sessions.js';

/** More than run at once. Another process may store the end of a session, whose worklog would stay open here. */
const MOST_OPEN = 200;
/** Sessions whose final message has still to be sent. */
const MOST_ENDED = 1_000;
/** A kill loses the lines of this time; in a burst, those since they were overdue. */
const LATER_MS = SECOND / 2;
/** If no line has come for this long, no burst of messages is being handled. */
const GAP_MS = 50;
const OVERDUE_AFTER_MS = 3 * SECOND;
/** In a burst, so much time passes between two slices. */
const BETWEEN_SLICES_MS = 20;
/** Sessions whose lines wait. Each further one has the oldest written at once. */
const MOST_LATE = 1_000;
/** After this time, a failed write is tried again: a disk that was full may have room. */
const AGAIN_MS = 30 * SECOND;
const MOST_REFUSED = 1_000;
/** A project works in few directories, and which workspace each is in hardly ever changes. To find it takes ten calls of the system. */
const MOST_PLACES = 1_000;
const PLACE_KNOWN_MS = MINUTE;
/** How long other work waits while this is written. */
const SLICE_MS = 5;

/** Lines of a session that are still to be written. */
interface Late {
  /** By the monotonic clock. */
  readonly since: number;
  readonly parts: Facts[];
  end: LateEnd | null;
  onFault(error: unknown): void;
}

export class BridgeWorklogs implements Service {
  readonly name = 'worklogs';
  readonly #logsFolder: string;
  readonly #stamp: BridgeStamp;
  /** In order of use, the latest last. */
  readonly #open = new Map<string, BridgeSession>();
  /** By session, the oldest first. */
  readonly #late = new Map<string, Late>();
  /** The writes that failed. */
  readonly #refused = new Map<string, Late>();
  readonly #ended = new Set<string>();
  /** By directory. */
  readonly #places = new Map<string, { readonly id: string; readonly until: number }>();
  /** When the last line came, by the monotonic clock. */
  #heardAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | null = null;
  #againTimer: Timer | null = null;

  /** @param logsFolder the memory of the bridge */
  constructor(logsFolder: string, stamp: BridgeStamp) {
    this.#logsFolder = logsFolder;
    this.#stamp = stamp;
  }

  async start(): Promise<void> {}

  /** Nothing is left to be written later. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    for (const id of new Set([...this.#late.keys(), ...this.#refused.keys()])) this.settle(id);
    this.#againTimer?.cancel();
    this.#againTimer = null;
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

  /** @returns the id of the workspace that a directory is in, as of the last minute */
  workspaceIdOf(directory: string): string {
    const now = this.#stamp.clock.monotonic();
    const known = this.#places.get(directory);
    if (known !== undefined && now < known.until) return known.id;
    const { id } = workspaceOf(directory, () => false);
    if (this.#places.size >= MOST_PLACES) this.#places.clear();
    this.#places.set(directory, { id, until: now + PLACE_KNOWN_MS });
    return id;
  }

  /**
   * Writes lines in half a second, or at the end of a burst, after those that were asked for before.
   * @param lines take the state as it is then; they should have a timestamp
   * @param onFault if they cannot be written
   */
  later(sessionId: string, lines: Facts, onFault: Late['onFault']): void {
    this.#lateOf(sessionId, onFault).parts.push(lines);
  }

  /** A run of this process is about to store the answer of the session, and then writes the end: no other one here needs to. */
  expectEnd(sessionId: string): void {
    this.#ended.add(sessionId);
    const [oldest] = this.#ended;
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }

  /** It was not stored. */
  expectNoEnd(sessionId: string): void {
    this.#ended.delete(sessionId);
  }

  /** @returns whether the end of the session is expected, or written, by a run of this process */
  isEndExpected(sessionId: string): boolean {
    return this.#ended.has(sessionId);
  }

  /**
   * Writes the expected end of the session as {@link later}.
   * @param timestamp when it ended
   */
  endLater(sessionId: string, timestamp: string, onFault: Late['onFault']): void {
    this.#lateOf(sessionId, onFault).end = { reason: 'completed', timestamp };
  }

  /** Writes the session's lines that were put off, or could not be written before. */
  settle(sessionId: string): void {
    const late = this.#late.get(sessionId) ?? this.#refused.get(sessionId);
    if (late === undefined) return;
    this.#late.delete(sessionId);
    this.#refused.delete(sessionId);
    try {
      this.of(sessionId).finish(late.parts, late.end);
      if (late.end !== null) this.#open.delete(sessionId);
    } catch (error) {
      this.#keep(sessionId, late);
      late.onFault(error);
    }
  }

  /** The next attempt takes the lines that the state then lacks. */
  #keep(sessionId: string, late: Late): void {
    this.#refused.set(sessionId, late);
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > MOST_REFUSED && oldest !== undefined) this.#refused.delete(oldest);
    this.#againTimer ??= this.#stamp.clock.after(AGAIN_MS, () => {
      this.#againTimer = null;
      for (const [id, { onFault }] of this.#refused) this.#lateOf(id, onFault);
    });
  }

  /**
   * Writes the end, unless it is written already or nothing was ever run.
   * @param before lines that come before it
   * @throws UnreachableError, or the file system's error, if it cannot be written
   */
  end(sessionId: string, reason: EndReason, before?: Facts): void {
    this.settle(sessionId);
    this.of(sessionId).end(reason, before);
    this.#open.delete(sessionId);
  }

  #lateOf(sessionId: string, onFault: Late['onFault']): Late {
    const { clock } = this.#stamp;
    const since = clock.monotonic();
    this.#heardAt = since;
    const known = this.#late.get(sessionId) ?? this.#refused.get(sessionId);
    const late = known ?? { since, parts: [], end: null, onFault };
    this.#late.set(sessionId, late);
    this.#refused.delete(sessionId);
    this.#timer ??= clock.after(LATER_MS, () => this.#writeOn());
    const [oldest] = this.#late.keys();
    if (this.#late.size > MOST_LATE && oldest !== undefined) this.settle(oldest);
    return late;
  }

  #writeOn(): void {
    const { clock } = this.#stamp;
    const begunAt = clock.monotonic();
    const isBurst = begunAt - this.#heardAt < GAP_MS;
    for (const [id, { since }] of this.#late) {
      if (isBurst && begunAt - since < OVERDUE_AFTER_MS) break;
      this.settle(id);
      if (clock.monotonic() - begunAt >= SLICE_MS) break;
    }
    const pauseMs = isBurst ? BETWEEN_SLICES_MS : 0;
    this.#timer = this.#late.size === 0 ? null : clock.after(pauseMs, () => this.#writeOn());
  }
}
