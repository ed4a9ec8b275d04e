/** Lanes whose last run could not be proven dead: they stay held until it is. */

import { applyCommit, type Check, type Write } from '../redis/commit.js';
import type { Keys } from './keys.js';
import type { AgentSession, BlockedLane, DeathProof } from './model.js';
import { freeLaneWrites } from './sessionChange.js';
import { StorePart } from './storePart.js';

export class BlockedLanes extends StorePart {
  /** @returns all of them; of an unreadable one only the lane and its holder are known */
  async all(): Promise<BlockedLane[]> {
    const { redis, keys } = this;
    const found = await redis.hgetall(keys.blockedLanes);
    const unknown = async (lane: string) => withoutRecord(lane, (await redis.get(keys.laneHolder(lane))) ?? '');
    return Promise.all(Object.entries(found).map(([lane, text]) => read(text) ?? unknown(lane)));
  }

  async noteReported(blocked: BlockedLane, guard: readonly Check[]): Promise<boolean> {
    const { redis, keys } = this;
    const isHeld: Check = { read: ['GET', keys.laneHolder(blocked.lane)], equals: blocked.run_id };
    return applyCommit(redis, {
      checks: [...guard, isHeld],
      writes: [blockWrite(keys, { ...blocked, is_told: true })],
    });
  }

  /** @returns whether the lane is no longer blocked; false if its holder changed in the same instant */
  async free(blocked: BlockedLane, proof: DeathProof, guard: readonly Check[]): Promise<boolean> {
    const { redis, keys } = this;
    if (proof.run_id !== blocked.run_id) return false;
    const { lane, session_id } = blocked;
    const current = await redis.get(keys.laneHolder(lane));
    const writes: Write[] = [['HDEL', keys.blockedLanes, lane]];
    if (session_id !== null) writes.push(['ZREM', keys.runLeases, session_id]);
    if (current === blocked.run_id) writes.push(...freeLaneWrites(keys, lane, this.clock.now()));
    const checks: Check[] = [...guard, { read: ['GET', keys.laneHolder(lane)], equals: current }];
    return applyCommit(redis, { checks, writes });
  }
}

/** @returns the writes that end a session whose run is not proven dead: its lane stays held */
export function laneBlockWrites(keys: Keys, session: AgentSession, now: number): Write[] {
  const { lane, run, session_id, project_key } = session;
  const blocked = { lane, run_id: run?.run_id ?? '', run, session_id, project_key, since: now, is_told: false };
  return [blockWrite(keys, blocked)];
}

/** @returns a blocked lane whose holder has no record */
export function withoutRecord(lane: string, runId: string): BlockedLane {
  return { lane, run_id: runId, run: null, session_id: null, project_key: null, since: 0, is_told: false };
}

export function blockWrite(keys: Keys, blocked: BlockedLane): Write {
  return ['HSET', keys.blockedLanes, blocked.lane, JSON.stringify(blocked)];
}

function read(text: string): BlockedLane | null {
  try {
    const found = JSON.parse(text) as Partial<BlockedLane>;
    return typeof found.lane === 'string' && typeof found.run_id === 'string' ? (found as BlockedLane) : null;
  } catch {
    return null;
  }
}
