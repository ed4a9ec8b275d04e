/**
 * Keeps the stored activity of a run fresh while its journal cannot show it. Silence is then judged by the stored value alone.
 * Renewed only with the lease, that value would be too old for a short `silence_ms`.
 */
import type { Thresholds } from '../../src/config/rules.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import { Newest } from '../../src/newest.js';
import { type Clock, SECOND } from '../../src/time.js';

/** Updates per `silence_ms`: two may be lost. */
const WORDS_PER_SILENCE = 4;
const SHORTEST_PAUSE_MS = SECOND / 4;
/** More open calls than any agent makes; beyond this the oldest is forgotten. */
const MOST_OPEN_CALLS = 1_000;

export interface ActivityPulseParts {
  readonly clock: Clock;
  readonly thresholds: Pick<Thresholds, 'silence_ms' | 'tool_wait_ms'>;
  /** Epoch milliseconds of the agent's last event. */
  lastEventAt(): number;
  /** Stores when the agent was last active, epoch milliseconds. */
  store(lastActivity: number): Promise<unknown>;
}

export class ActivityPulse {
  readonly #parts: ActivityPulseParts;
  readonly #openCalls = new Newest<string, number>(MOST_OPEN_CALLS);

  constructor(parts: ActivityPulseParts) {
    this.#parts = parts;
  }

  /** A line that the journal may have failed to take. */
  note(line: JournalEvent): void {
    if (line.event === 'pre_tool_use') this.#openCalls.set(line.tool_use_id, this.#parts.clock.now());
    if (line.event === 'post_tool_use') this.#openCalls.delete(line.tool_use_id);
  }

  /** Stores it now. @throws what the store throws */
  async tell(): Promise<void> {
    await this.#parts.store(this.#lastActivity());
  }

  /** Stores it repeatedly until the signal aborts; a failed write is made up for by the next one. */
  async keepTelling(signal: AbortSignal): Promise<void> {
    const { clock, thresholds } = this.#parts;
    const pauseMs = Math.max(thresholds.silence_ms / WORDS_PER_SILENCE, SHORTEST_PAUSE_MS);
    while (!signal.aborted) {
      await clock.sleep(pauseMs, signal);
      if (!signal.aborted) await this.tell().catch(() => undefined);
    }
  }

  /** An agent that waits for a call counts as active for as long as the call may take, as it would by its journal. */
  #lastActivity(): number {
    const { clock, thresholds, lastEventAt } = this.#parts;
    const now = clock.now();
    const called = [...this.#openCalls.values()].map((since) => Math.min(now, since + thresholds.tool_wait_ms));
    return Math.max(lastEventAt(), ...called);
  }
}
