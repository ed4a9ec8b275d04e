/**
 * Tries thresholds on recorded runs: replays each run at every instant, counts false alarms and delays against labels, and
 * summarises the readings of runs that are not known to be faulty. One file at a time, in bounded memory.
 */
import type { Thresholds } from '../../../src/config/rules.js';
import { UsageError } from '../../../src/errors.js';
import { journalName } from '../../../src/journal/path.js';
import { batchesOf } from '../../../src/journal/reader.js';
import { TranscriptTail } from '../../../src/transcripts/transcriptTail.js';
import { type JournalFile, journalsAt } from '../assessPaths.js';
import { Replay } from '../replay.js';
import type { Labels } from './labels.js';
import { RunReadings } from './readings.js';
import { Tally, type Trial } from './tally.js';

export interface BacktestResult {
  readonly runs: number;
  readonly trials: readonly Trial[];
  /** Sentences about unusable files and labels. */
  readonly troubles: readonly string[];
}

/** @param trials all of them in one reading of the runs @throws UsageError for a path or a folder without any journal */
export async function backtestPaths(
  paths: readonly string[],
  trials: readonly { readonly name: string; readonly thresholds: Thresholds }[],
  labels: Labels | null,
): Promise<BacktestResult> {
  const tallies = trials.map(({ name, thresholds }) => new Tally(name, thresholds));
  const troubles: string[] = [];
  let runs = 0;
  for (const path of paths) {
    for (const journal of await journalsAt(path)) {
      const trouble = await playRun(journal, tallies, labels);
      if (trouble !== null) troubles.push(trouble);
      else runs += 1;
    }
  }
  if (runs === 0) throw new UsageError(`nothing to try thresholds on: ${troubles.join('; ')}`);
  if (labels !== null && labels.unused.length > 0)
    troubles.push(
      `${labels.unused.length} of the labels belong to none of these runs: ${labels.unused.slice(0, 5).join(', ')}`,
    );
  if (labels !== null && labels.meaningless.length > 0)
    troubles.push(
      `labels that name neither health nor a rule count as none: ${labels.meaningless.slice(0, 5).join(', ')}`,
    );
  return { runs, trials: tallies.map((each) => each.result()), troubles };
}

/** @returns why the file is left out, as a sentence; null if it was replayed */
async function playRun(journal: JournalFile, tallies: readonly Tally[], labels: Labels | null): Promise<string | null> {
  const tail = new TranscriptTail(journal.files);
  const trials = tallies.map((tally) => {
    const readings = new RunReadings(tally.thresholds);
    return { tally, readings, replay: new Replay(tally.thresholds, Number.POSITIVE_INFINITY, readings) };
  });
  for await (const { records } of batchesOf(tail)) for (const { replay } of trials) replay.add(records);
  const { refused } = tail.diagnostics;
  if (refused !== null) return `${journal.name} cannot be read: ${refused}`;
  const [played] = trials.map(({ replay }) => replay.finish());
  const id = played?.sessionId ?? journalName(journal.files.path);
  const label = labels?.of(journal.name, id) ?? null;
  if (played?.isBlank !== false) return `${journal.name} holds no line of a journal`;
  for (const { tally, readings } of trials) {
    readings.finish();
    tally.count({ file: journal.name, session_id: id }, label, readings);
  }
  return null;
}
