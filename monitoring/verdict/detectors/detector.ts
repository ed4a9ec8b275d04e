/** The skeleton that every detector shares: one fault, one pure function. */
import type { Rule, Thresholds } from '../../../src/config/rules.js';
import type { Finding } from '../../../src/jobs/findings.js';
import type { SilenceReadings } from '../clocks/silenceClock.js';
import type { AgentState, RunState } from '../timeline/state.js';

/** A period when the host slept or its clocks could not be trusted; UTC epoch milliseconds. */
export interface Gap {
  readonly from: number;
  readonly until: number;
}

/** The input of a detector that counts: a session that owes work. */
export interface CountedSubject {
  readonly run: RunState;
  /** The agents that owe work: no other one is judged. The main one comes first if it does. */
  readonly owing: readonly AgentState[];
  readonly thresholds: Thresholds;
  /** UTC epoch milliseconds. */
  readonly now: number;
  readonly owed: OwedTime;
}

export interface Subject extends CountedSubject {
  /** The clocks of every agent at work, including the main one if it owes work. */
  readonly clocks: SilenceReadings;
}

/** Owed time since a person last spoke, without human waits and known gaps. */
export interface OwedTime {
  readonly since: number;
  readonly ms: number;
  /** Whether it grows now. */
  readonly running: boolean;
}

/**
 * The finding if the rule is true. Otherwise the first instant after `now` at which it could become true without further events,
 * UTC epoch milliseconds; never later than the instant at which it does. Null if only a further line could make it true.
 */
export type Judgement = Finding | number | null;

export interface Detector<Seen = Subject> {
  readonly rule: Rule;
  judge(subject: Seen): Judgement;
}
