/** Counts the effect of one set of thresholds on all runs. */
import type { Rule, Thresholds } from '../../../src/config/rules.js';
import { isoTime } from '../../../src/time.js';
import type { Spread } from './distribution.js';
import type { Label } from './labels.js';
import { MEASURED_RULES, type MeasuredRule, newDistributions, type RunReadings } from './readings.js';

/** The effect of one rule under one set of thresholds. */
export interface RuleScore {
  readonly rule: MeasuredRule;
  readonly false_alarms: number;
  readonly healthy: number;
  /** Runs labelled with it that it accused. */
  readonly found: number;
  readonly expected: number;
  readonly unlabelled: number;
  /** From the label's `since`, else from the last line before, to the instant at which the rule became true. */
  readonly delay_ms: Spread;
  /** Milliseconds, for `error_cascade` batches, for `loop` calls; from every run that is not labelled with a rule. */
  readonly readings: Spread;
}

interface Run {
  readonly file: string;
  readonly session_id: string;
}

/** A rule that became true in a run, or should have. */
export interface Accusation extends Run {
  readonly rule: Rule;
  readonly judgement: 'false_alarm' | 'found' | 'missed' | 'unlabelled' | 'besides';
  /** When the rule first became true, ISO 8601; null if it never did. */
  readonly since: string | null;
}

export interface Trial {
  readonly name: string;
  readonly thresholds: Thresholds;
  readonly rules: readonly RuleScore[];
  readonly accusations: readonly Accusation[];
}

export class Tally {
  readonly name: string;
  readonly thresholds: Thresholds;
  readonly #accusations: Accusation[] = [];
  readonly #readings = newDistributions();
  readonly #delays = newDistributions();
  #healthy = 0;

  constructor(name: string, thresholds: Thresholds) {
    this.name = name;
    this.thresholds = thresholds;
  }

  count(run: Run, label: Label | null, { first, peaks }: RunReadings): void {
    if (label?.kind === 'healthy') this.#healthy += 1;
    if (label?.kind === 'faulty') this.#countFaulty(run, label, first);
    else for (const rule of MEASURED_RULES) this.#readings[rule].merge(peaks[rule]);
    for (const [rule, { since }] of first) {
      const judgement = judge(rule, label);
      if (judgement !== 'found') this.#accusations.push({ ...run, rule, judgement, since: isoTime(since) });
    }
  }

  /** The rule counts as found if it became true at any time after the beginning of the fault. */
  #countFaulty(run: Run, { rule, since }: Extract<Label, { kind: 'faulty' }>, found: RunReadings['first']): void {
    const first = found.get(rule);
    if (first === undefined) {
      this.#accusations.push({ ...run, rule, judgement: 'missed', since: null });
      return;
    }
    this.#accusations.push({ ...run, rule, judgement: 'found', since: isoTime(first.since) });
    const delayMs = first.since - (since ?? first.lastLine);
    if (delayMs > 0) this.#delays[rule].add(delayMs);
  }

  result(): Trial {
    const { name, thresholds } = this;
    return { name, thresholds, rules: MEASURED_RULES.map((rule) => this.#score(rule)), accusations: this.#accusations };
  }

  #score(rule: MeasuredRule): RuleScore {
    const counted = (wanted: Accusation['judgement']) =>
      this.#accusations.filter((each) => each.rule === rule && each.judgement === wanted).length;
    return {
      rule,
      false_alarms: counted('false_alarm'),
      healthy: this.#healthy,
      found: counted('found'),
      expected: counted('found') + counted('missed'),
      unlabelled: counted('unlabelled'),
      delay_ms: this.#delays[rule].spread(),
      readings: this.#readings[rule].spread(),
    };
  }
}

function judge(rule: Rule, label: Label | null): Accusation['judgement'] {
  if (label === null) return 'unlabelled';
  if (label.kind === 'healthy') return 'false_alarm';
  return label.rule === rule ? 'found' : 'besides';
}
