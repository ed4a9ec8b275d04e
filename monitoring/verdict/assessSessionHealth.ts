/** The verdict on one session at one instant: a pure function that explains its result. */
import type { Rule, Thresholds } from '../../src/config/rules.js';
import type { ConsideredWait, Finding } from '../../src/jobs/findings.js';
import { isoTimeOrNull } from '../../src/time.js';
import { type AgentClock, agentsAtWork, describeClocks } from './clocks/agentClocks.js';
import {
  isPersonAsked,
  isWaiting,
  readSilenceClocks,
  type SilenceReading,
  type SilenceReadings,
} from './clocks/silenceClock.js';
import { COUNTING_DETECTORS, DETECTORS } from './detectors/all.js';
import type { CountedSubject, Detector, Subject } from './detectors/detector.js';
import { firstSilent, silenceFinding } from './detectors/silence.js';
import { agentsOwing, clocksStart, owedTime, type SessionContext } from './owedWork.js';
import { MAIN_AGENT } from './timeline/entry.js';
import type { TimelineState } from './timeline/state.js';
import type { Timeline } from './timeline/timeline.js';

interface Next {
  /**
   * The first instant at which a rule that is not true could become true without further events, UTC epoch milliseconds; never
   * later than the instant at which it does. Null if only a further line could change anything.
   */
  readonly next_deadline: number | null;
  /** The rule that could become true then; null if a line that is ahead of the clock counts from then on. */
  readonly next_rule: Rule | null;
}

const NO_DEADLINE: Next = { next_deadline: null, next_rule: null };

export interface Assessment extends Next {
  /** `unknown`: there is no readable line, and nothing in the store to judge by. */
  readonly verdict: 'healthy' | 'unhealthy' | 'unknown';
  readonly attention: 'working' | 'in_tool' | 'waiting' | 'idle';
  /** In the rules' order of precedence. */
  readonly findings: readonly Finding[];
  readonly tool_count: number;
  /** The latest request or result of a tool, ISO 8601. */
  readonly last_tool_call: string | null;
  readonly clock: {
    /** The main agent's; if only sub-agents owe, that of the one that is silent first. Null while nothing is owed. */
    readonly silence_ms: number | null;
    readonly owed_ms: number;
    /** The longest streak of any agent. */
    readonly failing_batches: number;
  };
  /** Every open wait of an agent at work, expired or not. */
  readonly waits: readonly ConsideredWait[];
  /** The clocks of each agent at work, the main one first if it owes; empty while nothing is owed. */
  readonly agents: readonly AgentClock[];
}

/** @param now UTC epoch milliseconds */
export function assessSessionHealth(
  timeline: Timeline,
  thresholds: Thresholds,
  now: number,
  context: SessionContext = {},
): Assessment {
  const assessment = assessState(timeline.at(now), thresholds, now, context);
  return { ...assessment, ...earlier({ next_deadline: timeline.nextRelease(now), next_rule: null }, assessment) };
}

/** As {@link assessSessionHealth}, for a folded state. */
export function assessState(
  state: TimelineState,
  thresholds: Thresholds,
  now: number,
  context: SessionContext = {},
): Assessment {
  const { run } = state;
  if (!hasLineOfRun(state, context)) return assessByStore(state, thresholds, now, context);
  const owing = agentsOwing(run, context);
  if (owing.length === 0) return quiet(state, 'healthy');
  const subject = subjectOf({ run, owing, thresholds, now, owed: owedTime(run, now, context) }, context);
  const { clocks, owed } = subject;
  const silence = clocks.get(MAIN_AGENT) ?? firstSilent(subject).reading;
  const { findings, ...next } = judgeBy(DETECTORS, subject, NO_DEADLINE);
  const agents = describeClocks(run, clocks, now);
  return {
    verdict: findings.length > 0 ? 'unhealthy' : 'healthy',
    attention: attentionOf(silence, clocks, now),
    findings,
    ...next,
    ...countsOf(state),
    clock: {
      silence_ms: silence.clockMs,
      owed_ms: owed.ms,
      failing_batches: Math.max(...owing.map(({ errors }) => errors.count)),
    },
    waits: agents.flatMap(({ waits }) => waits),
    agents,
  };
}

interface Judgements extends Next {
  readonly findings: readonly Finding[];
}

/** @returns whether the journal has a line of the present run; without one the store judges */
export function hasLineOfRun(state: TimelineState, { started_at: startedAt }: SessionContext): boolean {
  return state.lines > 0 && state.lastLine >= (startedAt ?? Number.NEGATIVE_INFINITY);
}

/** The part of a verdict that a replay needs; describing every clock and wait at each line would be most of the work. */
export interface Judged extends Judgements {
  /** Before this instant no agent is silent without further activity; UTC epoch milliseconds. */
  readonly quietUntil: number;
}

/** As {@link assessState}, without descriptions. @param quietUntil before this no clock is read, which takes most of the time */
export function judgeState(state: TimelineState, thresholds: Thresholds, now: number, quietUntil: number): Judged {
  const { run } = state;
  const owing = state.lines === 0 ? [] : agentsOwing(run, {});
  if (owing.length === 0) return { findings: [], ...NO_DEADLINE, quietUntil: Number.NEGATIVE_INFINITY };
  const counted = { run, owing, thresholds, now, owed: owedTime(run, now, {}) };
  if (now < quietUntil) {
    return { ...judgeBy(COUNTING_DETECTORS, counted, { next_deadline: quietUntil, next_rule: 'silence' }), quietUntil };
  }
  const subject = subjectOf(counted, {});
  return { ...judgeBy(DETECTORS, subject, NO_DEADLINE), quietUntil: firstSilent(subject).reading.silentFrom };
}

function subjectOf(counted: CountedSubject, context: SessionContext): Subject {
  const { run, owing, thresholds, now } = counted;
  const notBefore = clocksStart(now, context);
  const clocks = readSilenceClocks(agentsAtWork(run, owing), { run, thresholds, now, notBefore });
  return { ...counted, clocks };
}

function judgeBy<Seen>(detectors: readonly Detector<Seen>[], subject: Seen, before: Next): Judgements {
  const findings: Finding[] = [];
  let next = before;
  for (const { rule, judge: judgeRule } of detectors) {
    const judged = judgeRule(subject);
    if (typeof judged === 'object' && judged !== null) findings.push(judged);
    else next = earlier(next, { next_deadline: judged, next_rule: rule });
  }
  return { findings, ...next };
}

function earlier(left: Next, right: Next): Next {
  if (right.next_deadline === null) return left;
  return left.next_deadline === null || right.next_deadline < left.next_deadline ? right : left;
}

/** Without a journal of this run: silence by the store's `last_activity`, else no verdict. (Judgement rules, 19.) */
function assessByStore(state: TimelineState, thresholds: Thresholds, now: number, context: SessionContext): Assessment {
  const { status, last_activity: lastActivity } = context;
  if (status !== undefined && status !== 'active') return quiet(state, 'healthy');
  if (lastActivity === undefined || lastActivity === null) return quiet(state, 'unknown');
  const countedFrom = Math.max(lastActivity, clocksStart(now, context));
  const clockMs = Math.max(0, now - countedFrom);
  const silentFrom = countedFrom + thresholds.silence_ms + 1;
  const isSilent = silentFrom <= now;
  const silence = silenceFinding({ clockMs, countedFrom, silentFrom }, thresholds.silence_ms);
  return {
    ...quiet(state, isSilent ? 'unhealthy' : 'healthy'),
    attention: 'working',
    findings: isSilent ? [{ ...silence, evidence: [...silence.evidence, 'no work of it was recorded'] }] : [],
    next_deadline: isSilent ? null : silentFrom,
    next_rule: isSilent ? null : 'silence',
    clock: { silence_ms: clockMs, owed_ms: 0, failing_batches: 0 },
  };
}

function quiet(state: TimelineState, verdict: Assessment['verdict']): Assessment {
  return {
    verdict,
    attention: 'idle',
    findings: [],
    ...NO_DEADLINE,
    ...countsOf(state),
    clock: { silence_ms: null, owed_ms: 0, failing_batches: 0 },
    waits: [],
    agents: [],
  };
}

function countsOf({ toolCount, lastToolCall }: TimelineState) {
  return { tool_count: toolCount, last_tool_call: isoTimeOrNull(lastToolCall) };
}

function attentionOf(silence: SilenceReading, clocks: SilenceReadings, now: number): Assessment['attention'] {
  if (isWaiting(silence.waits, now) || isPersonAsked(clocks, now)) return 'waiting';
  return silence.waits.some((wait) => wait.kind === 'tool') ? 'in_tool' : 'working';
}

/** @returns since when the model has been silent: a quiet first word long before a finding; null if not. (Judgement rules, 5.) */
export function quietSince(
  { clock, waits }: Pick<Assessment, 'clock' | 'waits'>,
  { quiet_ms: quietMs }: Pick<Thresholds, 'quiet_ms'>,
  now: number,
): number | null {
  const { silence_ms: silenceMs } = clock;
  if (silenceMs === null || silenceMs <= quietMs) return null;
  return waits.some(({ kind }) => kind === 'tool') ? null : now - silenceMs;
}
