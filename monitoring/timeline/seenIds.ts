/**
 * Remembers the ids of finished calls, so that a repeated line counts once. Two generations of bounded size: what is
 * forgotten first is at least a generation old. 16 bytes an id.
 */
const SMALLEST = 16;
/** Slots of one generation; half of them are filled before the next one begins. */
const LARGEST = 4_096;
/** An empty slot; no fingerprint is negative. */
const EMPTY = -1;

export class SeenIds {
  #young: Float64Array;
  #old: Float64Array | null;
  #count: number;

  constructor(from?: SeenIds) {
    this.#young = from === undefined ? new Float64Array(SMALLEST).fill(EMPTY) : from.#young.slice();
    /** A full generation never changes again: copies share it. */
    this.#old = from === undefined ? null : from.#old;
    this.#count = from === undefined ? 0 : from.#count;
  }

  has(id: number): boolean {
    return (
      this.#young[slotOf(this.#young, id)] === id || (this.#old !== null && this.#old[slotOf(this.#old, id)] === id)
    );
  }

  add(id: number): void {
    if (this.has(id)) return;
    if (this.#count * 2 >= this.#young.length) this.#makeRoom();
    this.#young[slotOf(this.#young, id)] = id;
    this.#count += 1;
  }

  #makeRoom(): void {
    if (this.#young.length === LARGEST) {
      this.#old = this.#young;
      this.#young = new Float64Array(SMALLEST).fill(EMPTY);
      this.#count = 0;
      return;
    }
    const wider = new Float64Array(this.#young.length * 2).fill(EMPTY);
    for (const id of this.#young) if (id !== EMPTY) wider[slotOf(wider, id)] = id;
    this.#young = wider;
  }
}

/** @returns where `id` stands, or the empty slot where it would */
function slotOf(slots: Float64Array, id: number): number {
  let slot = id % slots.length;
  while (slots[slot] !== EMPTY && slots[slot] !== id) slot = (slot + 1) % slots.length;
  return slot;
}
