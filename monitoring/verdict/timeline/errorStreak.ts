/**
 * Counts an agent's consecutive failing batches. (Judgement rules, 12.)
 *
 * A batch is the calls of one assistant message. It is judged when all its calls have results or the next batch begins; a
 * result that comes later still counts for its batch. It fails if at least one call failed and none succeeded; a batch with
 * only neutral results neither counts nor resets.
 */
import type { ResultEntry } from './entry.js';

interface Batch {
  readonly key: string;
  /** Calls without a result. */
  open: number;
  /** `failing`, `succeeding`: not yet counted in the streak. One success outweighs all failures. */
  state: 'open' | 'failing' | 'failed' | 'succeeding' | 'succeeded';
}

export interface ErrorStreak {
  current: Batch | null;
  /** Earlier batches with calls that still have no result, and the latest of the complete ones. */
  earlier: Batch[];
  count: number;
  /** When each of them failed, the first {@link MOST_INSTANTS} of them. */
  failedAt: readonly number[];
  lastFailedAt: number;
  lastFailedTool: string;
}

const MOST_INSTANTS = 256;
const MOST_EARLIER = 64;
const LONE_CALL = 'call ';
/** One for all: most streaks have no failure. */
const NEVER: readonly number[] = [];
/** Calls of one message may be interleaved with those of the next. */
const MOST_COMPLETE = 4;

export function newErrorStreak(): ErrorStreak {
  return { current: null, earlier: [], count: 0, failedAt: NEVER, lastFailedAt: 0, lastFailedTool: '' };
}

export function copyErrorStreak(streak: ErrorStreak): ErrorStreak {
  return {
    ...streak,
    current: streak.current === null ? null : { ...streak.current },
    earlier: streak.earlier.map((batch) => ({ ...batch })),
  };
}

/** A person spoke, or something succeeded: the count restarts, the batches stay. */
export function resetErrorCount(streak: ErrorStreak): void {
  streak.count = 0;
  streak.failedAt = NEVER;
}

export function requestInBatch(streak: ErrorStreak, key: string, time: number): void {
  batchOf(streak, key, time).open += 1;
}

/** @param key of the batch; one that no request has opened is of a result without its request */
export function resultInBatch(streak: ErrorStreak, key: string, result: ResultEntry): void {
  const batch = batchOf(streak, key, result.time);
  batch.open = Math.max(0, batch.open - 1);
  if (result.outcome === 'failed') {
    if (batch.state === 'open') batch.state = 'failing';
    streak.lastFailedTool = result.tool;
  }
  if (result.outcome === 'ok') batch.state = 'succeeding';
  if (batch.open === 0 || batch !== streak.current) judge(streak, batch, result.time);
  if (batch.open > 0 || batch === streak.current) return;
  if (isLoneCall(batch)) streak.earlier = streak.earlier.filter((other) => other !== batch);
  else forgetComplete(streak);
}

/** @returns the key of a call that its agent made alone; no other call can join it */
export function loneCallKey(id: string): string {
  return `${LONE_CALL}${id}`;
}

function isLoneCall({ key }: Batch): boolean {
  return key.startsWith(LONE_CALL);
}

function forgetComplete(streak: ErrorStreak): void {
  if (streak.earlier.length <= MOST_COMPLETE) return;
  const excess = streak.earlier.filter(({ open }) => open === 0).slice(0, -MOST_COMPLETE);
  streak.earlier = streak.earlier.filter((batch) => !excess.includes(batch));
}

function batchOf(streak: ErrorStreak, key: string, time: number): Batch {
  if (streak.current?.key === key) return streak.current;
  const known = streak.earlier.find((batch) => batch.key === key);
  if (known !== undefined) return known;
  const former = streak.current;
  if (former !== null) {
    judge(streak, former, time);
    // Unlike pushing, this reserves no spare room, which adds up over thousands of streaks.
    if (former.open > 0 || !isLoneCall(former)) streak.earlier = streak.earlier.concat([former]);
    forgetComplete(streak);
    if (streak.earlier.length > MOST_EARLIER) streak.earlier.shift();
  }
  streak.current = { key, open: 0, state: 'open' };
  return streak.current;
}

function judge(streak: ErrorStreak, batch: Batch, time: number): void {
  if (batch.state === 'succeeding') {
    resetErrorCount(streak);
    batch.state = 'succeeded';
  } else if (batch.state === 'failing') {
    batch.state = 'failed';
    streak.count += 1;
    streak.lastFailedAt = time;
    if (streak.failedAt.length < MOST_INSTANTS) streak.failedAt = [...streak.failedAt, time];
  }
}
