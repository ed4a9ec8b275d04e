/** What the surrounding process provides to a watchdog. */
import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import type { Chat, WorkQueue } from '../../src/jobs/ports.js';
import type { Store } from '../../src/jobs/store.js';
import type { Wakes } from '../../src/jobs/wakes.js';
import type { ChatParts } from './chat.js';

export interface WatchdogSurroundings {
  readonly store: Store;
  readonly wakes: Wakes;
  readonly queue: WorkQueue;
  readonly chat: Chat;
  readonly events: DurableEvents;
  /** Whether it gives way to the watchdog of a bridge on the same logs folder. */
  readonly standsBy: boolean;
  readonly endOnDisk: ChatParts['endOnDisk'];
  /** Aborted when the process stops: outside calls in progress end. */
  readonly stopping: AbortSignal;
  /** Whether the outside may be pinged that all is well; always, if missing. */
  readonly isPingDue?: () => Promise<boolean>;
  /** Called when this process begins to act. */
  onActing?(): void;
}
