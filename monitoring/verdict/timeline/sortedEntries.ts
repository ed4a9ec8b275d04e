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
   * Goes on with a copy of what is left, for an array that held a chunk of the journal has the room for it ever after. It is
   * emptied: an old array is not collected for long, and as long it would keep what it holds.
   */
  #keep(left: Entry[]): void {
    this.#entries.length = 0;
    this.#entries = left;
  }
}
