/**
 * Why Claude Code ended without an answer: from its typed fields, and from its words where these say no more than "refused".
 * Seen with 2.1.329 against an API that refuses: `error` is on the assistant message that reports the refusal,
 * `terminal_reason` and `startup_failure_reason` are on the result.
 */

import type { Lineage } from '../../../src/journal/schema.js';
import { type Clock, isoTime } from '../../../src/time.js';
import type { AgentFailure, FailureCause } from '../failures/causes.js';
import { CLAUDE_WORDINGS } from '../failures/claude.js';
import { failureWordsOf } from '../failures/explain.js';
import type { Reading } from '../failures/statedEnd.js';
import { readWords } from '../failures/wording.js';
import type { ProtocolLine } from '../program/protocol.js';
import type { ResultMessage, SystemMessage } from './sdk.js';

const WORDINGS = failureWordsOf(CLAUDE_WORDINGS).reported;
const BY_ERROR: Readonly<Record<string, FailureCause>> = {
  authentication_failed: 'authentication',
  oauth_org_not_allowed: 'authentication',
  account_on_hold: 'authentication',
  verification_required: 'authentication',
  cloud_credential_error: 'authentication',
  billing_error: 'credit',
  model_not_found: 'misconfigured',
  rate_limit: 'rate_limit',
  overloaded: 'provider_unavailable',
  server_error: 'provider_unavailable',
  invalid_request: 'conversation_unusable',
};

const BY_TERMINAL_REASON: Readonly<Record<string, FailureCause>> = {
  prompt_too_long: 'context_overflow',
  blocking_limit: 'context_overflow',
};

const BY_STARTUP_FAILURE: Readonly<Record<string, FailureCause>> = {
  org_pin_api_key_conflict: 'authentication',
  org_pin_mismatch: 'authentication',
  org_verify_failed: 'authentication',
  provider_not_allowed: 'authentication',
  gateway_signin_required: 'authentication',
  gateway_access_denied: 'authentication',
};

const BY_STATUS: Readonly<Record<number, FailureCause>> = {
  400: 'conversation_unusable',
  401: 'authentication',
  429: 'rate_limit',
  500: 'provider_unavailable',
  502: 'provider_unavailable',
  503: 'provider_unavailable',
  504: 'provider_unavailable',
  529: 'provider_unavailable',
};
/** Causes that the words may state more exactly: a limit of a plan or a minute, a refused request or a too long conversation. */
const INEXACT: readonly FailureCause[] = ['crash', 'rate_limit', 'conversation_unusable'];
/** Claude Code retries a limit for as long as it can; a refusal does not go away. */
const REFUSALS: readonly (FailureCause | undefined)[] = ['authentication', 'credit'];

/** @returns the cause of the `error` of the last assistant message that had one, and the end that its words state */
export function failureOf(
  result: ResultMessage,
  error: string | null,
  reading: Reading,
): Pick<AgentFailure, 'cause' | 'until'> {
  const cause =
    BY_TERMINAL_REASON[result.terminal_reason ?? ''] ??
    BY_STARTUP_FAILURE[result.startup_failure_reason ?? ''] ??
    BY_ERROR[error ?? ''] ??
    BY_STATUS[result.api_error_status ?? 0] ??
    'crash';
  const said = readWords(wordsOf(result), WORDINGS, reading);
  // If a connection cannot be made, the fields are the same for a busy server and for a certificate that this host does not trust.
  return said !== null && (INEXACT.includes(cause) || said.cause === 'misconfigured') ? said : { cause };
}

/** @returns whether the retried request fails for a reason that retrying cannot remove */
function isRefusal(retry: { readonly error: string }): boolean {
  return REFUSALS.includes(BY_ERROR[retry.error]);
}

/** How a turn ended, in the program's words and in ours. */
const TURN_ENDS: Readonly<Record<string, string>> = {
  api_error: "got an error from its model's API",
  model_error: 'got an error from its model',
  max_turns: 'used up the turns that it may take (max_turns)',
  error_max_turns: 'used up the turns that it may take (max_turns)',
  budget_exhausted: 'used up its budget',
  error_max_budget_usd: 'used up its budget',
  prompt_too_long: 'found the conversation too long',
  blocking_limit: 'found the conversation too long',
  image_error: 'could not use an image',
  aborted_streaming: 'was interrupted',
  aborted_tools: 'was interrupted',
  hook_stopped: 'was stopped by a hook',
  stop_hook_prevented: 'was stopped by a hook',
  error_during_execution: 'failed',
};

/** @returns a sentence for people */
export function describeResult(result: ResultMessage): string {
  const reason = result.terminal_reason ?? result.subtype;
  const end = TURN_ENDS[reason] ?? `ended its turn: ${reason.replaceAll('_', ' ')}`;
  return [`Claude Code ${end}`, wordsOf(result)].filter((part) => part !== '').join(': ');
}

function wordsOf({ result, errors }: ResultMessage): string {
  return result ?? errors?.join('; ') ?? '';
}

/** An expired login is renewed at the first refusal. A request that is refused again after that stays refused. */
const MOST_REFUSALS = 3;

export class Retries {
  readonly #clock: Clock;
  /** Agents with an announced retry, by id; the main one is `''`. */
  readonly #waiting = new Set<string>();
  #refusals = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns the words about a request that was refused too often; null if another try makes sense */
  refused(retry: Extract<SystemMessage, { subtype: 'api_retry' }>): string | null {
    if (!isRefusal(retry)) return null;
    this.#refusals += 1;
    if (this.#refusals < MOST_REFUSALS) return null;
    return `the model's provider refused the request ${this.#refusals} times (${retry.error.replaceAll('_', ' ')}, status ${retry.error_status ?? 'unknown'})`;
  }

  announced(lineage: Lineage, delayMs: number): ProtocolLine[] {
    this.#waiting.add(lineage.agent_id ?? '');
    const until = isoTime(this.#clock.now() + delayMs);
    return [{ event: 'wait_start', kind: 'rate_limit', until, ...lineage }];
  }

  /** An agent's next message ends its retries. */
  ended(lineage: Lineage): ProtocolLine[] {
    this.#refusals = 0;
    if (!this.#waiting.delete(lineage.agent_id ?? '')) return [];
    return [{ event: 'wait_end', kind: 'rate_limit', ...lineage }];
  }
}
