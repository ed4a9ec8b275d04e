/**
 * Sends GitHub no requests for a while after it asked for that or could not be reached: the other reports fail at once instead
 * of each running into the same limit or the same silence.
 */
import { type Clock, HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { type IssueSink, type IssueSummary, SinkError } from './issueSink.js';

const PAUSE_UNREACHED_MS = 10 * SECOND;
/** If the limit has no stated duration; GitHub recommends at least this. */
const PAUSE_LIMITED_MS = MINUTE;
/** GitHub's windows are an hour long. */
const LONGEST_PAUSE_MS = HOUR;

export class PausingSink implements IssueSink {
  readonly #sink: IssueSink;
  readonly #clock: Clock;
  #until = 0;
  #words = '';

  constructor(sink: IssueSink, clock: Clock) {
    this.#sink = sink;
    this.#clock = clock;
  }

  visibility(signal: AbortSignal): Promise<'public' | 'private'> {
    return this.#guard(() => this.#sink.visibility(signal));
  }

  list(state: 'open' | 'all', signal: AbortSignal): Promise<IssueSummary[]> {
    return this.#guard(() => this.#sink.list(state, signal));
  }

  get(number: number, signal: AbortSignal): Promise<IssueSummary | null> {
    return this.#guard(() => this.#sink.get(number, signal));
  }

  create(title: string, body: string, signal: AbortSignal): Promise<IssueSummary> {
    return this.#guard(() => this.#sink.create(title, body, signal));
  }

  update(number: number, body: string, signal: AbortSignal): Promise<void> {
    return this.#guard(() => this.#sink.update(number, body, signal));
  }

  comment(number: number, body: string, signal: AbortSignal): Promise<void> {
    return this.#guard(() => this.#sink.comment(number, body, signal));
  }

  close(number: number, signal: AbortSignal): Promise<void> {
    return this.#guard(() => this.#sink.close(number, signal));
  }

  reopen(number: number, signal: AbortSignal): Promise<void> {
    return this.#guard(() => this.#sink.reopen(number, signal));
  }

  closeTwin(number: number, keptNumber: number, signal: AbortSignal): Promise<void> {
    return this.#guard(() => this.#sink.closeTwin(number, keptNumber, signal));
  }

  async #guard<T>(request: () => Promise<T>): Promise<T> {
    const left = this.#until - this.#clock.now();
    if (left > 0) throw new SinkError('limited', this.#words, { retryAfterMs: left });
    try {
      return await request();
    } catch (error) {
      const pauseMs = error instanceof SinkError ? pauseAfter(error) : 0;
      if (pauseMs > 0 && error instanceof SinkError) {
        this.#until = this.#clock.now() + pauseMs;
        this.#words = error.message;
      }
      throw error;
    }
  }
}

/** @returns milliseconds */
function pauseAfter({ kind, retryAfterMs }: SinkError): number {
  switch (kind) {
    case 'limited':
      return Math.min(retryAfterMs ?? PAUSE_LIMITED_MS, LONGEST_PAUSE_MS);
    case 'not_reached':
      return PAUSE_UNREACHED_MS;
    case 'ambiguous':
    case 'refused':
      return 0;
    default:
      return kind satisfies never;
  }
}
