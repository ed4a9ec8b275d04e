/**
 * Tries thresholds on recorded runs: replays each run at every instant, counts false alarms and delays against labels, and
 * summarises the readings of runs that are not known to be faulty. One file at a time, in bounded memory.
 */
import type { Rule, Thresholds } from '../../../src/config/rules.js';
import { UsageError } from '../../../src/errors.js';
import { giveWay } from '../../../src/time.js';
import { TranscriptTail } from '../../../src/transcripts/transcriptTail.js';
import { type JournalFile, journalsAt, nameOf } from '../assessPaths.js';
import { Replay } from '../replay.js';
import type { Labels } from './labels.js';
import { ReadingsObserver } from './readings.js';
import { type FirstTrue, newDistributions, type RunOutcome, Tally, type Trial } from './tally.js';

export interface BacktestOptions {
  /** Each is tried by itself; all of them in one reading of the runs. */
  readonly trials: readonly { readonly name: string; readonly thresholds: Thresholds }[];
  /** Null: nothing is known about any run. */
  readonly labels: Labels | null;
}

export interface BacktestResult {
  readonly runs: number;
  readonly trials: readonly Trial[];
  /** Sentences about what could not be used: files, labels. */
  readonly troubles: readonly string[];
}

/**
 * @param paths files and folders
 * @throws UsageError for a path that does not exist or cannot be read, and for a folder without any journal
 */
export async function backtestPaths(paths: readonly string[], options: BacktestOptions): Promise<BacktestResult> {
  const tallies = options.trials.map(({ name, thresholds }) => new Tally(name, thresholds));
  const troubles: string[] = [];
  let runs = 0;
  for (const path of paths) {
    for (const journal of await journalsAt(path)) {
      const trouble = await playRun(journal, tallies, options.labels);
      if (trouble !== null) troubles.push(trouble);
      else runs += 1;
    }
  }
  if (runs === 0) throw new UsageError(`nothing to try thresholds on: ${troubles.join('; ')}`);
  const { labels } = options;
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
  const runs = tallies.map((tally) => new TrialRun(tally.thresholds));
  let sessionId: string | null = null;
  for (let more = true; more; ) {
    const batch = tail.readBatch();
    for (const record of batch.records) {
      if (sessionId === null && typeof record.session_id === 'string') sessionId = record.session_id;
    }
    for (const run of runs) run.replay.add(batch.records);
    more = batch.more;
    if (more) await giveWay();
  }
  const { refused } = tail.diagnostics;
  if (refused !== null) return `${journal.name} cannot be read: ${refused}`;
  const id = sessionId ?? nameOf(journal.files.path);
  const label = labels?.of(journal.name, id) ?? null;
  let isBlank = true;
  runs.forEach((run, index) => {
    const outcome = run.finish();
    if (outcome === null) return;
    isBlank = false;
    tallies[index]?.count({ file: journal.name, session_id: id }, label, outcome);
  });
  return isBlank ? `${journal.name} holds no line of a journal` : null;
}

/** One run under one set of thresholds. */
class TrialRun {
  readonly replay: Replay;
  readonly #observer: ReadingsObserver;
  readonly #readings = newDistributions();
  readonly #first = new Map<Rule, FirstTrue>();

  constructor(thresholds: Thresholds) {
    const observer = new ReadingsObserver(thresholds, (rule, reading) => this.#readings.get(rule)?.add(reading));
    this.#observer = observer;
    this.replay = new Replay(thresholds, Number.POSITIVE_INFINITY, {
      before: (state, now) => observer.before(state, now),
      judged: (state, assessment, now) => {
        observer.judged(state, assessment, now);
        for (const { rule } of assessment.findings) {
          if (!this.#first.has(rule)) this.#first.set(rule, { since: now, lastLine: state.lastLine });
        }
      },
    });
  }

  finish(): RunOutcome | null {
    const { from } = this.replay.finish();
    this.#observer.finish();
    return from === null ? null : { first: this.#first, readings: this.#readings };
  }
}
