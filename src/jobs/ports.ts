/** The three interfaces that turn dependencies around: `monitoring` decides, `bridge` reaches out. */
import type { DeliveryState } from './model.js';
import type { LaneView } from './records.js';

/** The queue of accepted work that waits for a worker. */
export interface WorkQueue {
  /** Idempotent: `pending → active` decides. @param lanes if they have been read already @throws UnreachableError */
  pump(lanes?: readonly LaneView[]): Promise<number>;
}

/** The place where people read. */
export interface Chat {
  /** One claimed send, then edits only. @returns the outbox entry's state; `queued` if it stays for a later try */
  deliver(sessionId: string): Promise<DeliveryState>;
  /** Puts `text` into the session's progress message. Droppable: a failure is logged, never thrown. */
  showProgress(sessionId: string, text: string): Promise<void>;
}

/** Starts the sessions that wait in the lanes of this host. */
export interface Lanes {
  /** Never rejects. @param next the session at the head of the free lane, if known */
  startNext(lane: string, next?: string): Promise<void>;
}
