/** Delivers every final message that is due. They are in Redis, so a crash loses none. */

import { describeError } from '../../src/errors.js';
import type { OutboxEntry } from '../../src/jobs/model.js';
import { isAbandoned } from '../../src/jobs/outbox.js';
import type { Chat } from '../../src/jobs/ports.js';
import type { Service } from '../../src/service.js';
import { isStoreTrouble } from '../../src/storeTrouble.js';
import { DAY, isAhead, MINUTE, SECOND, type Timer } from '../../src/time.js';
import type { ChatFoundation } from './foundation.js';

/** Looks at least this often: a published wake may be lost. */
const LOOK_AT_LEAST_EVERY_MS = MINUTE;
const RETRY_MS = 2 * SECOND;
/** Concurrent calls of the API. */
const MOST_AT_ONCE = 8;

export class DeliveryService implements Service {
  readonly name = 'delivery';
  readonly #base: ChatFoundation;
  readonly #chat: Chat;
  readonly #underWay = new Set<string>();
  /** Interrupted by the store, whose records may say that they are due much later. */
  readonly #interrupted = new Set<string>();
  readonly #work = new Set<Promise<unknown>>();
  #timer: Timer | null = null;
  #isRunning = false;
  /** Why the store did not answer, as last logged. */
  #trouble: string | null = null;
  /** When every entry is read again, on the monotonic clock; at once after each start. */
  #nextFullLook = Number.NEGATIVE_INFINITY;

  constructor(base: ChatFoundation, chat: Chat) {
    this.#base = base;
    this.#chat = chat;
  }

  async start(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#nextFullLook = Number.NEGATIVE_INFINITY;
    this.#lookAgainIn(0);
  }

  /** Waits for the calls in progress; messages that they did not finish stay due. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#timer?.cancel();
    this.#timer = null;
    await Promise.allSettled([...this.#work]);
  }

  /** Before the chats stop: delivers due messages, including one that a run left at its very end without a wake. Never throws. */
  async lastLook(): Promise<void> {
    const { logger } = this.#base;
    await this.runOnce().catch((err: unknown) => logger.warn({ err }, 'due work is left for the next start'));
    await Promise.allSettled([...this.#work]);
  }

  /** A session's final message was stored, or its state changed. Never throws. */
  wake(sessionId: string): void {
    if (!this.#isRunning) return;
    this.#track(this.#deliver(sessionId).then(() => this.#planNext()));
  }

  /** Wakes may have been lost: checks for due messages now. */
  lookNow(): void {
    this.#lookAgainIn(0);
  }

  /** After a start also those that a dead process was about to send. @returns how many were tried @throws ioredis' error */
  async runOnce(): Promise<number> {
    const { store, clock } = this.#base;
    const stored = [...(await this.#boundByNobody()), ...(await store.records.dueOutbox(clock.now())).due];
    const due = [...new Set([...stored, ...this.#interrupted])];
    for (let from = 0; from < due.length; from += MOST_AT_ONCE) {
      await Promise.all(due.slice(from, from + MOST_AT_ONCE).map((sessionId) => this.#deliver(sessionId)));
    }
    return due.length;
  }

  /** Those that look due later: a dead process claims them, or they were stored before the clock was set back. */
  async #boundByNobody(): Promise<string[]> {
    const { store, clock, here } = this.#base;
    if (clock.monotonic() < this.#nextFullLook) return [];
    const entries = await store.records.outboxEntries();
    this.#nextFullLook = clock.monotonic() + LOOK_AT_LEAST_EVERY_MS;
    const now = clock.now();
    const isBound = (entry: OutboxEntry) =>
      isAhead(entry.due_at, entry.waits_ms ?? DAY, now) && !isAbandoned(entry, here);
    return entries.filter((entry) => !isBound(entry)).map(({ session_id }) => session_id);
  }

  async #deliver(sessionId: string): Promise<void> {
    if (this.#underWay.has(sessionId)) return;
    this.#underWay.add(sessionId);
    try {
      await this.#chat.deliver(sessionId);
      this.#interrupted.delete(sessionId);
    } catch (err) {
      if (isStoreTrouble(err)) this.#interrupted.add(sessionId);
      else this.#interrupted.delete(sessionId);
      this.#base.logger.error({ err, session_id: sessionId }, 'a final message could not be handled; it stays due');
    } finally {
      this.#underWay.delete(sessionId);
    }
  }

  async #look(): Promise<void> {
    try {
      await this.runOnce();
      if (this.#trouble !== null) this.#base.logger.debug('final messages are delivered again');
      this.#trouble = null;
      await this.#planNext();
    } catch (err) {
      const why = describeError(err);
      if (why !== this.#trouble) this.#base.logger.warn({ err }, `final messages wait: Redis does not answer (${why})`);
      this.#trouble = why;
      this.#lookAgainIn(RETRY_MS);
    }
  }

  async #planNext(): Promise<void> {
    const now = this.#base.clock.now();
    const { nextAt } = await this.#base.store.records.dueOutbox(now);
    const longestMs = this.#interrupted.size > 0 ? RETRY_MS : LOOK_AT_LEAST_EVERY_MS;
    this.#lookAgainIn(nextAt === null ? longestMs : Math.min(nextAt - now, longestMs));
  }

  #lookAgainIn(delayMs: number): void {
    this.#timer?.cancel();
    if (!this.#isRunning) return;
    this.#timer = this.#base.clock.after(delayMs, () => this.#track(this.#look()));
  }

  #track(work: Promise<unknown>): void {
    const tracked = work
      .catch((err: unknown) => {
        this.#base.logger.warn({ err }, 'final messages will be checked again later');
        this.#lookAgainIn(RETRY_MS);
      })
      .finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }
}
