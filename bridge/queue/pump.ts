/**
 * Jobs are derived from the lanes: each represents the session at the head of a free lane. A job may repeat or be lost; the
 * `pending → active` compare-and-set decides which one runs, and the next pump replaces a lost one.
 */
import { randomBytes } from 'node:crypto';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { CorruptRecordError } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { revivalSessionId } from '../../src/ids.js';
import { goesFirst } from '../../src/jobs/lanes.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { hostOfLane } from '../../src/jobs/names.js';
import type { WorkQueue } from '../../src/jobs/ports.js';
import type { LaneView } from '../../src/jobs/records.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import { Newest } from '../../src/newest.js';
import type { Clock } from '../../src/time.js';

export interface JobQueueParts {
  readonly store: Store;
  readonly host: string;
  /** For commands, with a finite number of retries: `add` must not hang while Redis is unreachable. */
  readonly connection: Redis;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface JobData {
  /** Null for a canary, which represents no session; see `canary.ts`. */
  readonly session_id: string | null;
}

/** Jobs of finished work are not needed: the session is the record. */
const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true, attempts: 1 } as const;

export function queueName(host: string): string {
  return `jobs-${host}`;
}

export class JobQueue implements WorkQueue {
  readonly #parts: JobQueueParts;
  readonly #store: Store;
  readonly #host: string;
  #queue: Queue<JobData> | null = null;
  readonly #saidBroken = new Set<string>();
  /** Part of every job's id, new for each process and each connection. */
  #era = newEra();
  /** Sessions that this process accepted or added a job for, as they were then. */
  readonly waiting = new WaitingSessions();

  constructor(parts: JobQueueParts) {
    this.#parts = parts;
    this.#store = parts.store;
    this.#host = parts.host;
    parts.connection.on('ready', () => {
      this.#era = newEra();
    });
  }

  /** Checks every lane of this host that has something to do. */
  async pump(lanes?: readonly LaneView[]): Promise<number> {
    const worthALook = lanes ?? (await this.#store.records.lanesWorthALook(this.#host));
    const empty = worthALook.filter(({ head, holder }) => head === null && holder === null);
    await Promise.all(empty.map(({ lane }) => this.#store.lanes.forgetEmpty(lane)));
    const startable = worthALook.filter(({ head, holder }) => head !== null && holder === null);
    const added = await Promise.all(startable.map(({ lane }) => this.#pumpLane(lane)));
    return added.filter(Boolean).length;
  }

  /** A lane of another host is left alone. @param head if remembered, it is not looked up @returns its jobs now, 0 or 1 */
  async pumpLane(lane: string, head?: string): Promise<number> {
    if (hostOfLane(lane) !== this.#host) return 0;
    const known = head === undefined ? undefined : this.waiting.get(head);
    if (known?.lane === lane) {
      await this.enqueueJob(known);
      return 1;
    }
    return (await this.#pumpLane(lane)) ? 1 : 0;
  }

  /**
   * The job's id holds the session's `rev`: the same pending state has the same job, a later one has a new job. It also holds
   * the era: if a job's taker died, or never learned that it has the job, the job stays taken until its lock expires, and must
   * not block another one.
   * @param session pending, at the head of a free lane of this host
   */
  async enqueueJob(session: AgentSession): Promise<void> {
    const { session_id, rev, not_before } = session;
    const jobId = `${session_id}.${rev}.${this.#era}`;
    this.waiting.keep(session);
    failpoint('queue.add.before');
    const delay = (not_before ?? 0) - this.#parts.clock.now();
    // A zero delay is left out: each option costs both the adder and the taker.
    const options = { ...JOB_OPTIONS, jobId, ...(delay > 0 && { delay }) };
    await this.#openQueue().add('session', { session_id }, options);
    failpoint('queue.add.after');
  }

  /** @returns whether another session is known here to wait in this lane */
  hasOthersIn({ lane, session_id }: AgentSession): boolean {
    for (const other of this.waiting.values()) if (other.lane === lane && other.session_id !== session_id) return true;
    return false;
  }

  /** Remembers the waiting sessions of this host, including sessions of earlier processes. */
  async rememberAll(): Promise<void> {
    const { records } = this.#store;
    const known: AgentSession[] = [];
    for (const session of await records.sessions(await records.sessionIds('pending'))) {
      if (!(session instanceof CorruptRecordError) && hostOfLane(session.lane) === this.#host) known.push(session);
    }
    for (const session of inOrder(known)) this.waiting.keep(session);
  }

  /** Stores sessions that wait here and are missing in the store again. @throws ioredis' error if Redis is unreachable */
  async regainWaiting(): Promise<string[]> {
    const { regain, records } = this.#store;
    const stored = new Set<string>();
    for (const found of await records.sessions([...this.waiting.keys()])) {
      if (found instanceof CorruptRecordError) continue;
      stored.add(found.session_id);
      // The wake for its final message was missed. If it stayed remembered, it would run again once its record has expired.
      if (found.ended_at !== null) this.waiting.delete(found.session_id);
    }
    const regained: string[] = [];
    for (const session of inOrder([...this.waiting.values()].filter(({ session_id }) => !stored.has(session_id)))) {
      const { session_id, revival_of } = session;
      // A message whose second attempt is stored does not wait, whatever is remembered.
      const isFollowed = revival_of === null && !(await regain.isMissing(revivalSessionId(session_id)));
      if (isFollowed || !(await regain.isMissing(session_id))) continue;
      if (await regain.waiting(session)) regained.push(session_id);
    }
    return regained;
  }

  /** While one waits, adding another changes nothing. */
  async addCanary(): Promise<void> {
    await this.#openQueue().add('canary', { session_id: null }, { ...JOB_OPTIONS, jobId: `canary.${this.#era}` });
  }

  async close(): Promise<void> {
    await this.#queue?.close();
  }

  /** At the first job: opening a queue writes, and read-only callers must not. */
  #openQueue(): Queue<JobData> {
    if (this.#queue === null) {
      const options = { connection: this.#parts.connection, prefix: this.#store.keys.bullPrefix };
      this.#queue = new Queue<JobData>(queueName(this.#host), options);
      // Every failing call rejects as well; without a listener the event would end the process.
      this.#queue.on('error', () => undefined);
    }
    return this.#queue;
  }

  /** One unreadable record stops no other lane; the acting watchdog sets it aside. @returns whether the head now has a job */
  async #pumpLane(lane: string): Promise<boolean> {
    const { lanes } = this.#store;
    const head = await lanes.head(lane);
    if (head === null) return false;
    const { sessionId, session } = head;
    if (session instanceof CorruptRecordError) {
      if (!this.#saidBroken.has(sessionId)) this.#parts.logger.error(session.message);
      this.#saidBroken.add(sessionId);
      return false;
    }
    if (session?.status !== 'pending') {
      await lanes.drop(lane, sessionId);
      return false;
    }
    await this.enqueueJob(session);
    return true;
  }
}

/** The heads of their lanes first; then in the order of acceptance. Within one millisecond a chat's message numbers decide. */
function inOrder(sessions: readonly AgentSession[]): AgentSession[] {
  const byNumber = new Intl.Collator('en', { numeric: true });
  return sessions.toSorted(
    (one, other) =>
      Number(goesFirst(other)) - Number(goesFirst(one)) ||
      one.created_at - other.created_at ||
      byNumber.compare(one.request.message_id, other.request.message_id),
  );
}

function newEra(): string {
  return randomBytes(6).toString('hex');
}

/** 8 MB of text at most. A session that is not remembered is only read again; if Redis forgets it as well, it is lost. */
const MOST_REMEMBERED = 1_000;
/** UTF-16 units, the length of Telegram's messages; a message from the command line may be longer. */
const LONGEST_REMEMBERED = 4_096;

/** The sessions that this process knows to wait, by id, the oldest first. Saves a lookup before a run, whose start checks the record. */
export class WaitingSessions extends Newest<string, AgentSession> {
  /** By session, its `rev` when a run of it began here. */
  readonly #begun = new Newest<string, number>(MOST_REMEMBERED);

  constructor() {
    super(MOST_REMEMBERED);
  }

  /** @param session pending; it may have been read before its run began here, and does not wait then */
  keep(session: AgentSession): void {
    if (session.rev <= (this.#begun.get(session.session_id) ?? -1)) return;
    if (session.request.message_text.length > LONGEST_REMEMBERED) this.delete(session.session_id);
    else this.set(session.session_id, session);
  }

  /** @param session as its run begins with it */
  began({ session_id, rev }: AgentSession): void {
    this.delete(session_id);
    this.#begun.set(session_id, rev);
  }

  /** @returns the session, which is forgotten here; null if it was not remembered */
  take(sessionId: string): AgentSession | null {
    const session = this.get(sessionId) ?? null;
    this.delete(sessionId);
    return session;
  }
}
