/**
 * What does a process that stays pay for what is appended to a long transcript?
 *
 * Measured: a look of {@link JournalFollower}, with the verdict after it. After each turn, and after each record, as an agent writes
 * them.
 * Yardstick: the appended bytes, from an open file of nothing else: opened, read, split, `JSON.parse` of each line.
 * Target: a look after a turn takes at most three times as long, with 100 MB before it as with 1 MB. A look after one record
 * costs about a quarter of a millisecond more than the record, however small that is: what is presumed is folded again.
 *
 * In time of a processor, so that other programs on the machine do not count.
 */
import { appendFileSync, closeSync, fstatSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assessSessionHealth } from '../monitoring/verdict/assessSessionHealth.js';
import { JournalFollower } from '../monitoring/watch/journalFollower.js';
import { DEFAULT_THRESHOLDS } from '../src/config/rules.js';
import { systemClock } from '../src/time.js';
import { TranscriptFollower } from '../src/transcripts/transcriptFollower.js';
import { say, sayCompared, sayTarget } from './report.js';
import { type Compared, compare, processed } from './rounds.js';
import { inScratchFolder } from './scratch.js';
import { writeTranscript } from './transcripts.js';

const LONG_BYTES = 100e6;
const SHORT_BYTES = 1e6;
const MOST_TIMES = 3;
const TURNS_PER_ROUND = 10;
const ROUNDS = 15;
const WARM_UP_ROUNDS = 5;
const LIMIT_MS = 60_000;

type Look = () => unknown;

await inScratchFolder(async (folder) => {
  for (const bytes of [SHORT_BYTES, LONG_BYTES]) {
    const { ratio } = await measure(folder, bytes, (turn) => [turn]);
    sayTarget({ what: 'times reading and parsing', value: ratio.median, atMost: MOST_TIMES, unit: '' });
    await measure(folder, bytes, recordsIn);
  }
});

function lookAt(path: string): Look {
  const follower = new JournalFollower(new TranscriptFollower(path, { clock: systemClock }));
  return async () => {
    await follower.look(Number.POSITIVE_INFINITY);
    assessSessionHealth(follower.timeline, DEFAULT_THRESHOLDS, follower.timeline.lastInstant() ?? 0);
  };
}

/** @param cut into what is appended between two looks */
async function measure(folder: string, bytes: number, cut: (turn: string) => string[]): Promise<Compared> {
  const [path, beside] = [join(folder, `${bytes}-${cut.name}.jsonl`), join(folder, 'beside.jsonl')];
  const text = writeTranscript(path, bytes);
  const look = lookAt(path);
  await look();
  let pieces: string[] = [];
  const prepare = async () => {
    pieces = Array.from({ length: TURNS_PER_ROUND }, () => cut(text.turn())).flat();
  };
  const sumOf = async (work: Look, write: (piece: string) => void) => {
    let sum = 0;
    for (const piece of pieces) {
      write(piece);
      sum += await processed(work);
    }
    return sum;
  };
  const compared = await compare({
    prepare,
    ours: () => sumOf(look, (piece) => appendFileSync(path, piece)),
    yardstick: () =>
      sumOf(
        () => readAndParse(beside),
        (piece) => writeFileSync(beside, piece),
      ),
    rounds: ROUNDS,
    warmUpRounds: WARM_UP_ROUNDS,
    limitMs: LIMIT_MS,
  });
  rmSync(path);
  const size = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0) / pieces.length / 1e3;
  say(`following: ${bytes / 1e6} MB before, ${size.toFixed(0)} KB for each of ${pieces.length} looks`);
  sayCompared('looks', 'read, split, JSON.parse', compared);
  return compared;
}

function recordsIn(turn: string): string[] {
  return turn.split(/(?<=\n)/);
}

function readAndParse(path: string): void {
  const file = openSync(path, 'r');
  const bytes = Buffer.allocUnsafe(fstatSync(file).size);
  readSync(file, bytes, 0, bytes.length, 0);
  closeSync(file);
  for (const line of bytes.toString('utf8').split('\n')) if (line !== '') JSON.parse(line);
}
