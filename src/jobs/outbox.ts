/** The states of a final message: `queued → sending → sent | unknown | given_up`. Every send is claimed first. */
import { isDeepStrictEqual } from 'node:util';
import { isProcessAlive, type ProcessIdentity } from '../host/identity.js';
import { applyCommit, documentChecks, documentWrite, type Write } from '../redis/commit.js';
import { DAY, isAhead } from '../time.js';
import { isDelivered, type OutboxEntry } from './model.js';
import { wakeWrite } from './sessionChange.js';
import { StorePart } from './storePart.js';

export class Outbox extends StorePart {
  /**
   * Called before anything is sent. An unanswered claim expires after `claimMs`, or as soon as its holder is proven dead. The
   * next claimer sees from `state: 'sending'` that a send may have happened.
   * @param here the identity of this process
   * @param mayBeOurs whether this process may have an unused claim of its own, because the store's reply to it was lost
   * @returns the claimed entry as it was before (its `state` is the predecessor's) and as it is now; null if another process
   *   has the claim, the message is due later, or it has arrived
   */
  async claim(sessionId: string, claimMs: number, here: ProcessIdentity, mayBeOurs = false) {
    const before = await this.context.records.outboxEntry(sessionId);
    const now = this.clock.now();
    if (before === null || isDelivered(before.state)) return null;
    if (isDueLater(before, now)) return null;
    const { claimed_until: until } = before;
    const isHeld = until !== null && isAhead(until, claimMs, now) && !isAbandoned(before, here);
    if (isHeld && !(mayBeOurs && isDeepStrictEqual(before.claimed_by, here))) return null;
    const entry = await this.save(before, {
      state: 'sending',
      claimed_until: now + claimMs,
      claimed_by: here,
      due_at: now + claimMs,
      waits_ms: claimMs,
      tries: before.tries + 1,
    });
    return entry === null ? null : { before, entry };
  }

  /** @returns the entry after the change; null if the claim was lost to another process */
  async save(entry: OutboxEntry, patch: Partial<OutboxEntry>): Promise<OutboxEntry | null> {
    const { redis, keys } = this;
    const next: OutboxEntry = { ...entry, ...patch, rev: entry.rev + 1 };
    const key = keys.outbox(entry.session_id);
    const isDone = isDelivered(next.state);
    const writes: Write[] = [
      documentWrite(key, next),
      // Its progress message still needs its last line.
      isDone && next.progress_message_id === null
        ? ['ZREM', keys.outboxDue, entry.session_id]
        : ['ZADD', keys.outboxDue, String(next.due_at), entry.session_id],
    ];
    const checks = documentChecks(key, entry.rev);
    if (next.state !== entry.state) {
      const session = keys.session(entry.session_id);
      const exists = await redis.exists(session);
      checks.push({ read: ['EXISTS', session], equals: String(exists) });
      // A partial record would be unreadable.
      if (exists === 1) writes.push(['HSET', session, 'delivery', next.state], ['HINCRBY', session, 'rev', '1']);
    }
    if (isDone && !isDelivered(entry.state)) writes.push(wakeWrite(keys, { session: entry.session_id }));
    const applied = await applyCommit(redis, { at: 'delivery', checks, writes });
    return applied ? next : null;
  }
}

/** @returns whether no process may claim it yet: Telegram asked for a pause, or the last try failed a moment ago */
function isDueLater({ claimed_until, due_at, waits_ms = DAY }: OutboxEntry, now: number): boolean {
  return claimed_until === null && isAhead(due_at, waits_ms, now);
}

/**
 * The process that ended the delivery writes the last line; another one does so after a while, or at once if that one is dead.
 * @returns whether the progress message needs its last line now
 */
export function isLastLineDue(entry: OutboxEntry, here: ProcessIdentity, now: number): boolean {
  const { progress_message_id, state, due_at, waits_ms = DAY } = entry;
  if (progress_message_id === null || !isDelivered(state)) return false;
  return !isAhead(due_at, waits_ms, now) || isAbandoned(entry, here);
}

/** @returns whether a claim is held by a process that is proven dead, so that no other one need wait for its expiry */
export function isAbandoned({ claimed_until, claimed_by }: OutboxEntry, here: ProcessIdentity): boolean {
  return claimed_until !== null && claimed_by !== undefined && isProcessAlive(claimed_by, here) === false;
}
