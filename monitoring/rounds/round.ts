import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import type { Clock } from '../../src/time.js';
import type { Acting } from '../actors/actedFolders.js';
import type { EventLog } from '../events/notice.js';

/** Work that the acting watchdog does every now and then after a look at everything. */
export interface Round {
  /** Does the work if its time has come. Never throws: nothing waits for it, and the next round goes on. */
  runIfDue(): Promise<void>;
}

/** What all checks beside the look at sessions need. */
export interface RoundContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventLog;
  readonly folders: Acting;
}
