/** What goes wrong in a round, as a function of the seed and the round's number alone. */
import { FAILPOINT_ACTIONS, FAILPOINTS, type Failpoint, type FailpointAction } from '../../src/failpoints.js';
import { type Random, seededRandom } from '../journal/random.js';

/**
 * What an agent does when it gets the message; all of them answer in the second attempt, but `fails`. `stubborn` is silent,
 * too, and has a tool in a process session of its own; neither hears SIGTERM. `slow` works for a few seconds.
 */
export const KINDS = ['quick', 'slow', 'crashes', 'fails', 'silent', 'stubborn'] as const;
export type Kind = (typeof KINDS)[number];

export const TARGETS = ['bridge', 'standby', 'reaper', 'agent', 'redis'] as const;
export type Target = (typeof TARGETS)[number];

export type Fault =
  | { readonly kind: 'signal'; readonly target: Target; readonly signal: 'SIGKILL' | 'SIGSTOP' | 'SIGTERM' }
  | {
      readonly kind: 'failpoint';
      readonly name: Failpoint;
      readonly action: FailpointAction;
      /** How many times the place is passed until it trips. */
      readonly nth: number;
    };

export const SINK_FAULTS = [
  'answer_lost',
  'answer_reset',
  'answer_limited',
  'progress_refused',
  'issue_lost',
  'issue_502',
  'issue_reset',
  'issue_hangs',
] as const;
export type SinkFault = (typeof SINK_FAULTS)[number];

export interface RoundPlan {
  readonly round: number;
  /** The messages of two lanes, in order. */
  readonly lanes: readonly [readonly Kind[], readonly Kind[]];
  readonly fault: Fault;
  /** A signal falls when an agent of the round has started, or when an incident of it has been detected. */
  readonly when: 'run' | 'incident';
  /** After that. */
  readonly delayMs: number;
  /** For how long what died stays away. */
  readonly awayMs: number;
  readonly sinkFaults: readonly SinkFault[];
  /** A person cancels the first message of the first lane. */
  readonly isCancelled: boolean;
  /** The bridge is asked to stop in order once an agent works, and started again. */
  readonly isRestarted: boolean;
}

const LONGEST_DELAY_MS = 900;
const LONGEST_AWAY_MS = 1_500;
/** How often a place is passed by a start, or for the run that is there to be hit, before it matters. */
const PASSED_BEFORE: readonly [places: RegExp, times: number][] = [
  [/^(?:commit\.(?:accept|start)|agent\.spawn|queue\.add|progress\.send)\./, 1],
  [/^(?:commit\.(?:record_run|lease)|journal\.append)\./, 3],
];
/** Passed again and again: which time matters is chosen. */
const OFTEN_PASSED = /^(?:commit\.(?:lease|renew|record_run|delivery|save_incident)|journal|progress\.edit|queue)\b/;
const MOST_FURTHER_PASSAGES = 5;

export function planRound(seed: number, round: number): RoundPlan {
  // Neighbouring seeds of the generator begin alike.
  const random = seededRandom(seed * 1_000_003 + round * 7_919);
  for (let skipped = 0; skipped < 8; skipped += 1) random.below(2);
  const sinkFaults = random.shuffle(SINK_FAULTS).slice(0, random.below(3));
  const awayMs = random.below(LONGEST_AWAY_MS);
  const delayMs = random.below(LONGEST_DELAY_MS);
  if (random.below(100) < 50) {
    const name = random.pick(FAILPOINTS);
    const action = random.below(100) < 60 ? 'kill' : random.pick(FAILPOINT_ACTIONS);
    const before = passedBefore(name);
    const nth = before + 1 + (OFTEN_PASSED.test(name) ? random.below(MOST_FURTHER_PASSAGES) : 0);
    return { ...failpointRound(round, name, action, nth), sinkFaults: needed(name, sinkFaults), awayMs };
  }
  const lanes = [pickKinds(random), pickKinds(random)] as const;
  const unhealthy = lanes.flat().some((kind) => kind !== 'quick' && kind !== 'slow');
  return {
    round,
    lanes,
    fault: pickSignal(random),
    when: unhealthy && random.below(2) === 0 ? 'incident' : 'run',
    delayMs,
    awayMs,
    sinkFaults,
    isCancelled: random.below(100) < 10,
    isRestarted: random.below(100) < 10,
  };
}

/** @returns a round in which this failpoint is passed while something is at stake */
export function systematicRound(round: number, name: Failpoint): RoundPlan {
  return failpointRound(round, name, 'kill', passedBefore(name) + 1);
}

function passedBefore(name: Failpoint): number {
  return PASSED_BEFORE.find(([places]) => places.test(name))?.[1] ?? 0;
}

function failpointRound(round: number, name: Failpoint, action: FailpointAction, nth: number): RoundPlan {
  return {
    round,
    lanes: [lanesFor(name), ['slow']],
    fault: { kind: 'failpoint', name, action, nth },
    when: 'run',
    delayMs: 0,
    awayMs: 200,
    sinkFaults: needed(name, []),
    isCancelled: name.startsWith('commit.cancel.'),
    isRestarted: name.startsWith('commit.interrupt.'),
  };
}

function lanesFor(name: Failpoint): readonly Kind[] {
  if (/^commit\.(?:cancel|interrupt)\./.test(name)) return ['slow', 'quick'];
  if (/^(?:commit\.request_stop|run\.)/.test(name)) return ['stubborn', 'quick'];
  if (name.startsWith('commit.fail_and_tell.')) return ['fails', 'quick'];
  if (/^(?:issue|critical_event|commit\.(?:issue_record|release|revive|open_|save_|close_))/.test(name)) {
    return ['crashes', 'fails'];
  }
  return ['slow', 'quick'];
}

/** Some places are passed only when something else goes wrong. */
function needed(name: Failpoint, others: readonly SinkFault[]): readonly SinkFault[] {
  if (name.startsWith('answer.placeholder.')) return ['progress_refused', 'answer_lost'];
  if (name.startsWith('answer.edit.')) return ['answer_lost'];
  return others;
}

function pickKinds(random: Random): Kind[] {
  return [random.pick(KINDS), random.pick(['quick', 'slow', 'crashes'] as const)];
}

function pickSignal(random: Random): Fault {
  const target = random.pick(TARGETS);
  if (target === 'redis' || target === 'reaper' || target === 'agent') {
    return { kind: 'signal', target, signal: target === 'agent' && random.below(3) === 0 ? 'SIGSTOP' : 'SIGKILL' };
  }
  return { kind: 'signal', target, signal: random.pick(['SIGKILL', 'SIGKILL', 'SIGSTOP', 'SIGTERM'] as const) };
}
