/**
 * A model stream that was abandoned and is retried, as a wait of known length.
 *
 * A record of the harness is no activity and resets no clock (judgement rules, 6). But if it comes a stream's timeout after the
 * last sign, while only the model is awaited, it says more: the harness abandoned that stream and asks again, and the new
 * stream has the same time. Measured in 92 recorded sessions: in eight places such a record comes 283 to 321 s after the last
 * sign and the agent continues seconds later; once two of them followed each other, after 255 and 302 s, and the agent continued
 * after 12 minutes. Without this wait the default rule accuses that healthy session, and only that one.
 *
 * A hung harness writes no such record, so its silence is still found. A harness that retries again and again is excused as
 * often as a healthy one was seen to be, and then found.
 */
import { MINUTE, SECOND } from '../../../src/time.js';
import type { AgentState } from './state.js';

const STREAM_TIMEOUT_MS = 5 * MINUTE;
const EARLIEST_MS = STREAM_TIMEOUT_MS - MINUTE;
/** A record that comes later than this after the last sign does not indicate an abandoned stream. */
export const LATEST_RETRY_MS = STREAM_TIMEOUT_MS + 30 * SECOND;
/** In a row, without any activity between. */
const MOST_RETRIES = 2;

/** @param time the record's instant, UTC epoch milliseconds */
export function noteHarnessRecord(agent: AgentState, time: number): void {
  const sinceLastSignMs = time - Math.max(agent.lastActivity, agent.lastRecord);
  if (agent.lastRecord <= agent.lastActivity) agent.modelRetries = 0;
  agent.lastRecord = time;
  if (agent.calls.length > 0 || sinceLastSignMs < EARLIEST_MS || sinceLastSignMs > LATEST_RETRY_MS) return;
  agent.modelRetries += 1;
  if (agent.modelRetries > MOST_RETRIES) return;
  const others = agent.waits.filter((wait) => wait.kind !== 'model_retry');
  agent.waits = [...others, { kind: 'model_retry', call: null, since: time, until: time + STREAM_TIMEOUT_MS }];
}
