import type { Entry } from './entry.js';

/** Entries by time; those of one instant keep the order in which they came, which is the order of the file. */
export class SortedEntries {
  #entries: Entry[] = [];
  /** Sorting is put off until the entries are read: a journal in disorder is sorted once per chunk, not once per line. */
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
    const entries = this.sorted();
    const taken = entries.slice(0, count);
    this.#keep(entries.slice(count));
    return taken;
  }

  /** Removes the latest `count` entries and returns them. */
  takeLast(count: number): Entry[] {
    const entries = this.sorted();
    const first = Math.max(0, entries.length - count);
    const taken = entries.slice(first);
    this.#keep(entries.slice(0, first));
    return taken;
  }

  /**
   * Continues with a copy of the rest, because an array that held a chunk of the journal keeps room for it. The old one is
   * emptied: it is not collected for long, and until then it would keep its entries.
   */
  #keep(left: Entry[]): void {
    this.#entries.length = 0;
    this.#entries = left;
  }
}
