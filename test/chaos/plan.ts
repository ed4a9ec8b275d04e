/** What goes wrong in a round, as a function of the seed and the round's number alone. */
import { FAILPOINT_ACTIONS, FAILPOINTS, type Failpoint, type FailpointAction } from '../../src/failpoints.js';
import { HOUR, SECOND } from '../../src/time.js';
import { type Random, seededRandom } from '../src/journal/random.js';

/**
 * What an agent does when it gets the message; all of them answer in the second attempt, but `fails`. `stubborn` is silent,
 * too, and has a tool in a process session of its own; neither hears SIGTERM. `slow` works for a second or two, `long` for about
 * five in either attempt.
 */
export const KINDS = ['quick', 'slow', 'long', 'crashes', 'fails', 'silent', 'stubborn'] as const;
/** `exits` gives up by itself: four of them at once are an outage of the provider, so only plans made by hand have it. */
export type Kind = (typeof KINDS)[number] | 'exits';

/**
 * What the agents of a lane are. `scripted` speaks our protocol. The others are plain programs with `"output": "text"`, which
 * append a line per step to a file of their own: `text` prints a line per step, too, and `mute` prints nothing but its answer.
 */
export const AGENT_FORMS = ['scripted', 'text', 'mute'] as const;
export type AgentForm = (typeof AGENT_FORMS)[number];

export const TARGETS = ['bridge', 'standby', 'both', 'reaper', 'agent', 'redis'] as const;
export type Target = (typeof TARGETS)[number];

export type Fault =
  | { readonly kind: 'signal'; readonly target: Target; readonly signal: 'SIGKILL' | 'SIGSTOP' | 'SIGTERM' }
  | {
      readonly kind: 'failpoint';
      readonly name: Failpoint;
      readonly action: FailpointAction;
      /** How many times the place is passed until it trips. */
      readonly nth: number;
      /** What Redis forgets once the place is armed, for places that are passed only then. */
      readonly loss?: StoreLoss;
      /** What Redis forgets while a process that has tripped is delayed or stopped there. */
      readonly lossWhenTripped?: StoreLoss;
    }
  /** Bridge and standby are killed, and nobody follows until their agents have ended. */
  | { readonly kind: 'absence' }
  /** The bridge is stopped, and killed without having gone on: what its agents said in the meantime dies unread. */
  | { readonly kind: 'frozen'; readonly forMs: number }
  /** The journals of all sessions are removed below a bridge that lives, which is killed after that. */
  | { readonly kind: 'no_journals' }
  | ClockFault
  /**
   * Redis forgets its last second, as after a failover to a replica that lags (`rolled_back`), or together with everything that
   * ran on its host (`host_died`); or it forgets everything (`flushed`, FLUSHALL), also in the instant in which bridge and
   * reaper are killed (`lost_with_bridge`).
   */
  | { readonly kind: 'store'; readonly loss: StoreLoss };

/** The wall clock of every process of the product is set forth or back, and right again. */
export interface ClockFault {
  readonly kind: 'clock';
  readonly byMs: number;
  /** It is set right after `heldMs`, and not before an incident of the round has been detected where that is awaited. */
  readonly awaits: 'nothing' | 'incident';
  readonly heldMs: number;
  /** The bridge is killed before it is set right. */
  readonly isBridgeKilled: boolean;
}

export type StoreLoss = 'rolled_back' | 'host_died' | 'flushed' | 'lost_with_bridge';

export const SINK_FAULTS = [
  'answer_lost',
  'answer_reset',
  'answer_limited',
  'answer_502',
  'progress_refused',
  'poll_lost',
  'issue_lost',
  'issue_502',
  'issue_limited',
  'issue_reset',
  'issue_hangs',
  'text_lost',
  'answer_banned',
  'progress_banned',
] as const;
export type SinkFault = (typeof SINK_FAULTS)[number];

export interface RoundPlan {
  readonly round: number;
  /** The messages of two lanes, in order. */
  readonly lanes: readonly [readonly Kind[], readonly Kind[]];
  /** Of each lane; scripted ones where it is left out. */
  readonly agents?: readonly [AgentForm, AgentForm];
  readonly fault: Fault;
  /** How often the fault falls, each time on a run that it has not hit yet; once where it is left out. */
  readonly blows?: number;
  /** A signal falls when an agent of the round has started, or when an incident of it has been detected. */
  readonly when: 'run' | 'incident';
  /** After that. */
  readonly delayMs: number;
  /** For how long what died stays away. */
  readonly awayMs: number;
  /** For how long what was stopped stands; null: until the other watchdog acts in its place. */
  readonly stoppedMs: number | null;
  readonly sinkFaults: readonly SinkFault[];
  /** An issue about crashes of the project stands there already, of which the store knows nothing. */
  readonly isIssueKnown: boolean;
  /** A person cancels the first message of the first lane. */
  readonly isCancelled: boolean;
  /** The bridge is asked to stop in order once an agent works, and started again. */
  readonly isRestarted: boolean;
  /** How long a message may go without an end; long where it is left out. */
  readonly patienceMs?: number;
}

/** Those that a bridge passes. The command that ends worktrees has its own proof. */
export const POINTS: readonly Failpoint[] = FAILPOINTS.filter((name) => !name.startsWith('worktree.'));

const LONGEST_DELAY_MS = 700;
const LONGEST_AWAY_MS = 1_000;
/** Longer than two leases of the default, and than the end of a run after them. */
const LONG_STOP_MS = 6_500;
const FAILPOINTS_PERCENT = 60;
const MOST_FURTHER_PASSAGES = 4;
const REPEATED_PERCENT = 30;
const MOST_BLOWS = 3;

const SIGNALS = [
  ['bridge', 'SIGKILL'],
  ['bridge', 'SIGSTOP'],
  ['bridge', 'SIGTERM'],
  ['standby', 'SIGKILL'],
  ['standby', 'SIGSTOP'],
  ['standby', 'SIGTERM'],
  ['both', 'SIGKILL'],
  ['reaper', 'SIGKILL'],
  ['agent', 'SIGKILL'],
  ['agent', 'SIGSTOP'],
  ['redis', 'SIGKILL'],
] as const satisfies readonly (readonly [Target, NodeJS.Signals])[];

/** Everything that is no failpoint. */
const OTHER_FAULTS: readonly Fault[] = [
  ...SIGNALS.map(([target, signal]) => ({ kind: 'signal', target, signal }) as const),
  { kind: 'absence' },
  { kind: 'frozen', forMs: 2_000 },
  { kind: 'frozen', forMs: 3_000 },
  { kind: 'frozen', forMs: 4_000 },
  { kind: 'no_journals' },
  { kind: 'clock', byMs: HOUR, awaits: 'incident', heldMs: 500, isBridgeKilled: false },
  { kind: 'clock', byMs: HOUR, awaits: 'nothing', heldMs: 1_500, isBridgeKilled: true },
  { kind: 'clock', byMs: -30 * SECOND, awaits: 'nothing', heldMs: 2_500, isBridgeKilled: false },
  { kind: 'clock', byMs: -30 * SECOND, awaits: 'nothing', heldMs: 800, isBridgeKilled: true },
  { kind: 'store', loss: 'rolled_back' },
  { kind: 'store', loss: 'host_died' },
  { kind: 'store', loss: 'flushed' },
  { kind: 'store', loss: 'lost_with_bridge' },
];

/** Every second lane. */
const OFTEN_SCRIPTED = ['scripted', 'scripted', 'text', 'mute'] as const;

/** Passed again and again: which time matters is chosen. */
const OFTEN_PASSED = /^(?:commit\.(?:lease|renew|record_run|delivery|save_incident)|journal|progress\.edit)\b/;
/** Passed by a run's owner alone: one that was stopped there wakes up when its run is lost. */
const OF_A_RUN = /^(?:commit\.(?:start|renew|record_run|complete|interrupt|release)|journal\.append|agent|run)\b/;
const AT_THE_STORE = /^commit\./;

/**
 * If the disk refuses, an event's line is in the log instead, and an answer is sent all the same: neither is a history with
 * something missing.
 */
const LOGGED_IF_REFUSED: ReadonlySet<Failpoint> = new Set(['critical_event.append.before', 'journal.sync.before']);

export function planRound(seed: number, round: number): RoundPlan {
  // Neighbouring seeds of the generator begin alike.
  const random = seededRandom(seed * 1_000_003 + round * 7_919);
  for (let skipped = 0; skipped < 8; skipped += 1) random.below(2);
  const common = {
    round,
    sinkFaults: random.shuffle(SINK_FAULTS).slice(0, random.below(3)),
    awayMs: random.below(LONGEST_AWAY_MS),
    delayMs: random.below(LONGEST_DELAY_MS),
    isIssueKnown: random.below(10) === 0,
  };
  if (isFailpointRound(round)) {
    const name = dealt(POINTS, seed, countOf(round, isFailpointRound));
    const nth = 1 + (OFTEN_PASSED.test(name) ? random.below(MOST_FURTHER_PASSAGES) : 0);
    const needed = failpointRound(round, name, pickAction(name, random), nth);
    const isIssueKnown = !name.startsWith('issue.') && common.isIssueKnown;
    return {
      ...needed,
      ...common,
      ...needs(name, common),
      isIssueKnown: needed.isIssueKnown || isIssueKnown,
      // The first lane is what its place needs.
      agents: ['scripted', random.pick(OFTEN_SCRIPTED)],
    };
  }
  const fault = dealt(
    OTHER_FAULTS,
    seed + 1,
    countOf(round, (each) => !isFailpointRound(each)),
  );
  const lanes = [pickKinds(random), pickKinds(random)] as const;
  const unhealthy = lanes.flat().some((kind) => kind !== 'quick' && kind !== 'slow');
  return {
    ...common,
    lanes,
    fault,
    when: unhealthy && random.below(2) === 0 ? 'incident' : 'run',
    stoppedMs: random.pick([2_500, 3_500, LONG_STOP_MS]),
    isCancelled: random.below(100) < 15,
    isRestarted: isBridgeSpared(fault) && random.below(100) < 15,
    agents: [random.pick(OFTEN_SCRIPTED), random.pick(OFTEN_SCRIPTED)],
    blows: isBridgeKilledBy(fault) && random.below(100) < REPEATED_PERCENT ? MOST_BLOWS : 1,
  };
}

/** @returns a round in which this failpoint is passed while something is at stake */
export function systematicRound(round: number, name: Failpoint): RoundPlan {
  return failpointRound(round, name, 'kill', 1);
}

function isBridgeSpared(fault: Fault): boolean {
  return fault.kind === 'signal' && fault.target !== 'bridge' && fault.target !== 'both';
}

/** Again and again: a message must not be run more than twice for that. */
function isBridgeKilledBy(fault: Fault): boolean {
  if (fault.kind === 'clock') return fault.isBridgeKilled;
  if (fault.kind === 'signal') return fault.target === 'bridge' && fault.signal === 'SIGKILL';
  return fault.kind === 'frozen' || fault.kind === 'no_journals';
}

/** Spread evenly over all rounds. */
function isFailpointRound(round: number): boolean {
  return Math.floor(((round + 1) * FAILPOINTS_PERCENT) / 100) > Math.floor((round * FAILPOINTS_PERCENT) / 100);
}

function countOf(round: number, isCounted: (round: number) => boolean): number {
  return Array.from({ length: round }, (_, earlier) => earlier).filter(isCounted).length;
}

/** Dealt like cards: everything comes once before anything comes again. */
function dealt<Item>(items: readonly Item[], seed: number, turn: number): Item {
  const deal = Math.floor(turn / items.length);
  const item = seededRandom(seed * 7_368_787 + deal * 104_729).shuffle(items)[turn % items.length];
  if (item === undefined) throw new RangeError('nothing to deal');
  return item;
}

function pickAction(name: Failpoint, random: Random): FailpointAction {
  if (random.below(100) < 45) return 'kill';
  const possible = FAILPOINT_ACTIONS.filter((action) => action !== 'throw' || !LOGGED_IF_REFUSED.has(name));
  const isJustBeforeACommit = AT_THE_STORE.test(name) && name.endsWith('.before');
  return isJustBeforeACommit && random.below(2) === 0 ? 'stop' : random.pick(possible);
}

function failpointRound(round: number, name: Failpoint, action: FailpointAction, nth: number): RoundPlan {
  return {
    round,
    lanes: [lanesFor(name), ['slow']],
    fault: { kind: 'failpoint', name, action, nth, ...neededLoss(name) },
    when: 'run',
    delayMs: 0,
    awayMs: 200,
    stoppedMs: OF_A_RUN.test(name) ? LONG_STOP_MS : null,
    ...needs(name, { sinkFaults: [] }),
    isIssueKnown: name.startsWith('issue.comment.'),
    isCancelled: name.startsWith('commit.cancel.'),
    isRestarted: /^commit\.(?:interrupt|take_lease)\./.test(name),
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
function needs(name: Failpoint, { sinkFaults }: Pick<RoundPlan, 'sinkFaults'>): Pick<RoundPlan, 'sinkFaults'> {
  if (name.startsWith('answer.placeholder.')) return { sinkFaults: ['progress_refused', 'answer_lost'] };
  if (name.startsWith('answer.edit.')) return { sinkFaults: ['answer_lost'] };
  // The rest of the issue's story must go its way for its own places to be passed.
  if (name.startsWith('issue.')) return { sinkFaults: sinkFaults.filter((fault) => !fault.startsWith('issue_')) };
  return { sinkFaults };
}

/** Only a store that has forgotten something is told it again. */
function neededLoss(name: Failpoint): { loss?: StoreLoss } {
  // A living bridge stores again what it runs.
  if (name.startsWith('commit.regain.')) return { loss: 'flushed' };
  // An answer of a dead bridge stands in a journal alone.
  if (name.startsWith('commit.complete_forgotten.')) return { loss: 'host_died' };
  return {};
}

function pickKinds(random: Random): Kind[] {
  return [random.pick(KINDS), random.pick(['quick', 'slow', 'crashes'] as const)];
}
