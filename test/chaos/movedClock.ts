/**
 * Loaded before a process of the product (`node --import`): its wall clock is ahead of the host's by what a file says, at each
 * instant anew. What counts from the boot or from the process's start is left alone, as when somebody sets a host's clock.
 */
import { readFileSync } from 'node:fs';

/** The file that holds by how many milliseconds the clock is ahead; 0 where there is none. */
export const MOVED_CLOCK = 'CHAOS_MOVED_CLOCK';

const LOOK_EVERY_MS = 20;

const file = process.env[MOVED_CLOCK];
if (file !== undefined) moveClock(file);

function moveClock(file: string): void {
  const TrueDate = Date;
  const trueNow = Date.now;
  let aheadMs = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const now = () => {
    if (performance.now() - lookedAt >= LOOK_EVERY_MS) {
      lookedAt = performance.now();
      aheadMs = read(file);
    }
    return trueNow() + aheadMs;
  };
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, args, asWhat) => Reflect.construct(target, args.length === 0 ? [now()] : args, asWhat),
    apply: () => new TrueDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}

function read(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    return 0;
  }
}
