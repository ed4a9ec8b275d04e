/**
 * `npm run prove -- memory-races`: many processes write one log, half of them are killed at random, and every acknowledged line must be
 * there afterwards.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { Log } from '../../../memory/logs/log.js';
import { proofOptions } from '../../harness/proofOptions.js';
import { seededRandom } from '../../src/journal/random.js';
import { raceHolders } from './holders.js';
import { raceStarters } from './starters.js';
import { raceWriters } from './writers.js';

const values = proofOptions('memory-races', {
  rounds: [50, 'each with a log of its own'],
  writers: [16, 'processes that write one log'],
  killed: [8, 'how many of them'],
  lines: [100, 'of each writer'],
  seed: [1, 'of the kills'],
  attempts: [1000, 'to begin, end or reopen a session in one directory, by 16 processes together'],
});
const random = seededRandom(values.seed);
const folder = mkdtempSync(join(tmpdir(), 'wk-races-'));
const sum = { acknowledged: 0, lost: 0, unreadable: 0 };
for (let round = 1; round <= values.rounds; round += 1) {
  const path = join(folder, `${round}.jsonl`);
  Log.begin(path, worklogKind)?.close();
  const { writers, killed, lines } = values;
  const result = await raceWriters(path, { writers, killed, lines, random });
  sum.acknowledged += result.acknowledged;
  sum.lost += result.lost.length;
  sum.unreadable += result.unreadable;
  process.stdout.write(
    `round ${round}: ${result.acknowledged} acknowledged, ${result.lost.length} lost, ${result.unreadable} unreadable\n`,
  );
}
process.stdout.write(
  `${values.rounds} rounds: ${sum.acknowledged} lines acknowledged, ${sum.lost} lost, ${sum.unreadable} unreadable\n`,
);
const race = await raceHolders(folder, {
  processes: 16,
  attempts: Math.ceil(values.attempts / 16),
  seed: values.seed,
});
process.stdout.write(
  `${race.attempts} attempts on one directory: ${race.begun} sessions begun, ${race.refused} attempts refused, ${race.faults.length} faults\n`,
);
for (const fault of race.faults) process.stdout.write(`  ${fault}\n`);
const starts = await raceStarters(join(folder, 'starts'), 16);
process.stdout.write(
  `16 × work start at once: ${starts.winners.length} began, ${starts.refused} refused with its name, ${starts.strange.length} otherwise\n`,
);
for (const strange of starts.strange) process.stdout.write(`  ${strange}\n`);
rmSync(folder, { recursive: true });
const isWell = starts.winners.length === 1 && starts.refused === 15;
process.exitCode = sum.lost + sum.unreadable + race.faults.length === 0 && isWell ? 0 : 1;
