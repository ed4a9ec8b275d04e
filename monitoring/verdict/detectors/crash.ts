/**
 * `crash`: a run ended unasked without an answer. Its owner sees it happen; no journal is needed. The agent's last words are no
 * evidence: a stranger may have written them, so they are kept apart, marked as untrusted.
 */
import type { Finding } from '../../../src/jobs/findings.js';
import { isoTime } from '../../../src/time.js';
import { type PlainReason, readReason } from './reasons.js';

/** @param endedAt epoch milliseconds */
export function findCrash(reason: string, endedAt: number): Finding {
  return { rule: 'crash', reason, since: isoTime(endedAt), evidence: [describeCrash(reason)], waits_considered: [] };
}

const PLAIN_ENDS: Readonly<Record<PlainReason, string>> = {
  run_failed_to_start: 'the agent could not be started',
  run_failed_without_answer: 'the agent ended without an answer',
  run_failed_authentication: "the agent's credentials were refused",
  run_failed_credit: "the agent's account has no credit left",
  run_failed_misconfigured: 'the agent cannot work with its present settings',
  run_failed_rate_limit: "the provider's limit is reached",
  run_failed_provider_unavailable: "the model's provider was busy or could not be reached",
  run_failed_conversation_unusable: 'the conversation cannot be continued',
  run_failed_context_overflow: 'the conversation no longer fits the model',
  run_lost: "the agent's output broke off",
  run_lease_expired: 'the bridge could not reach Redis for too long, and ended the agent',
  run_interrupted_too_often: 'every attempt to run it was interrupted, by its bridge or a limit of the provider',
};

/** @returns how a run with the reason, such as `run_failed_exit_1`, ended, as a clause of ours */
export function describeCrash(reason: string): string {
  const end = readReason(reason);
  switch (end?.kind) {
    case 'plain':
      return PLAIN_ENDS[end.reason];
    case 'exit':
      return `the agent exited with code ${end.code} and without an answer`;
    case 'signal':
      return `the agent was killed by ${end.signal}`;
    default:
      return 'the agent ended without an answer';
  }
}
