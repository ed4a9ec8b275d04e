/** Waiting for evidence that tells nobody when it changes: files, `/proc`, Redis. */
import { setTimeout as pause } from 'node:timers/promises';
import { patience } from '../harness/patience.js';

type Falsy = false | null | undefined | 0 | '';

export interface Wait {
  /** What is waited for, as the end of the sentence "not seen within 10000 ms: …". */
  readonly what: string;
  /** Real milliseconds, 10,000 by default; more on a machine that needs patience. */
  readonly withinMs?: number;
  /** Real milliseconds between two looks, 15 by default; more where a look is dear or the wait long. */
  readonly everyMs?: number;
  /** What stands there instead; part of the error. */
  readonly instead?: () => string;
}

const DEFAULT_WAIT_MS = 10_000;
const LOOK_EVERY_MS = 15;

/**
 * Looks again and again.
 * @returns the first truthy value of `look`
 * @throws Error after the time, or what `look` itself throws
 */
export async function eventually<T>(look: () => T | Falsy | Promise<T | Falsy>, wait: Wait): Promise<T> {
  const { what, instead, everyMs = LOOK_EVERY_MS } = wait;
  const withinMs = (wait.withinMs ?? DEFAULT_WAIT_MS) * patience();
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await look();
    if (value) return value;
    if (performance.now() > end) {
      throw new Error(`not seen within ${withinMs} ms: ${what}${instead ? `\n${instead()}` : ''}`);
    }
    await pause(everyMs);
  }
}
