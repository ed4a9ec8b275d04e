/** The distribution of many readings in bounded memory: a histogram whose classes are one percent wide. */

const WIDTH = Math.log(1.01);

export interface Spread {
  readonly count: number;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
  /** Exact; the others are up to one percent too high, but never above it. */
  readonly max: number | null;
}

export class Distribution {
  readonly #classes = new Map<number, number>();
  #count = 0;
  #max = 0;

  /** @param reading above zero */
  add(reading: number): void {
    const index = Math.ceil(Math.log(reading) / WIDTH);
    this.#classes.set(index, (this.#classes.get(index) ?? 0) + 1);
    this.#count += 1;
    this.#max = Math.max(this.#max, reading);
  }

  merge(other: Distribution): void {
    for (const [index, count] of other.#classes) this.#classes.set(index, (this.#classes.get(index) ?? 0) + count);
    this.#count += other.#count;
    this.#max = Math.max(this.#max, other.#max);
  }

  spread(): Spread {
    if (this.#count === 0) return { count: 0, p50: null, p90: null, p99: null, max: null };
    const classes = [...this.#classes].sort(([left], [right]) => left - right);
    const at = (share: number) => this.#at(classes, share);
    return { count: this.#count, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: this.#max };
  }

  #at(classes: readonly (readonly [number, number])[], share: number): number {
    let passed = 0;
    for (const [index, count] of classes) {
      passed += count;
      if (passed >= share * this.#count) return Math.min(this.#max, Math.floor(Math.exp(index * WIDTH) + 1e-6));
    }
    return this.#max;
  }
}
