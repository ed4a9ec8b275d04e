/**
 * What does a line of a worklog cost, on the disk for good?
 *
 * Measured: {@link Log.write} of what `track log` writes: reading on, redacting, JSON, one `write`, `fsync`, reading on until the
 * line is met.
 * Yardstick: one bare `write` of the same bytes to a file opened for append, and `fsync`.
 * Target: at most 2 times the yardstick. The disk decides: where `fsync` costs nothing, as in memory, the rest is all there is.
 */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { worklogKind } from '../memory/fold/rules/kind.js';
import type { Stamp } from '../memory/logs/line.js';
import { Log } from '../memory/logs/log.js';
import { createRedactor } from '../src/log/redact.js';
import { systemClock } from '../src/time.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const MOST_RATIO = 2;
const LINES = 50;
const ROUNDS = 41;
const WARM_UP_ROUNDS = 8;
const LIMIT_MS = 60_000;

await inScratchFolder(async (folder) => {
  const log = Log.begin(join(folder, 'worklog.jsonl'), worklogKind);
  if (log === null) throw new Error('the folder is not new');
  const stamp: Stamp = { clock: systemClock, redact: createRedactor([]), origin: 'agent' };
  log.write(() => [worklogKind.line('session_started', { session_id: 's', purpose: 'Fix the login' })], stamp);
  const append = (count: number) => {
    for (let index = 0; index < count; index += 1)
      log.write(
        () => [worklogKind.line('log', { message: `the tests of case ${index} pass, those of the clock do not yet` })],
        stamp,
      );
  };
  append(1);
  const line = readFileSync(log.path, 'utf8').split('\n').at(-2);
  const bytes = Buffer.from(`${line}\n`);
  const bare = openSync(join(folder, 'bare.jsonl'), 'a');
  say(`worklog: ${LINES} lines a round, ${bytes.length} bytes each`);
  const compared = await compare({
    ours: () => timed(() => append(LINES)),
    yardstick: () =>
      timed(() => {
        for (let index = 0; index < LINES; index += 1) {
          writeSync(bare, bytes);
          fsyncSync(bare);
        }
      }),
    rounds: ROUNDS,
    warmUpRounds: WARM_UP_ROUNDS,
    limitMs: LIMIT_MS,
  });
  closeSync(bare);
  log.close();
  sayCompared('written', 'bare write and fsync', compared);
  sayTarget({ what: 'times write and fsync', value: compared.ratio.median, atMost: MOST_RATIO, unit: '' });
});
