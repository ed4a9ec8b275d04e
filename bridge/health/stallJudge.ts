/**
 * Decides when an event loop is blocked. It counts only those ticks of another thread that came on time: while the host sleeps
 * or the process is suspended, that thread stops as well, and nothing is at fault.
 */

/** A tick that took longer than this many intervals means that the whole process was suspended. */
const ON_TIME_WITHIN = 2;

export class StallJudge {
  readonly #tickMs: number;
  #lastBeats: number;
  #standing = 0;

  /** @param tickMs the intended interval of the checks, in milliseconds */
  constructor(tickMs: number, beats: number) {
    this.#tickMs = tickMs;
    this.#lastBeats = beats;
  }

  /**
   * @param beats how often the loop has turned so far
   * @param tookMs since the last check, in milliseconds, as measured
   * @returns how long the loop has been blocked, in milliseconds of ticks that came on time
   */
  look(beats: number, tookMs: number): number {
    if (beats !== this.#lastBeats) this.#standing = 0;
    else if (tookMs <= ON_TIME_WITHIN * this.#tickMs) this.#standing += tookMs;
    this.#lastBeats = beats;
    return this.#standing;
  }
}
