import type { Redis } from 'ioredis';
import type { Clock } from '../time.js';
import type { Keys } from './keys.js';
import type { Records } from './records.js';

export interface StoreContext {
  readonly redis: Redis;
  readonly keys: Keys;
  readonly records: Records;
  readonly clock: Clock;
}

/** The parts of the store are made alike: each reads and changes records of one kind. */
export abstract class StorePart {
  protected readonly context: StoreContext;
  protected readonly redis: Redis;
  protected readonly keys: Keys;
  protected readonly clock: Clock;

  constructor(context: StoreContext) {
    this.context = context;
    this.redis = context.redis;
    this.keys = context.keys;
    this.clock = context.clock;
  }
}
