import type { Thresholds } from '../../../src/config/rules.js';
import { isoTime } from '../../../src/time.js';
import { agentInRecord, agentWords, quotedName } from '../clocks/plainName.js';
import type { CallRun } from '../timeline/callTail.js';
import type { CountedSubject, Detector, Judgement } from './detector.js';
import { countedReason } from './reasons.js';

/** An agent does the same over and over, up to its latest calls: only the present counts. (Judgement rules, 13-15.) */
export const loop: Detector<CountedSubject> = { rule: 'loop', judge };

interface Repetition {
  readonly calls: number;
  /** How many calls would be enough. */
  readonly limit: number;
  /** A clause that follows the agent's name. */
  readonly what: string;
}

function judge(subject: CountedSubject): Judgement {
  const { loop_repeats: repeats, cycle_max_period: longest } = subject.thresholds;
  for (const agent of subject.owing) {
    if (repeats > 1 && !agent.tail.mayRepeat(longest)) continue;
    const runs = agent.tail.runs();
    const found = identicalCalls(runs, subject.thresholds, agent.tail.lastTool) ?? cycle(runs, subject.thresholds);
    if (found === null) continue;
    return {
      rule: 'loop',
      reason: countedReason('loop', found.calls),
      since: isoTime(agent.tail.lastSettledAt),
      evidence: [`${agentWords(agent.id)} ${found.what}`],
      waits_considered: [],
      clock: {
        agent: agentInRecord(agent.id),
        unit: 'calls',
        value: found.calls,
        limit: found.limit,
        counted_from: null,
      },
    };
  }
  return null;
}

/** A call in flight has no result yet: the same call again continues the loop, another one has left it. */
function identicalCalls(
  runs: readonly CallRun[],
  { loop_repeats: limit }: Thresholds,
  tool: string,
): Repetition | null {
  const last = runs.findLastIndex((run) => run.settled);
  const run = runs[last];
  if (run === undefined || run.count < limit || Number.isNaN(run.input + run.output)) return null;
  if (runs.slice(last + 1).some((inFlight) => inFlight.input !== run.input)) return null;
  return {
    calls: run.count,
    limit,
    what: `repeated the same call (${quotedName(tool, 'with one tool')}) ${run.count} times in a row with the same result (limit ${limit})`,
  };
}

function cycle(runs: readonly CallRun[], thresholds: Thresholds): Repetition | null {
  const { cycle_repeats: repeats, cycle_max_period: longest } = thresholds;
  for (let period = 2; period <= longest; period += 1) {
    const calls = lastCalls(runs, period * repeats);
    if (calls === null) break;
    const what = `repeated the same ${period} steps ${repeats} times with the same results (limit ${repeats})`;
    if (isCycle(calls, period)) return { calls: period * repeats, limit: period * repeats, what };
  }
  return null;
}

/** @returns the last `count` calls that have results, then those in flight; null if there are fewer */
function lastCalls(runs: readonly CallRun[], count: number): CallRun[] | null {
  const settledEnd = runs.findLastIndex((run) => run.settled) + 1;
  const settled = runs
    .slice(0, settledEnd)
    .flatMap((run) => Array.from({ length: Math.min(run.count, count) }, () => run));
  return settled.length < count ? null : [...settled.slice(-count), ...runs.slice(settledEnd)];
}

function isCycle(calls: readonly CallRun[], period: number): boolean {
  const inputs = new Set(calls.slice(0, period).map((call) => call.input));
  return inputs.size >= 2 && calls.every((call, index) => index < period || repeats(call, calls[index - period]));
}

function repeats(call: CallRun, earlier: CallRun | undefined): boolean {
  if (earlier === undefined || call.input !== earlier.input) return false;
  return !call.settled || call.output === earlier.output;
}
