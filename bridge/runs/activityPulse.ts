/**
 * Keeps the stored activity of a run fresh while its journal cannot show it. Silence is then judged by the stored value alone.
 * Renewed only with the lease, that value would be too old for a short `silence_ms`.
 */
import type { Thresholds } from '../../src/config/rules.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import { Newest } from '../../src/newest.js';
import { type Clock, SECOND } from '../../src/time.js';
import type { LiveActivity } from './activity.js';

/** Updates per `silence_ms`: two may be lost. */
const WORDS_PER_SILENCE = 4;
const SHORTEST_PAUSE_MS = SECOND / 4;
/** More open calls than any agent makes; beyond this the oldest is forgotten. */
const MOST_OPEN_CALLS = 1_000;

export class ActivityPulse {
  readonly #clock: Clock;
  readonly #thresholds: Thresholds;
  readonly #activity: LiveActivity;
  readonly #store: (lastActivity: number) => Promise<unknown>;
  readonly #openCalls = new Newest<string, number>(MOST_OPEN_CALLS);

  /** @param store stores when the agent was last active, epoch milliseconds */
  constructor(
    clock: Clock,
    thresholds: Thresholds,
    activity: LiveActivity,
    store: (lastActivity: number) => Promise<unknown>,
  ) {
    this.#clock = clock;
    this.#thresholds = thresholds;
    this.#activity = activity;
    this.#store = store;
  }

  /** A line that the journal may have failed to take. */
  note(line: JournalEvent): void {
    if (line.event === 'pre_tool_use') this.#openCalls.set(line.tool_use_id, this.#clock.now());
    if (line.event === 'post_tool_use') this.#openCalls.delete(line.tool_use_id);
  }

  /** Stores it now. @throws what the store throws */
  async renew(): Promise<void> {
    await this.#store(this.#lastActivity());
  }

  /** Stores it repeatedly until the signal aborts; a failed write is made up for by the next one. */
  async keepRenewing(signal: AbortSignal): Promise<void> {
    const pauseMs = Math.max(this.#thresholds.silence_ms / WORDS_PER_SILENCE, SHORTEST_PAUSE_MS);
    while (!signal.aborted) {
      await this.#clock.sleep(pauseMs, signal);
      if (!signal.aborted) await this.renew().catch(() => undefined);
    }
  }

  /** An agent that waits for a call counts as active for as long as the call may take, as it would by its journal. */
  #lastActivity(): number {
    const now = this.#clock.now();
    const longestMs = this.#thresholds.tool_wait_ms;
    const called = [...this.#openCalls.values()].map((since) => Math.min(now, since + longestMs));
    return Math.max(this.#activity.lastEventAt, ...called);
  }
}
