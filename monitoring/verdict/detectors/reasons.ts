/** Why a rule was true, as one word in records, events and issues: `silent_for_15_minutes`. Made and read only here. */
import { MINUTE, SECOND } from '../../../src/time.js';

/** Ends of runs that need no number. */
const PLAIN_REASONS = [
  'run_lost',
  'run_interrupted_too_often',
  'run_lease_expired',
  'run_failed_to_start',
  'run_failed_without_answer',
  'run_failed_authentication',
  'run_failed_credit',
  'run_failed_misconfigured',
  'run_failed_rate_limit',
  'run_failed_provider_unavailable',
  'run_failed_conversation_unusable',
  'run_failed_context_overflow',
] as const;
export type PlainReason = (typeof PLAIN_REASONS)[number];

const LASTING = ['silent', 'running', 'waiting'] as const;
const UNITS = ['minutes', 'seconds'] as const;
const COUNTED = ['error_cascade', 'loop', 'provider_outage'] as const;

export type CountedRule = (typeof COUNTED)[number];

export interface LastingReason {
  readonly kind: 'lasting';
  readonly what: (typeof LASTING)[number];
  readonly value: number;
  readonly unit: (typeof UNITS)[number];
}

export type Reason =
  | { readonly kind: 'plain'; readonly reason: PlainReason }
  | LastingReason
  /** `count`: failures in a row, repeated calls, or sessions. */
  | { readonly kind: 'counted'; readonly rule: CountedRule; readonly count: number }
  /** How the agent's process ended. */
  | { readonly kind: 'exit'; readonly code: number | null }
  | { readonly kind: 'signal'; readonly signal: string };

const EXIT = 'run_failed_exit_';
const SIGNAL = 'run_failed_signal_';
const SIGNAL_NAME = /^SIG[A-Z0-9]{1,10}$/;

/** @returns the reason of a finding that lasts: whole minutes; below one minute whole seconds */
export function lastingReason(what: LastingReason['what'], ms: number): string {
  const [unit, size] = ms < MINUTE ? (['seconds', SECOND] as const) : (['minutes', MINUTE] as const);
  return reasonWord({ kind: 'lasting', what, value: Math.floor(ms / size), unit });
}

export function countedReason(rule: CountedRule, count: number): string {
  return reasonWord({ kind: 'counted', rule, count });
}

export function reasonWord(reason: Reason): string {
  switch (reason.kind) {
    case 'plain':
      return reason.reason;
    case 'lasting':
      return `${reason.what}_for_${reason.value}_${reason.unit}`;
    case 'counted':
      return `${reason.rule}_of_${reason.count}`;
    case 'exit':
      return `${EXIT}${reason.code}`;
    case 'signal':
      return `${SIGNAL}${reason.signal}`;
    default:
      return reason satisfies never;
  }
}

/** @returns the meaning of the word; null for one that this version does not write */
export function readReason(word: string): Reason | null {
  const reason = PLAIN_REASONS.find((each) => each === word);
  if (reason !== undefined) return { kind: 'plain', reason };
  for (const what of LASTING) {
    for (const unit of UNITS) {
      const value = numberBetween(word, `${what}_for_`, `_${unit}`);
      if (value !== null) return { kind: 'lasting', what, value, unit };
    }
  }
  for (const rule of COUNTED) {
    const count = numberBetween(word, `${rule}_of_`, '');
    if (count !== null) return { kind: 'counted', rule, count };
  }
  const code = numberBetween(word, EXIT, '');
  if (code !== null) return { kind: 'exit', code };
  const signal = word.startsWith(SIGNAL) ? word.slice(SIGNAL.length) : '';
  return SIGNAL_NAME.test(signal) ? { kind: 'signal', signal } : null;
}

function numberBetween(word: string, before: string, after: string): number | null {
  if (!word.startsWith(before) || !word.endsWith(after)) return null;
  const digits = word.slice(before.length, word.length - after.length);
  return /^\d{1,6}$/.test(digits) ? Number(digits) : null;
}
