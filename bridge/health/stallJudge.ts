/**
 * When a standing event loop is a standing one. Judged by the ticks of another thread that came on time: while the host
 * sleeps, or the process is stopped, that thread stands as well, and nobody is to blame.
 */

/** A tick that took longer than this many of its intervals says that the whole process stood. */
const ON_TIME_WITHIN = 2;

export class StallJudge {
  readonly #tickMs: number;
  #lastBeats: number;
  #standing = 0;

  /** @param tickMs between two looks, in milliseconds, as intended */
  constructor(tickMs: number, beats: number) {
    this.#tickMs = tickMs;
    this.#lastBeats = beats;
  }

  /**
   * @param beats how often the loop has turned so far
   * @param tookMs since the last look, in milliseconds, as measured
   * @returns how long the loop has stood still, in milliseconds of ticks that came on time
   */
  look(beats: number, tookMs: number): number {
    if (beats !== this.#lastBeats) this.#standing = 0;
    else if (tookMs <= ON_TIME_WITHIN * this.#tickMs) this.#standing += tookMs;
    this.#lastBeats = beats;
    return this.#standing;
  }
}
