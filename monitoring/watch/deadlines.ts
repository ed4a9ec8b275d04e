/**
 * Instants by id. They form a heap, so the earliest is known without a look at thousands that are not due. An id that gets
 * another instant leaves its old entry behind, which is skipped once it comes up.
 */

/** This many old entries are left alone. */
const FEW = 64;

interface Entry {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly instant: number;
}

export class Deadlines {
  readonly #instants = new Map<string, number>();
  /** No entry is earlier than the one at half its index: `(index - 1) >> 1`. */
  #heap: Entry[] = [];

  /** Null if there is none. */
  get earliest(): number | null {
    return this.#first()?.instant ?? null;
  }

  get(id: string): number | undefined {
    return this.#instants.get(id);
  }

  /** @param instant epoch milliseconds; replaces the former one */
  set(id: string, instant: number): void {
    if (this.#instants.get(id) === instant) return;
    this.#instants.set(id, instant);
    this.#heap.push({ id, instant });
    this.#rise();
    this.#tidy();
  }

  /** @returns the ids whose instant has come, earliest first; they are forgotten */
  takeUntil(now: number): string[] {
    const due: string[] = [];
    for (let first = this.#first(); first !== null && first.instant <= now; first = this.#first()) {
      this.#instants.delete(first.id);
      due.push(first.id);
    }
    return due;
  }

  keepOnly(isKept: (id: string, instant: number) => boolean): void {
    for (const [id, instant] of this.#instants) if (!isKept(id, instant)) this.#instants.delete(id);
    this.#tidy();
  }

  #first(): Entry | null {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (this.#instants.get(first.id) === first.instant) return first;
      this.#removeFirst();
    }
    return null;
  }

  /** Moves the last entry up to its place. */
  #rise(): void {
    const heap = this.#heap;
    for (let index = heap.length - 1; index > 0; ) {
      const above = (index - 1) >> 1;
      if (!swapWhereEarlier(heap, above, index)) return;
      index = above;
    }
  }

  /** Moves the last entry to the top, then down to its place. */
  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const right = left + 1;
      const lower = isEarlier(heap[right], heap[left]) ? right : left;
      if (!swapWhereEarlier(heap, index, lower)) return;
      index = lower;
    }
  }

  /** Old entries must not outnumber the others. A sorted array is a heap. */
  #tidy(): void {
    if (this.#heap.length <= 2 * this.#instants.size + FEW) return;
    const entries = [...this.#instants].map(([id, instant]) => ({ id, instant }));
    this.#heap = entries.sort((left, right) => left.instant - right.instant);
  }
}

function isEarlier(left: Entry | undefined, right: Entry | undefined): boolean {
  return left !== undefined && right !== undefined && left.instant < right.instant;
}

function swapWhereEarlier(heap: Entry[], upper: number, lower: number): boolean {
  const [above, below] = [heap[upper], heap[lower]];
  if (above === undefined || below === undefined || below.instant >= above.instant) return false;
  heap[upper] = below;
  heap[lower] = above;
  return true;
}
