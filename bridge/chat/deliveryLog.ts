/** The log line of a final message: one when its delivery ends, the same for every chat. */

import type { OutboxEntry } from '../../src/jobs/model.js';
import type { Logger } from '../../src/log/logger.js';
import { describeDuration } from '../../src/time.js';

const NAMES = { answer: 'answer', failure: 'failure message', cancelled: 'word of the cancellation' } as const;

/**
 * @param entry as stored: its state is `sent`, `unknown` or `given_up`
 * @param now epoch milliseconds
 */
export function logDelivery(logger: Logger, entry: OutboxEntry, now: number): void {
  const { session_id, kind, state, chat_id, tries, last_error: reason } = entry;
  const took_ms = Math.max(now - entry.created_at, 0);
  const fields = { session_id, kind, state, chat_id, tries, took_ms };
  const what = `session ${session_id}: ${NAMES[kind]}`;
  if (state === 'sent') {
    logger.info(fields, `${what} delivered after ${describeDuration(took_ms)}`);
    return;
  }
  const how = state === 'unknown' ? 'given up, and it may stand in the chat or not' : 'given up';
  logger.error({ ...fields, reason }, `${what} ${how}; \`watchkeeper session ${session_id}\` shows it`);
}
