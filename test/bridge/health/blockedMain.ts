/**
 * A process with a guarded event loop, for `stallGuard.test.ts`. Usage: `blockedMain.js LOG_FILE LIMIT_MS`. Says `up`, then
 * obeys lines on standard input: `block` stands still for ever, `beats N` says `beaten` after N more beats of its loop.
 */
import { createInterface } from 'node:readline';
import { LoopBeat, StallGuard } from '../../../bridge/health/stallGuard.js';
import { createLogger } from '../../../src/log/logger.js';
import { systemClock } from '../../../src/time.js';

const [logFile = '', limit = ''] = process.argv.slice(2);
const limitMs = Number(limit);
const logger = createLogger({ level: 'silent', redact: (text) => text, clock: systemClock, destinations: [] });
const beat = new LoopBeat(systemClock, limitMs);

function standStillForEver(): never {
  for (;;) Math.hypot(3, 4);
}

async function beats(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await systemClock.sleep(beat.beatMs);
  process.stdout.write('beaten\n');
}

await beat.start();
await new StallGuard({ beat, limitMs, logFile, isTerminal: false, logger }).start();
process.stdout.write('up\n');
for await (const line of createInterface({ input: process.stdin })) {
  const [order, count] = line.split(' ');
  if (order === 'block') standStillForEver();
  if (order === 'beats') await beats(Number(count));
}
process.exit(0);
