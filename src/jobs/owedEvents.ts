/** Critical events, as JSON, that could not be written to their file, in the order for that file. */
import { StorePart } from './storePart.js';

export class OwedEvents extends StorePart {
  /** Appends the event. Doing so twice is harmless, because each has an id. */
  async add(logsId: string, event: string): Promise<void> {
    await this.redis.rpush(this.keys.owedEvents(logsId), event);
  }

  first(logsId: string): Promise<string | null> {
    return this.redis.lindex(this.keys.owedEvents(logsId), 0);
  }

  /** Removes an event that was written, and no other: two processes may write the same one at once. */
  async settle(logsId: string, event: string): Promise<void> {
    await this.redis.lrem(this.keys.owedEvents(logsId), 1, event);
  }

  count(logsId: string): Promise<number> {
    return this.redis.llen(this.keys.owedEvents(logsId));
  }
}
