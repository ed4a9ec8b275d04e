/**
 * The two sockets that turn outward arrows around: `monitoring` decides, `bridge` reaches out.
 */
import type { DeliveryState } from './model.js';
import type { LaneView } from './records.js';

/** Where accepted work waits for a worker. */
export interface WorkQueue {
  /**
   * Makes sure that a job stands for the session at the head of every free lane. Idempotent; a job may repeat, the
   * `pending → active` compare-and-set decides.
   * @param lanes those of this host that are worth a look, where the caller has asked for them already
   * @returns how many jobs were added
   * @throws UnreachableError where the queue cannot be reached
   */
  pump(lanes?: readonly LaneView[]): Promise<number>;
}

/** Where people read. */
export interface Chat {
  /**
   * Tries to deliver the session's outbox entry now, by the delivery rules (one claimed send, then edits only).
   * @returns the entry's state afterwards; `queued` where it stays for a later try
   */
  deliver(sessionId: string): Promise<DeliveryState>;
  /** Puts `text` into the session's progress message. Droppable: a failure is logged, never thrown. */
  showProgress(sessionId: string, text: string): Promise<void>;
}

/** Starts what waits in the lanes of this host. */
export interface Lanes {
  /**
   * Never rejects.
   * @param next who is known to be at the head of the free lane
   */
  startNext(lane: string, next?: string): Promise<void>;
}
