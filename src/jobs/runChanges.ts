/** A run's changes of its session: it starts, it learns something on its way, and it may write only while it holds its lane. */
import type { Write } from '../redis/commit.js';
import { ownMessageWrites } from './chatMemory.js';
import type { AgentSession, Run } from './model.js';
import { type Change, holderCheck, type SessionPatch, wakeWrite } from './sessionChange.js';
import type { StoreContext } from './storePart.js';

/** Facts that a run learns: the agent's process and version, the provider's conversation, the progress message, a full disk. */
export interface Learned {
  readonly agent?: Pick<Run, 'pid' | 'pid_start'>;
  readonly agentVersion?: string;
  readonly conversationId?: string;
  readonly progressMessageId?: string;
  readonly journalTorn?: true;
}

/** Starts the head of a free lane; reads the conversation that it continues. @param leaseMs milliseconds without a renewal */
export function startedChange({ keys, clock }: StoreContext, session: AgentSession, run: Run, leaseMs: number): Change {
  const now = clock.now();
  const cleared = { stop: null, released: null, not_before: null };
  return {
    at: 'start',
    patch: { status: 'active', run, ...cleared, started_at: now, last_activity: now },
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
    reads: [['GET', keys.conversation(session.conversation_key, run.owner.host)]],
  };
}

export function learnedChange(context: StoreContext, session: AgentSession, run: Run, learned: Learned): Change {
  const { keys } = context;
  const writes: Write[] = [];
  const patch: { -readonly [Name in keyof SessionPatch]: SessionPatch[Name] } = {};
  if (learned.agent !== undefined) patch.run = { ...run, ...learned.agent };
  if (learned.agentVersion !== undefined) patch.run = { ...(patch.run ?? run), agent_version: learned.agentVersion };
  if (learned.journalTorn !== undefined) patch.run = { ...(patch.run ?? run), journal_torn: true };
  if (learned.conversationId !== undefined) {
    patch.conversation_id = learned.conversationId;
    writes.push(['SET', keys.conversation(session.conversation_key, run.owner.host), learned.conversationId]);
  }
  if (learned.progressMessageId !== undefined) {
    patch.request = { progress_message_id: learned.progressMessageId };
    writes.push(...ownMessageWrites(context, session, learned.progressMessageId));
  }
  return { at: 'record_run', patch, writes };
}

/** @returns the change as long as the run is the session's and holds its lane */
export function ownedChange(
  { keys }: StoreContext,
  runId: string,
  change: (session: AgentSession, run: Run) => Change,
): (session: AgentSession) => Change | null {
  return (session) => {
    if (!isRunBy(session, runId) || session.released !== null) return null;
    return { ...change(session, session.run), checks: [holderCheck(keys, session)] };
  };
}

export function isRunBy(session: AgentSession, runId: string): session is AgentSession & { readonly run: Run } {
  return session.status === 'active' && session.run?.run_id === runId;
}
