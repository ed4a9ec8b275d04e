import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A script that Redis runs by its digest; its text is sent if Redis does not know it yet. */
export class Script {
  readonly #text: string;
  readonly #digest: string;

  constructor(text: string) {
    this.#text = text;
    this.#digest = createHash('sha1').update(text).digest('hex');
  }

  run(redis: Redis, keys: readonly string[], args: readonly string[] = []): Promise<unknown> {
    const rest = [...keys, ...args];
    return redis.evalsha(this.#digest, keys.length, ...rest).catch((error: unknown) => {
      if (error instanceof Error && error.message.includes('NOSCRIPT')) {
        return redis.eval(this.#text, keys.length, ...rest);
      }
      throw error;
    });
  }
}
