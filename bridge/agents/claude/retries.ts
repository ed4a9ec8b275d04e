/** The retries of an agent's requests: each is a wait for a rate limit, unless the provider keeps refusing the request. */
import type { Lineage } from '../../../src/journal/schema.js';
import { type Clock, isoTime } from '../../../src/time.js';
import type { ProtocolLine } from '../program/protocol.js';
import { isRefusal } from './failure.js';
import type { SystemMessage } from './sdk.js';

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
