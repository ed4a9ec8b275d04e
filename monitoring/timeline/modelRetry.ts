/**
 * A model stream that was given up, and the retry of it, as a wait of known length.
 *
 * A record of the harness is no activity and resets no clock (judgement rules, 6). But where it comes a stream's timeout
 * after the last sign, while nothing but the model is awaited, it says more: the harness gave that stream up and asks
 * again, and the new stream has the same time. Measured in 92 recorded sessions: in eight places such a record stands 283
 * to 321 s after the last sign and the agent goes on seconds later; once two of them followed each other, after 255 and
 * 302 s, and the agent went on after 12 minutes. Without this wait the default rule accuses that healthy session, and
 * only that one.
 *
 * A hung harness writes no such record, so that its silence is found as ever; one that retries for ever is found when it
 * gives up, or as a runaway.
 */
import { MINUTE, SECOND } from '../../src/time.js';
import type { AgentState } from './state.js';

const STREAM_TIMEOUT_MS = 5 * MINUTE;
const EARLIEST_MS = STREAM_TIMEOUT_MS - MINUTE;
const LATEST_MS = STREAM_TIMEOUT_MS + 30 * SECOND;

/** @param time the record's instant, UTC epoch milliseconds */
export function noteHarnessRecord(agent: AgentState, time: number): void {
  const sinceLastSignMs = time - Math.max(agent.lastActivity, agent.lastRecord);
  agent.lastRecord = time;
  if (agent.calls.length > 0 || sinceLastSignMs < EARLIEST_MS || sinceLastSignMs > LATEST_MS) return;
  const others = agent.waits.filter((wait) => wait.kind !== 'model_retry');
  agent.waits = [...others, { kind: 'model_retry', call: null, since: time, until: time + STREAM_TIMEOUT_MS }];
}
