/** Why a run ended without an answer. */

/**
 * Why a run ended without an answer. `crash` may be revived. `provider_unavailable` and `host_exhausted` pass: the message waits
 * before an attempt is spent. `misconfigured` is a refusal of what
 * the agent is set up with: its model, its version, its network. `conversation_unusable` and `context_overflow` are faults of the conversation: a second attempt begins a new one.
 * The other causes would only fail again.
 */
export const FAILURE_CAUSES = [
  'crash',
  'cannot_start',
  'authentication',
  'credit',
  'misconfigured',
  'rate_limit',
  'provider_unavailable',
  'host_exhausted',
  'conversation_unusable',
  'context_overflow',
] as const;
export type FailureCause = (typeof FAILURE_CAUSES)[number];

export interface AgentFailure {
  readonly cause: FailureCause;
  /** A sentence for a person, in a chat or an issue; may contain the agent's own words, but no path of this host. */
  readonly detail: string;
  /** With `rate_limit` or `provider_unavailable`: when that ends, UTC epoch milliseconds, if the agent said so. */
  readonly until?: number;
  /** The remedy for a person, as a clause of ours. */
  readonly remedy?: string;
}
