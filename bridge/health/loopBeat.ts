/** The event loop's pulse: how late it is and, for another thread, whether it turns at all. */
import type { Service } from '../../src/service.js';
import { type Clock, SECOND, type Timer } from '../../src/time.js';

const DEFAULT_BEAT_MS = SECOND;
/** A lag is remembered for this many beats, so that a check every half minute does not miss it. */
const BEATS_REMEMBERED = 30;

export class LoopBeat implements Service {
  readonly name = 'pulse of the event loop';
  /** One counter, shared with the thread that watches it; see `stallGuard.ts`. */
  readonly shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #counter = new Int32Array(this.shared);
  readonly #clock: Clock;
  readonly #beatMs: number;
  readonly #lags: number[] = [];
  #timer: Timer | null = null;
  #dueAt = 0;

  /** @param beatMs interval of the beats, in milliseconds */
  constructor(clock: Clock, beatMs: number = DEFAULT_BEAT_MS) {
    this.#clock = clock;
    this.#beatMs = beatMs;
  }

  /** The longest recent delay, in milliseconds. */
  get lagMs(): number {
    const present = this.#timer === null ? 0 : this.#clock.monotonic() - this.#dueAt;
    return Math.max(0, present, ...this.#lags);
  }

  async start(): Promise<void> {
    if (this.#timer === null) this.#arm();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #arm(): void {
    this.#dueAt = this.#clock.monotonic() + this.#beatMs;
    this.#timer = this.#clock.after(this.#beatMs, () => this.#beat());
  }

  #beat(): void {
    Atomics.add(this.#counter, 0, 1);
    this.#lags.push(this.#clock.monotonic() - this.#dueAt);
    if (this.#lags.length > BEATS_REMEMBERED) this.#lags.shift();
    this.#arm();
  }
}
