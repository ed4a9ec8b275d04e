/** What a watchdog is given by the process that it is in. */
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
  /** Aborted when the process stops: what is under way outside ends. */
  readonly stopping: AbortSignal;
  /** Whether the outside may hear that all is well; always, where it is not given. */
  readonly isPingDue?: () => Promise<boolean>;
  /** Called when this process begins to act. */
  onActing?(): void;
}
