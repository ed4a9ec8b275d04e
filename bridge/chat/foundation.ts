import type { EventLog } from '../../monitoring/events/notice.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import type { Redact } from '../../src/log/redact.js';
import type { Clock } from '../../src/time.js';

/** The base that all parts of the chats of a process share. */
export interface ChatFoundation {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: Redact;
  readonly here: ProcessIdentity;
  readonly events: EventLog;
}

/** Notes the messages whose chats are owed nothing any more (`bridge/accepted/`). */
export interface Register {
  readonly accepted: { ended(sessionId: string): void };
}
