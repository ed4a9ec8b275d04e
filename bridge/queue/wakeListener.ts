/** Acts on the wakes that writers publish: starts lanes, delivers messages. */
import type { Wakes } from '../../src/jobs/wakes.js';
import type { Service } from '../../src/service.js';
import type { LaneStarter } from './laneStarter.js';

/** Delivers final messages to the chats. */
export interface Deliveries {
  wake(sessionId: string): void;
  lookNow(): void;
  /** Delivers the messages that the last runs left. */
  lastLook(): Promise<void>;
}

export class WakeListener implements Service {
  readonly name = 'wakes of lanes and messages';
  readonly #wakes: Wakes;
  readonly #deliveries: Deliveries;
  readonly #lanes: LaneStarter;
  #unlisten: () => void = () => undefined;

  constructor(wakes: Wakes, deliveries: Deliveries, lanes: LaneStarter) {
    this.#wakes = wakes;
    this.#deliveries = deliveries;
    this.#lanes = lanes;
  }

  async start(): Promise<void> {
    this.#unlisten = this.#wakes.listen(({ outbox, everything, lane }) => {
      if (outbox !== undefined) {
        this.#lanes.forget(outbox);
        this.#deliveries.wake(outbox);
      }
      if (everything) {
        this.#deliveries.lookNow();
        void this.#lanes.restoreAndStartAll();
      }
      if (lane !== undefined) void this.#lanes.startNext(lane);
    });
  }

  /** After the runs and before the chats. */
  async stop(): Promise<void> {
    this.#unlisten();
    await this.#deliveries.lastLook();
  }
}
