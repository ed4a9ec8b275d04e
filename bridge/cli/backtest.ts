import { basename } from 'node:path';
import { type BacktestResult, backtestPaths } from '../../monitoring/offline/backtest/backtestPaths.js';
import { Labels } from '../../monitoring/offline/backtest/labels.js';
import type { MeasuredRule } from '../../monitoring/offline/backtest/readings.js';
import type { RuleScore, Trial } from '../../monitoring/offline/backtest/tally.js';
import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import { counted } from '../../src/counted.js';
import { UsageError } from '../../src/errors.js';
import { describeDuration } from '../../src/time.js';
import {
  type Command,
  type CommandContext,
  type ExitCode,
  printJson,
  printLines,
  sayLines,
} from '../command/command.js';
import { describeThresholds, readOptionFile, readOptions, readThresholds } from '../command/options.js';
import { columnsOf, linesOf, renderTable } from '../command/table.js';

const LONGEST_LABELS_BYTES = 16 * 1024 * 1024;

export const command: Command = {
  help: `usage: watchkeeper backtest PATH… [--thresholds FILE]… [--labels FILE] [--json]

Tries thresholds on recorded runs. It judges journals and agents' transcripts
(files, or folders that are searched for *.jsonl) at every instant up to their
last line. For each rule it reports how many healthy runs it accuses, how many
sick runs it finds and how late, and the highest readings in runs that are not
known to be sick. A limit belongs above those readings. Needs no Redis.

  --thresholds FILE  JSON as for assess; repeat it to compare several files;
                     default: the built-in thresholds
  --labels FILE      JSON: {"FILE or session id": LABEL}. LABEL is "healthy" or
                     "committed" (nothing was wrong), or the rule that should
                     become true: silence, error_cascade, runaway, loop; or
                     {"rule": …, "since": ISO}, from when on. Other labels, and
                     runs without one, count as unlabelled: rules that accuse
                     them are listed
  --json             {"runs", "trials": [{"name", "thresholds", "rules":
                     [{"rule", "false_alarms", "healthy", "found", "expected",
                     "unlabelled", "delay_ms", "readings"}], "accusations"}],
                     "troubles"}

delay: from "since", or from the preceding line, to the instant at which the
rule became true
readings: silence: the silence clock each time it restarts while work is owed;
error_cascade: failing batches in a row; runaway: time owed since a person
spoke; loop: identical calls in a row. Percentiles are exact to one percent

exit code: 0 nothing found, 1 a rule that acts by default accuses a healthy run
or misses a sick one, 2 usage, or a file that cannot be used, which is left out

examples:
  watchkeeper backtest logs/sessions
  watchkeeper backtest logs/sessions --labels labels.json --thresholds strict.json --thresholds calm.json`,
  run: backtest,
};

async function backtest(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  const { values, positionals } = readOptions(
    args,
    { thresholds: { type: 'string', multiple: true }, labels: { type: 'string' }, json: { type: 'boolean' } },
    Number.POSITIVE_INFINITY,
  );
  if (positionals.length === 0) throw new UsageError('which runs? name files or folders, for example logs/sessions');
  const trials = await Promise.all(
    (values.thresholds ?? [null]).map(async (file) => {
      return { name: file === null ? 'defaults' : basename(file), thresholds: await readThresholds(file) };
    }),
  );
  const labels =
    values.labels === undefined
      ? null
      : Labels.read(values.labels, await readOptionFile('--labels', values.labels, LONGEST_LABELS_BYTES));
  const result = await backtestPaths(positionals, trials, labels);
  if (values.json) printJson(io, result);
  else printLines(io, describeResult(result, context).split('\n'));
  for (const trouble of result.troubles) sayLines(io, `watchkeeper: ${trouble}`);
  if (result.trials.some(isWrong)) return 1;
  return result.troubles.length > 0 ? 2 : 0;
}

function isWrong({ rules }: Trial): boolean {
  return rules.some((score) => score.found < score.expected || (score.false_alarms > 0 && acts(score.rule)));
}

function acts(rule: MeasuredRule): boolean {
  return DEFAULT_ACTIONS[rule] === 'revive';
}

function describeResult({ runs, trials }: BacktestResult, { io, redact }: CommandContext): string {
  const table = renderTable(
    [
      'THRESHOLDS',
      'RULE',
      'FALSE ALARMS',
      'FOUND',
      'DELAY p50',
      'max',
      'UNLABELLED',
      'READINGS',
      'p50',
      'p90',
      'p99',
      'max',
    ],
    trials.flatMap(({ name, rules }) => rules.map((score) => [name, ...describeScore(score)])),
    { columns: columnsOf(io) },
  );
  const accusations = trials.flatMap(({ name, accusations: each }) =>
    each.map(({ file, rule, judgement, since }) => {
      const when = since === null ? 'never true' : `first true at ${since}`;
      return `${name}: ${file}: ${rule} ${when} (${judgement.replaceAll('_', ' ')})`;
    }),
  );
  const limits = trials.map(({ name, thresholds }) => `${name}: ${describeThresholds(thresholds)}`);
  const lines = [...accusations, counted(runs, 'run'), ...limits];
  return [table, ...linesOf(lines, io, redact)].join('\n');
}

function describeScore(score: RuleScore): string[] {
  const { rule, delay_ms: delay, readings } = score;
  const isTime = rule === 'silence' || rule === 'runaway';
  const reading = (value: number | null) => (isTime ? duration(value) : String(value ?? '-'));
  return [
    acts(rule) ? rule : `${rule} (reports)`,
    score.healthy === 0 ? '-' : `${score.false_alarms} of ${score.healthy}`,
    score.expected === 0 ? '-' : `${score.found} of ${score.expected}`,
    duration(delay.p50),
    duration(delay.max),
    String(score.unlabelled),
    String(readings.count),
    ...[readings.p50, readings.p90, readings.p99, readings.max].map(reading),
  ];
}

function duration(valueMs: number | null): string {
  return valueMs === null ? '-' : describeDuration(valueMs);
}
