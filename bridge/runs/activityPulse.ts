/**
 * Keeps the store's word on a run's activity fresh while its journal cannot tell it: then silence is judged by that word
 * alone, and renewed only with the lease it would be older than a short `silence_ms` allows.
 */
import type { Thresholds } from '../../src/config/rules.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import { type Clock, SECOND } from '../../src/time.js';

/** Words per silence that accuses: two may be lost. */
const WORDS_PER_SILENCE = 4;
const SHORTEST_PAUSE_MS = SECOND / 4;
/** More calls at once than any agent makes; beyond them the oldest is forgotten. */
const MOST_OPEN_CALLS = 1_000;

export interface ActivityPulseParts {
  readonly clock: Clock;
  readonly thresholds: Pick<Thresholds, 'silence_ms' | 'tool_wait_ms'>;
  /** Epoch milliseconds of the agent's last event. */
  lastEventAt(): number;
  /** Stores when the agent was last seen at work, epoch milliseconds. */
  store(lastActivity: number): Promise<unknown>;
}

export class ActivityPulse {
  readonly #parts: ActivityPulseParts;
  readonly #openCalls = new Map<string, number>();

  constructor(parts: ActivityPulseParts) {
    this.#parts = parts;
  }

  /** A line that the journal may not take. */
  note(line: JournalEvent): void {
    if (line.event === 'pre_tool_use') this.#openCalls.set(line.tool_use_id, this.#parts.clock.now());
    if (line.event === 'post_tool_use') this.#openCalls.delete(line.tool_use_id);
    for (const oldest of this.#openCalls.keys()) {
      if (this.#openCalls.size <= MOST_OPEN_CALLS) return;
      this.#openCalls.delete(oldest);
    }
  }

  /** Stores it now. @throws what the store throws */
  async tell(): Promise<void> {
    await this.#parts.store(this.#lastActivity());
  }

  /** Stores it again and again until the signal aborts; what the store refuses is told the next time. */
  async keepTelling(signal: AbortSignal): Promise<void> {
    const { clock, thresholds } = this.#parts;
    const pauseMs = Math.max(thresholds.silence_ms / WORDS_PER_SILENCE, SHORTEST_PAUSE_MS);
    while (!signal.aborted) {
      await clock.sleep(pauseMs, signal);
      if (!signal.aborted) await this.tell().catch(() => undefined);
    }
  }

  /** An agent that waits for a call is at work as long as a call may take, as the journal would have told. */
  #lastActivity(): number {
    const { clock, thresholds, lastEventAt } = this.#parts;
    const now = clock.now();
    const called = [...this.#openCalls.values()].map((since) => Math.min(now, since + thresholds.tool_wait_ms));
    return Math.max(lastEventAt(), ...called);
  }
}
