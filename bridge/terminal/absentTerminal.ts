import type { DeliveryState } from '../../src/jobs/model.js';
import type { Chat } from '../../src/jobs/ports.js';
import type { Records } from '../../src/jobs/records.js';

/** The terminal of a process that has none, such as a standby: its messages stay due for the next bridge. */
export class AbsentTerminal implements Chat {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async deliver(sessionId: string): Promise<DeliveryState> {
    return (await this.#records.outboxEntry(sessionId))?.state ?? 'given_up';
  }

  async showProgress(): Promise<void> {}
}
