/** The one commit that makes a message a session. */
import { FencedError } from '../errors.js';
import { applyAndRead, type Check } from '../redis/commit.js';
import { pieceWrites } from './chatMemory.js';
import { laneEntryWrites } from './lanes.js';
import type { AgentSession } from './model.js';
import { messageOf } from './names.js';
import { newSession, type SessionDraft } from './newRecords.js';
import { sessionWrites, type WakeOption } from './sessionChange.js';
import type { StoreContext } from './storePart.js';

export interface AcceptedMessage {
  readonly session: AgentSession;
  /** False if the message was seen before: nothing changed. */
  readonly isNew: boolean;
  /** Whether it may start at once: nothing waits before it in its lane, and no run holds the lane. */
  readonly isNext: boolean;
}

export interface Acceptance extends WakeOption {
  /** Further checks, for a process that takes messages in under a lease. */
  readonly fence?: readonly Check[];
  /** Ids of further messages whose texts are part of this one: each counts as seen from now on. */
  readonly pieces?: readonly string[] | undefined;
}

export async function acceptSession(
  context: StoreContext,
  draft: SessionDraft,
  { fence = [], wakes = true, pieces = [] }: Acceptance,
): Promise<AcceptedMessage> {
  const { redis, keys, records } = context;
  const session = newSession(draft, context.clock.now());
  const message = keys.message(...messageOf(session));
  const found = await applyAndRead(redis, {
    at: 'accept',
    addsWork: true,
    checks: [{ read: ['HGET', message, 'session_id'], equals: null }, ...fence],
    writes: [
      ['HSET', message, 'session_id', session.session_id],
      ...pieces.flatMap((id) => pieceWrites(context, session, id)),
      ...sessionWrites(keys, null, session),
      ...laneEntryWrites(context, session, 'RPUSH', { wakes }),
    ],
    reads: [
      ['LINDEX', keys.lane(session.lane), '0'],
      ['GET', keys.laneHolder(session.lane)],
    ],
  });
  if (found !== null) return { session, isNew: true, isNext: found[0] === session.session_id && found[1] === null };
  const known = await redis.hget(message, 'session_id');
  if (known === null && fence.length > 0) throw new FencedError('another process receives messages now');
  const seen = known === null ? null : await records.session(known);
  return { session: seen ?? session, isNew: false, isNext: false };
}
