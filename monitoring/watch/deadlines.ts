/**
 * Instants by id. The earliest is known without a look at the thousands that are not due: they form a heap, in which an id
 * that was given another instant leaves its former entry behind, to be passed over once it comes up.
 */

/** So many former entries are left alone. */
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

  /** Null where there is none. */
  get earliest(): number | null {
    return this.#first()?.instant ?? null;
  }

  get(id: string): number | undefined {
    return this.#instants.get(id);
  }

  /** @param instant epoch milliseconds; replaces what stood there */
  set(id: string, instant: number): void {
    if (this.#instants.get(id) === instant) return;
    this.#instants.set(id, instant);
    this.#heap.push({ id, instant });
    this.#rise();
    this.#tidy();
  }

  /** @returns the ids whose instant has come, the earliest first; they are forgotten */
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

  /** The last entry goes up to its place. */
  #rise(): void {
    const heap = this.#heap;
    for (let index = heap.length - 1; index > 0; ) {
      const above = (index - 1) >> 1;
      if (!swapWhereEarlier(heap, above, index)) return;
      index = above;
    }
  }

  /** The last entry takes the place of the first one, and goes down to its own. */
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

  /** Former entries must not outnumber the others. A sorted row is a heap. */
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
