/**
 * Records that Redis has lost, stored again by a bridge that still knows them: the only moves that make a session without a
 * message of a person. Each is one commit that checks that there is no record. Whoever comes second changes nothing and
 * looks again.
 */
import type { AgentSession, OutboxEntry, Run } from '../model.js';
import type { Clock } from '../time.js';
import { applyCommit, type Check, type Write } from './commit.js';
import { laneEntryWrites } from './lanes.js';
import { newOutboxEntry } from './newRecords.js';
import { outboxWrites, type StoreContext, sessionWrites, wakeWrite } from './sessionChange.js';

/** More than the changes that whoever stores it again has not seen: nobody takes the record for one that he has read. */
const UNSEEN_CHANGES = 1_000;
/** In the place of an incident that is gone: the message's one revival is used. */
const FORGOTTEN_INCIDENT = 'forgotten';

/** What is told of a session that ends as it is stored again. */
export interface RegainedEnd {
  readonly kind: OutboxEntry['kind'];
  readonly text: string;
  /** As in {@link GivenAnswer}. */
  readonly mayStand: boolean;
}

export class Regain {
  readonly #context: StoreContext;
  readonly #clock: Clock;

  constructor(context: StoreContext, clock: Clock) {
    this.#context = context;
    this.#clock = clock;
  }

  /** @returns whether there is no record of the session, and none was set aside */
  async isMissing(sessionId: string): Promise<boolean> {
    const { redis, keys } = this.#context;
    return (await redis.exists(keys.session(sessionId), keys.quarantine('session', sessionId))) === 0;
  }

  /**
   * One that waits, at the end of its lane.
   * @param session as it was known last
   * @returns whether it was stored; false where there is a record
   */
  async waiting(session: AgentSession): Promise<boolean> {
    const next: AgentSession = { ...renewed(session), status: 'pending', run: null, started_at: null };
    return this.#store(next, [], laneEntryWrites(this.#context, next, 'RPUSH'));
  }

  /**
   * One whose run goes on, or has just ended.
   * @param leaseMs as in {@link Transitions.start}
   * @returns whether it was stored; false where there is a record, or another run holds the lane
   */
  async active(session: AgentSession, run: Run, leaseMs: number): Promise<boolean> {
    const { redis, keys } = this.#context;
    const holder = keys.laneHolder(session.lane);
    const held = await redis.get(holder);
    if (held !== null && held !== run.run_id) return false;
    const now = this.#clock.now();
    const next: AgentSession = { ...renewed(session), status: 'active', run, last_activity: now };
    // As one that comes and leaves the list at once: its lane is among those of its host.
    const entry = laneEntryWrites(this.#context, next, 'RPUSH', true);
    const { conversation_id: conversation } = next;
    const known: Write[] = conversation === null ? [] : [['SET', this.#conversationOf(next, run), conversation]];
    return this.#store(
      next,
      [{ read: ['GET', holder], equals: held }],
      [
        ...entry,
        ['LREM', keys.lane(next.lane), '0', next.session_id],
        ['SET', holder, run.run_id],
        ['ZADD', keys.runLeases, String(now + leaseMs), next.session_id],
        ...known,
      ],
    );
  }

  /**
   * One that has ended, with its final message.
   * @returns whether it was stored; false where there is a record
   */
  async ended(session: AgentSession, { kind, text, mayStand }: RegainedEnd): Promise<boolean> {
    const { keys } = this.#context;
    const now = this.#clock.now();
    const delivery = mayStand ? 'sending' : 'queued';
    const answered = { status: 'completed', end_reason: 'answered', answer: text } as const;
    const failed = { status: 'failed', end_reason: 'store_forgot' } as const;
    const end = kind === 'answer' ? answered : failed;
    const next: AgentSession = { ...renewed(session), ...end, ended_at: session.ended_at ?? now, delivery };
    const entry = { ...newOutboxEntry(next, kind, text, now), state: delivery } as const;
    const exists: Check = { read: ['EXISTS', keys.outbox(next.session_id)], equals: '0' };
    return this.#store(next, [exists], outboxWrites(keys, entry));
  }

  #conversationOf({ conversation_key }: AgentSession, { owner }: Run): string {
    return this.#context.keys.conversation(conversation_key, owner.host);
  }

  async #store(next: AgentSession, checks: readonly Check[], writes: readonly Write[]): Promise<boolean> {
    const { redis, keys } = this.#context;
    const { session_id, project_key, chat_id, message_id, revival_of } = next;
    const message = keys.message(project_key, chat_id, message_id);
    const named = await redis.hget(message, 'session_id');
    const first = revival_of ?? session_id;
    if (named !== null && named !== first) return false;
    const claim = revival_of === null ? [] : ['claimed_by', FORGOTTEN_INCIDENT, 'revival_id', session_id];
    return applyCommit(redis, {
      at: 'regain',
      checks: [
        { read: ['EXISTS', keys.session(session_id)], equals: '0' },
        { read: ['EXISTS', keys.quarantine('session', session_id)], equals: '0' },
        { read: ['HGET', message, 'session_id'], equals: named },
        ...checks,
      ],
      writes: [
        ['HSET', message, 'session_id', first, ...claim],
        ...sessionWrites(keys, null, next),
        ...writes,
        wakeWrite(keys, { session: session_id }),
      ],
    });
  }
}

/** What others had asked of it is lost with the record. */
function renewed(session: AgentSession): AgentSession {
  return { ...session, stop: null, released: null, incident_id: null, rev: session.rev + UNSEEN_CHANGES };
}
