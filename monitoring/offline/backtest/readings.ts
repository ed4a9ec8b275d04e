/**
 * The readings of a replayed run under one set of thresholds: when each rule first became true, and the peak of each rule's
 * reading before it fell back. These are the silence clock whenever it restarts while work is owed, the streak of failing
 * batches, the time owed since a person last wrote, and the number of identical calls in a row. A limit belongs above the
 * readings of healthy runs.
 */
import type { Rule, Thresholds } from '../../../src/config/rules.js';
import type { Judged } from '../../verdict/assessSessionHealth.js';
import { readSilenceClocks } from '../../verdict/clocks/silenceClock.js';
import { owedTime } from '../../verdict/owedWork.js';
import type { RunState, TimelineState } from '../../verdict/timeline/state.js';
import type { ReplayObserver } from '../replay.js';
import { Distribution } from './distribution.js';

export const MEASURED_RULES = ['silence', 'error_cascade', 'runaway', 'loop'] as const satisfies readonly Rule[];
export type MeasuredRule = (typeof MEASURED_RULES)[number];

type Readings = Readonly<Record<MeasuredRule, number>>;

const NOTHING: Readings = { silence: 0, error_cascade: 0, runaway: 0, loop: 0 };

/** When a rule first became true in a run; UTC epoch milliseconds. */
interface FirstTrue {
  readonly since: number;
  readonly lastLine: number;
}

export class RunReadings implements ReplayObserver {
  readonly first = new Map<Rule, FirstTrue>();
  /** In milliseconds, batches or calls. */
  readonly peaks = newDistributions();
  readonly #thresholds: Thresholds;
  #last = NOTHING;

  constructor(thresholds: Thresholds) {
    this.#thresholds = thresholds;
  }

  /** The clocks have moved on since the last look, and nothing else has changed. */
  before({ run }: TimelineState, now: number): void {
    this.#last = { ...this.#last, silence: this.#silenceOf(run, now), runaway: owedTime(run, now, {}).ms };
  }

  judged({ run, lastLine }: TimelineState, { findings }: Judged, now: number): void {
    for (const { rule } of findings) if (!this.first.has(rule)) this.first.set(rule, { since: now, lastLine });
    this.#moveTo({
      silence: this.#silenceOf(run, now),
      error_cascade: longest(run.agents.map(({ errors }) => errors.count)),
      runaway: owedTime(run, now, {}).ms,
      loop: longest(run.agents.map(({ tail }) => tail.runs().findLast(({ settled }) => settled)?.count ?? 0)),
    });
  }

  /** The recording ends here: the last peaks count, too. */
  finish(): void {
    this.#moveTo(NOTHING);
  }

  #moveTo(readings: Readings): void {
    for (const rule of MEASURED_RULES) {
      if (readings[rule] < this.#last[rule]) this.peaks[rule].add(this.#last[rule]);
    }
    this.#last = readings;
  }

  #silenceOf(run: RunState, now: number): number {
    if (run.turnSince === null) return 0;
    const [main] = run.agents;
    const setting = { run, thresholds: this.#thresholds, now, notBefore: Number.NEGATIVE_INFINITY };
    return readSilenceClocks([main], setting).get(main.id)?.clockMs ?? 0;
  }
}

export function newDistributions(): Readonly<Record<MeasuredRule, Distribution>> {
  const of = () => new Distribution();
  return { silence: of(), error_cascade: of(), runaway: of(), loop: of() };
}

function longest(counts: readonly number[]): number {
  return Math.max(0, ...counts);
}
