/**
 * `crash`: a run ended unasked without an answer. Its owner sees it happen; no journal is needed. What the agent said at its
 * end is no evidence: anybody may have written it, so it travels apart, marked as untrusted.
 */
import type { Finding } from '../../../src/jobs/findings.js';
import { isoTime } from '../../../src/time.js';

/**
 * @param reason `run_failed_exit_1` and the like
 * @param endedAt epoch milliseconds
 */
export function findCrash(reason: string, endedAt: number): Finding {
  return { rule: 'crash', reason, since: isoTime(endedAt), evidence: [describeCrash(reason)], waits_considered: [] };
}

const KNOWN_ENDS: Readonly<Record<string, string>> = {
  run_failed_to_start: 'the agent could not be started',
  run_failed_without_answer: 'the agent ended without an answer',
  run_failed_authentication: "the agent's credentials were refused",
  run_failed_credit: "the agent's account has no credit left",
  run_failed_rate_limit: "the provider's limit is reached",
  run_failed_context_overflow: 'the conversation no longer fits the model',
  run_lost: "the agent's output broke off",
  run_interrupted_too_often: 'the bridge was stopped during every attempt to run it',
};

/**
 * @param reason `run_failed_exit_1` and the like
 * @returns how a run ended, as a clause of ours
 */
export function describeCrash(reason: string): string {
  const known = Object.hasOwn(KNOWN_ENDS, reason) ? KNOWN_ENDS[reason] : undefined;
  if (known !== undefined) return known;
  const [, code] = /^run_failed_exit_(\d{1,10})$/.exec(reason) ?? [];
  if (code !== undefined) return `the agent ended with exit code ${code} and without an answer`;
  const [, signal] = /^run_failed_signal_(SIG[A-Z0-9]{2,10})$/.exec(reason) ?? [];
  return signal === undefined ? 'the agent ended without an answer' : `the agent was ended by ${signal}`;
}
