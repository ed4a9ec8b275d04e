/**
 * The life of a session, as a person and a run move it. `incidentTransitions.ts` holds the moves of the watchdog.
 *
 *     accept            start               complete
 *   ─────────▶ pending ───────▶ active ─────────────────▶ completed
 *                 │  ▲            │  │
 *                 │  └────────────┘  └──── fail, revive ──▶ failed
 *          cancel │    interrupt     │
 *                 └──────────────────┴──────────────────▶ cancelled
 *
 * Every move is one commit that checks `rev`. Terminal is terminal. A pending session is owned by its lane, an active one
 * by its run, which is also what the lane's holder key names.
 */
import { FencedError } from '../errors.js';
import type { AgentSession, DeathProof, Run, StopRequest } from '../model.js';
import { MOST_INTERRUPTIONS } from '../model.js';
import type { Clock } from '../time.js';
import { laneBlockWrites } from './blockedLanes.js';
import { applyCommit, type Check, type Write } from './commit.js';
import { hostOfLane } from './names.js';
import { newOutboxEntry, newSession, type SessionDraft } from './newRecords.js';
import {
  changeSession,
  ENDED_KEPT_MS,
  holderCheck,
  laneReleaseWrites,
  outboxWrites,
  revisionCheck,
  type StoreContext,
  sessionWrites,
  updateSession,
  type Wake,
  wakeWrite,
} from './sessionChange.js';

export interface AcceptedMessage {
  readonly session: AgentSession;
  /** False where the message was seen before: nothing changed. */
  readonly isNew: boolean;
}

export class Transitions {
  private readonly context: StoreContext;
  private readonly clock: Clock;

  constructor(context: StoreContext, clock: Clock) {
    this.context = context;
    this.clock = clock;
  }

  /**
   * Session, lane and index under (project, chat, message) in one commit.
   * @param fence what must hold where somebody takes messages in by a lease
   * @throws ioredis' error where Redis is away: then nothing is accepted, or the same call later finds it accepted
   * @throws FencedError where the lease is another's: nothing is accepted
   */
  async accept(draft: SessionDraft, fence: readonly Check[] = []): Promise<AcceptedMessage> {
    const { redis, keys, records } = this.context;
    const session = newSession(draft, this.clock.now());
    const message = keys.message(session.project_key, session.chat_id, session.message_id);
    const isNew = await applyCommit(redis, {
      at: 'accept',
      addsWork: true,
      checks: [{ read: ['HGET', message, 'session_id'], equals: null }, ...fence],
      writes: [
        ['HSET', message, 'session_id', session.session_id],
        ...sessionWrites(keys, null, session),
        ...laneEntryWrites(this.context, session, 'RPUSH'),
      ],
    });
    if (isNew) return { session, isNew };
    const known = await redis.hget(message, 'session_id');
    if (known === null && fence.length > 0) throw new FencedError('another process takes messages in now');
    return { session: (known === null ? null : await records.session(known)) ?? session, isNew };
  }

  /**
   * `pending → active`, decided by the lane: only its head may start, and only while no run holds it.
   * @param leaseMs how long the run may go on without renewing, in milliseconds
   * @returns the active session; null where it is not this session's turn
   */
  async start(session: AgentSession, run: Run, leaseMs: number): Promise<AgentSession | null> {
    if (session.status !== 'pending') return null;
    const { keys } = this.context;
    const now = this.clock.now();
    const begun = { status: 'active', started_at: now, last_activity: now, not_before: null } as const;
    const patch = { ...begun, run, stop: null, released: null };
    return changeSession(this.context, session, {
      at: 'start',
      patch,
      checks: [
        { read: ['LINDEX', keys.lane(session.lane), '0'], equals: session.session_id },
        { read: ['GET', keys.laneHolder(session.lane)], equals: null },
      ],
      writes: [
        ['LPOP', keys.lane(session.lane)],
        ['SET', keys.laneHolder(session.lane), run.run_id],
        ['ZADD', keys.runLeases, String(now + leaseMs), session.session_id],
        wakeWrite(keys, { session: session.session_id }),
      ],
    });
  }

  /**
   * Keeps the run alive in the eyes of others; also where `last_activity` comes from.
   * @returns false where the run no longer holds its lane: it must end itself
   */
  async renewLease(session: AgentSession, leaseMs: number, lastActivity: number): Promise<boolean> {
    const { redis, keys } = this.context;
    return applyCommit(redis, {
      at: 'renew',
      checks: [holderCheck(keys, session)],
      writes: [
        ['ZADD', keys.runLeases, String(this.clock.now() + leaseMs), session.session_id],
        ['HSET', keys.session(session.session_id), 'last_activity', String(lastActivity)],
      ],
    });
  }

  /** What a run learns on its way: the agent's process, the provider's conversation, the progress message, a full disk. */
  async recordRun(
    sessionId: string,
    runId: string,
    learned: {
      agent?: Pick<Run, 'pid' | 'pid_start'>;
      conversationId?: string;
      progressMessageId?: string;
      journalTorn?: true;
    },
  ): Promise<AgentSession | null> {
    const { keys } = this.context;
    return this.ownedUpdate(sessionId, runId, (session, run) => {
      const writes: Write[] = [];
      const patch: { -readonly [Name in keyof AgentSession]?: AgentSession[Name] } = {};
      if (learned.agent !== undefined) patch.run = { ...run, ...learned.agent };
      if (learned.journalTorn !== undefined) patch.run = { ...(patch.run ?? run), journal_torn: true };
      if (learned.conversationId !== undefined) {
        patch.conversation_id = learned.conversationId;
        writes.push(['SET', keys.conversation(session.conversation_key, run.owner.host), learned.conversationId]);
      }
      if (learned.progressMessageId !== undefined) {
        patch.progress_message_id = learned.progressMessageId;
        writes.push(...ownMessageWrites(this.context, session, learned.progressMessageId));
      }
      return { at: 'record_run', patch, writes };
    });
  }

  /**
   * `active → completed`: the answer and its outbox entry together.
   * @param isGone false where something of the run may still live: then its lane stays blocked
   * @param known the record as its run last saw it; saves a read where nobody changed it since
   * @returns null where the run may not answer any more (released, revived, cancelled)
   */
  async complete(
    sessionId: string,
    runId: string,
    answer: string,
    isGone = true,
    known: AgentSession | null = null,
  ): Promise<AgentSession | null> {
    const now = this.clock.now();
    const change = (session: AgentSession) => ({
      at: 'complete' as const,
      patch: {
        status: 'completed',
        answer,
        ended_at: now,
        end_reason: 'answered',
        delivery: 'queued',
        stop: null,
      } as const,
      writes: [
        ...(isGone ? laneReleaseWrites : laneBlockWrites)(this.context.keys, session, now),
        ...outboxWrites(this.context.keys, newOutboxEntry(session, 'answer', answer, now)),
        wakeWrite(this.context.keys, { session: sessionId }),
      ],
    });
    return this.ownedUpdate(sessionId, runId, change, known);
  }

  /**
   * `active → pending` for an orderly interruption: the same session, back at its lane's head.
   * @param proof that no process of the run is left
   * @param notBefore epoch ms, where a provider's limit has to end first
   * @returns null where an incident or a person has the session already, or it was interrupted too often
   */
  async interrupt(
    sessionId: string,
    runId: string,
    proof: DeathProof,
    notBefore: number | null = null,
  ): Promise<AgentSession | null> {
    if (proof.run_id !== runId) return null;
    const now = this.clock.now();
    return updateSession(this.context, sessionId, (session) => {
      const isFree = session.status === 'active' && session.incident_id === null && session.stop === null;
      if (!isFree || session.run?.run_id !== runId || session.interruptions >= MOST_INTERRUPTIONS) return null;
      return {
        at: 'interrupt',
        patch: {
          status: 'pending',
          run: null,
          started_at: null,
          interruptions: session.interruptions + 1,
          not_before: notBefore,
        },
        checks: [holderCheck(this.context.keys, session)],
        writes: [
          ...laneReleaseWrites(this.context.keys, session, now),
          ...laneEntryWrites(this.context, session, 'LPUSH'),
        ],
      };
    });
  }

  /**
   * Asks for the end of a session. A pending one is cancelled at once; an active one by the bridge that owns its run.
   * @returns the session as it is afterwards; null where it has ended already
   */
  async cancel(sessionId: string, text: string): Promise<AgentSession | null> {
    const now = this.clock.now();
    return updateSession(this.context, sessionId, (session) => {
      const { keys } = this.context;
      if (session.status === 'pending') {
        return {
          at: 'cancel',
          patch: { status: 'cancelled', end_reason: 'cancelled_by_person', ended_at: now, delivery: 'queued' },
          writes: [
            ['LREM', keys.lane(session.lane), '0', sessionId],
            ...outboxWrites(keys, newOutboxEntry(session, 'cancelled', text, now)),
            wakeWrite(keys, { lane: session.lane }),
          ],
        };
      }
      if (session.status !== 'active' || session.run === null) return null;
      const stop: StopRequest = {
        run_id: session.run.run_id,
        cause: 'cancel',
        incident_id: session.incident_id,
        requested_at: now,
      };
      return { at: 'cancel', patch: { stop }, writes: [wakeWrite(keys, { stop: sessionId })] };
    });
  }

  /**
   * Puts a waiting session at the end of another lane, of another host.
   * @param fence what must hold besides
   * @returns null where it does not wait any more, a run holds its lane, or the fence does not hold
   */
  async moveToHost(
    session: AgentSession,
    lane: string,
    workingDirectory: string,
    fence: readonly Check[],
  ): Promise<AgentSession | null> {
    if (session.status !== 'pending') return null;
    const { keys } = this.context;
    return changeSession(this.context, session, {
      patch: { lane, working_directory: workingDirectory },
      checks: [...fence, { read: ['GET', keys.laneHolder(session.lane)], equals: null }],
      writes: [
        ['LREM', keys.lane(session.lane), '0', session.session_id],
        ...laneEntryWrites(this.context, { ...session, lane }, 'RPUSH'),
      ],
    });
  }

  /** Stores that no process of the run is left. The lane stays held: the watchdog decides what follows. */
  async release(sessionId: string, proof: DeathProof): Promise<AgentSession | null> {
    return updateSession(this.context, sessionId, (session) => {
      const isOpen = session.status === 'active' && session.run?.run_id === proof.run_id && session.released === null;
      return isOpen
        ? { at: 'release', patch: { released: proof }, writes: [wakeWrite(this.context.keys, { session: sessionId })] }
        : null;
    });
  }

  /** `active → cancelled`, where a person asked for it, once the run is proven dead and no incident has the session. */
  async cancelReleased(sessionId: string, runId: string, text: string): Promise<AgentSession | null> {
    const now = this.clock.now();
    return updateSession(this.context, sessionId, (session) => {
      const isOurs = session.status === 'active' && session.run?.run_id === runId && session.incident_id === null;
      if (!isOurs || session.released === null || session.stop?.cause !== 'cancel') return null;
      return cancelledChange(this.context, session, text, now);
    });
  }

  /** Takes a session that is not pending any more out of its lane's list. */
  async dropFromLane(lane: string, sessionId: string): Promise<void> {
    const { redis, keys, records } = this.context;
    const session = await records.session(sessionId);
    if (session?.status === 'pending') return;
    const checks =
      session === null
        ? [{ read: ['EXISTS', keys.session(sessionId)], equals: '0' } as const]
        : [revisionCheck(keys, session)];
    await applyCommit(redis, {
      checks,
      writes: [['LREM', keys.lane(lane), '0', sessionId], wakeWrite(keys, { lane })],
    });
  }

  /** Takes a session whose record cannot be read off its lane's head, so that those behind it go on. */
  async setAside(lane: string, sessionId: string): Promise<void> {
    const { redis, keys } = this.context;
    await applyCommit(redis, {
      checks: [{ read: ['LINDEX', keys.lane(lane), '0'], equals: sessionId }],
      writes: [['LPOP', keys.lane(lane)], wakeWrite(keys, { lane })],
    });
  }

  /** Takes a lane off its host's list once nothing waits in it and nobody holds it. */
  async forgetEmptyLane(lane: string): Promise<void> {
    const { redis, keys } = this.context;
    await applyCommit(redis, {
      checks: [
        { read: ['LLEN', keys.lane(lane)], equals: '0' },
        { read: ['GET', keys.laneHolder(lane)], equals: null },
      ],
      writes: [
        ['SREM', keys.lanes(hostOfLane(lane)), lane],
        ['DEL', keys.laneFree(lane)],
      ],
    });
  }

  /** Tells whoever listens that something is worth a look now. */
  async wake(wake: Wake): Promise<void> {
    const [, channel, text] = wakeWrite(this.context.keys, wake);
    await this.context.redis.publish(channel, text ?? '');
  }

  /** Begins the conversation of a place anew: later messages do not continue the present one. */
  async newConversation(projectKey: string, chatId: string, threadId: string | null): Promise<void> {
    await this.context.redis.incr(this.context.keys.conversationEpoch(projectKey, chatId, threadId));
  }

  /** Remembers that a message of ours belongs to a session, so that a reply to it continues the conversation. */
  async recordOwnMessage(session: AgentSession, messageId: string): Promise<void> {
    await applyCommit(this.context.redis, { checks: [], writes: ownMessageWrites(this.context, session, messageId) });
  }

  /** @throws FencedError where another process takes the bot's messages in: the offset stays */
  async saveUpdateOffset(botId: string, offset: number, fence: readonly Check[] = []): Promise<void> {
    const writes: Write[] = [['SET', this.context.keys.updateOffset(botId), String(offset)]];
    if (await applyCommit(this.context.redis, { checks: fence, writes })) return;
    throw new FencedError('another process takes messages in now');
  }

  private ownedUpdate(
    sessionId: string,
    runId: string,
    change: (session: AgentSession, run: Run) => { patch: Partial<AgentSession>; writes: Write[] },
    known: AgentSession | null = null,
  ): Promise<AgentSession | null> {
    const decide = (session: AgentSession) => {
      const isOurs = session.status === 'active' && session.released === null && session.run?.run_id === runId;
      if (!isOurs || session.run === null) return null;
      return { ...change(session, session.run), checks: [holderCheck(this.context.keys, session)] };
    };
    return updateSession(this.context, sessionId, decide, known);
  }
}

/** @returns the change by which a cancelled session ends, final message included */
export function cancelledChange(context: StoreContext, session: AgentSession, text: string, now: number) {
  return {
    patch: { status: 'cancelled', end_reason: 'cancelled_by_person', ended_at: now, delivery: 'queued' } as const,
    writes: [
      ...laneReleaseWrites(context.keys, session, now),
      ...outboxWrites(context.keys, newOutboxEntry(session, 'cancelled', text, now)),
      wakeWrite(context.keys, { session: session.session_id }),
    ],
  };
}

/**
 * @param place at the end, at the head, or before another session
 * @returns the writes by which a pending session enters its lane
 */
export function laneEntryWrites(
  { keys }: StoreContext,
  session: AgentSession,
  place: 'RPUSH' | 'LPUSH' | { readonly before: string },
): Write[] {
  const list = keys.lane(session.lane);
  const id = session.session_id;
  return [
    typeof place === 'string' ? [place, list, id] : ['LINSERT', list, 'BEFORE', place.before, id],
    ['SADD', keys.lanes(hostOfLane(session.lane)), session.lane],
    ['SADD', keys.hosts, hostOfLane(session.lane)],
    wakeWrite(keys, { lane: session.lane }),
  ];
}

function ownMessageWrites({ keys }: StoreContext, session: AgentSession, messageId: string): Write[] {
  const key = keys.ownMessage(session.project_key, session.chat_id, messageId);
  return [['SET', key, session.session_id, 'PX', String(ENDED_KEPT_MS)]];
}
