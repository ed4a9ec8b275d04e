import type { Entry } from './entry.js';

/** Entries by time; those of one instant stay in the order in which they came, which is the order of the file. */
export class SortedEntries {
  #entries: Entry[] = [];
  /** Sorting is put off until somebody looks: a journal in disorder is sorted once per chunk, not once per line. */
  #isSorted = true;

  get length(): number {
    return this.#entries.length;
  }

  add(entry: Entry): void {
    const last = this.#entries.at(-1);
    if (last !== undefined && last.time > entry.time) this.#isSorted = false;
    this.#entries.push(entry);
  }

  sorted(): readonly Entry[] {
    if (!this.#isSorted) this.#entries.sort((left, right) => left.time - right.time);
    this.#isSorted = true;
    return this.#entries;
  }

  /** Removes the earliest `count` entries and returns them. */
  takeFirst(count: number): Entry[] {
    this.sorted();
    return this.#entries.splice(0, count);
  }

  /** Removes the latest `count` entries and returns them. */
  takeLast(count: number): Entry[] {
    this.sorted();
    return this.#entries.splice(Math.max(0, this.#entries.length - count));
  }
}
