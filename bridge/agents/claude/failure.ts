/**
 * Why Claude Code ended without an answer, read from its typed fields only; its words go into the detail and decide nothing.
 * Seen with 2.1.329 against an API that refuses: `error` is on the assistant message that reports the refusal,
 * `terminal_reason` and `startup_failure_reason` are on the result.
 */
import type { FailureCause } from '../program/contract.js';
import type { ResultMessage } from './sdk.js';

const BY_ERROR: Readonly<Record<string, FailureCause>> = {
  authentication_failed: 'authentication',
  oauth_org_not_allowed: 'authentication',
  account_on_hold: 'authentication',
  verification_required: 'authentication',
  cloud_credential_error: 'authentication',
  billing_error: 'credit',
  rate_limit: 'rate_limit',
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

const BY_STATUS: Readonly<Record<number, FailureCause>> = { 401: 'authentication', 429: 'rate_limit' };
/** Claude Code retries a limit for as long as it can; a refusal does not go away. */
const REFUSALS: readonly (FailureCause | undefined)[] = ['authentication', 'credit'];

/** @param error the `error` of the last assistant message that had one */
export function causeOf(result: ResultMessage, error: string | null): FailureCause {
  return (
    BY_TERMINAL_REASON[result.terminal_reason ?? ''] ??
    BY_STARTUP_FAILURE[result.startup_failure_reason ?? ''] ??
    BY_ERROR[error ?? ''] ??
    BY_STATUS[result.api_error_status ?? 0] ??
    'crash'
  );
}

/** @returns whether the retried request fails for a reason that retrying cannot remove */
export function isRefusal(retry: { readonly error: string }): boolean {
  return REFUSALS.includes(BY_ERROR[retry.error]);
}

/** @returns a sentence for people */
export function describeResult(result: ResultMessage): string {
  const words = result.result ?? result.errors?.join('; ') ?? '';
  return [`Claude Code ended its turn with ${result.terminal_reason ?? result.subtype}`, words]
    .filter((part) => part !== '')
    .join(': ');
}
