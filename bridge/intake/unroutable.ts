/** Reports a message from a chat that no project lists. */
import { type EventLog, noticeEvent } from '../../monitoring/events/notice.js';
import { ulid } from '../../src/ids.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { Logger } from '../../src/log/logger.js';
import type { Clock } from '../../src/time.js';
import type { ChatMessage } from './admission.js';

/** Never throws: what could not be written is in the log. */
export function reportUnroutable(events: EventLog, clock: Clock, logger: Logger, message: ChatMessage): void {
  const { chatId: chat_id, threadId: thread_id, messageId: message_id } = message;
  const details = { chat_id, thread_id, message_id };
  const about = { event: 'message_unroutable', reason: 'chat_not_listed', details } as const;
  const notice = noticeEvent({ incident_id: ulid(clock), step: 'detected', final: true, ...about }, clock.now());
  const event: CriticalEvent = { ...notice, untrusted_excerpt: message.text };
  events
    .logCriticalEvent(event)
    .catch((err: unknown) => logger.error({ err, event }, 'a critical event was not written'));
}
