/** What the peer's model may answer, and what may go wrong instead. */

import type { Block } from '../modelBlocks.js';

export type Fault =
  /** 401 */
  | { readonly kind: 'unauthorized' }
  /** 400, as for an account without money. */
  | { readonly kind: 'no_credit' }
  /** 400, as for a conversation that does not fit. */
  | { readonly kind: 'too_long' }
  /** 529 */
  | { readonly kind: 'overloaded' }
  /** 429 */
  | { readonly kind: 'rate_limited'; readonly retryAfterS: number }
  /** 429, as for a plan whose hours are used up until then, in epoch seconds. */
  | { readonly kind: 'plan_used_up'; readonly untilS: number }
  /** The connection breaks: before the first byte, or after these blocks of an answer that does not end. */
  | { readonly kind: 'reset'; readonly after?: readonly Block[] }
  /** Nothing more comes: from the beginning, or after these blocks. */
  | { readonly kind: 'hang'; readonly after?: readonly Block[] };

/** Blocks are one assistant message; its stop reason follows from them. */
export type Reply = readonly Block[] | Fault;

export function isFault(reply: Reply): reply is Fault {
  return !Array.isArray(reply);
}

interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string;
  readonly message: string;
}

/** @returns the refusal in the API's own words (https://docs.anthropic.com/en/api/errors); null for what is no answer */
export function refusal(fault: Fault): Refusal | null {
  const refuse = (status: number, type: string, message: string, headers = {}) => ({ status, type, message, headers });
  switch (fault.kind) {
    case 'unauthorized':
      return refuse(401, 'authentication_error', 'invalid x-api-key');
    case 'no_credit':
      return refuse(
        400,
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      );
    case 'too_long':
      return refuse(400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum');
    case 'overloaded':
      return refuse(529, 'overloaded_error', 'Overloaded');
    case 'rate_limited':
      return refuse(429, 'rate_limit_error', 'This request would exceed your rate limit.', {
        'retry-after': String(fault.retryAfterS),
      });
    case 'plan_used_up':
      return refuse(429, 'rate_limit_error', 'This request would exceed your rate limit.', {
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': String(fault.untilS),
        'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      });
    case 'reset':
    case 'hang':
      return null;
    default:
      return fault satisfies never;
  }
}
