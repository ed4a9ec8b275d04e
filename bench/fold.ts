/**
 * How fast is a journal read and folded?
 *
 * Measured: {@link JournalFollower} over whole journals: open, read, split, parse, reduce, fold.
 * Yardstick: the least that anybody can do who reads it: the file read whole, split, and `JSON.parse` of each line.
 * Target: at most 1.5 times the yardstick.
 * For comparison also `JSON.parse` alone, of lines that lie in memory as strings already.
 *
 * In time of a processor, so that other programs on the machine do not count.
 *
 * Twice: over the recorded sessions, whose lines are short because their contents were taken out, which is the worst case;
 * and over a journal as the bridge writes it, with inputs and previews.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { JournalFollower } from '../monitoring/watch/journalFollower.js';
import { packageRoot } from '../src/host/program.js';
import { JournalWriter } from '../src/journal/writer.js';
import { systemClock } from '../src/time.js';
import { writeTurns } from './journals.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, processed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const MOST_RATIO = 1.5;
const ROUNDS = 15;
const WARM_UP_ROUNDS = 4;
const LIMIT_MS = 40_000;
const WRITTEN_CALLS = 4_000;
const MEGABYTE = 1e6;

await inScratchFolder(async (logsFolder) => {
  await measure('recorded sessions', recordedJournals());
  const writer = JournalWriter.open({ logsFolder, sessionId: 's1', clock: systemClock, redact: (text) => text });
  writeTurns(writer, WRITTEN_CALLS);
  writer.close();
  await measure('a journal as the bridge writes it', [writer.path]);
});

async function measure(name: string, paths: readonly string[]): Promise<void> {
  const lines = paths.flatMap((path) => readFileSync(path, 'utf8').split('\n').filter(Boolean));
  const megabytes = paths.reduce((sum, path) => sum + statSync(path).size, 0) / MEGABYTE;
  say(`fold: ${name}, ${megabytes.toFixed(1)} MB, ${lines.length} lines`);
  const against = (yardstick: () => void) =>
    compare({
      ours: () => processed(() => foldAll(paths)),
      yardstick: () => processed(yardstick),
      rounds: ROUNDS,
      warmUpRounds: WARM_UP_ROUNDS,
      limitMs: LIMIT_MS,
    });
  sayCompared('read and folded', 'JSON.parse alone, of strings in memory', await against(() => parseAll(lines)));
  const compared = await against(() => readAndParseAll(paths));
  sayCompared('read and folded', 'read whole, split, JSON.parse', compared);
  say(`  ${((megabytes / compared.ours.median) * 1_000).toFixed(0)} MB/s`);
  sayTarget({ what: 'times reading and parsing', value: compared.ratio.median, atMost: MOST_RATIO, unit: '' });
}

async function foldAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) await new JournalFollower(path).look(Number.POSITIVE_INFINITY);
}

function parseAll(lines: readonly string[]): void {
  for (const line of lines) JSON.parse(line);
}

function readAndParseAll(paths: readonly string[]): void {
  for (const path of paths) parseAll(readFileSync(path, 'utf8').split('\n').filter(Boolean));
}

function recordedJournals(): string[] {
  const folder = join(packageRoot(), 'test/fixtures/sessions');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.jsonl')).map((name) => join(folder, name));
}
