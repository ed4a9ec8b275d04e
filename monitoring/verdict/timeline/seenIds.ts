/**
 * Remembers the ids of finished calls, so that a repeated line counts once. Two generations of bounded size: whatever is
 * forgotten is at least a generation old. 11 to 21 bytes an id.
 */
const SMALLEST = 8;
/** Slots of one generation; three quarters of them are filled before the next one begins. */
const LARGEST = 4_096;
/** An empty slot: not an id, because those are whole, and a fraction keeps the array one of plain doubles. */
const EMPTY = -0.5;

export class SeenIds {
  #young = emptySlots(SMALLEST);
  #old: number[] | null = null;
  #count = 0;
  /** A copy shares the slots until one of the two changes. */
  #isShared = false;

  copy(): SeenIds {
    const copy = new SeenIds();
    copy.#young = this.#young;
    copy.#old = this.#old;
    copy.#count = this.#count;
    copy.#isShared = true;
    this.#isShared = true;
    return copy;
  }

  has(id: number): boolean {
    return (
      this.#young[slotOf(this.#young, id)] === id || (this.#old !== null && this.#old[slotOf(this.#old, id)] === id)
    );
  }

  /** @returns whether it is new */
  add(id: number): boolean {
    if (this.has(id)) return false;
    if (this.#isShared) this.#young = this.#young.slice();
    this.#isShared = false;
    if (this.#count * 4 >= this.#young.length * 3) this.#makeRoom();
    this.#young[slotOf(this.#young, id)] = id;
    this.#count += 1;
    return true;
  }

  #makeRoom(): void {
    if (this.#young.length === LARGEST) {
      this.#old = this.#young;
      this.#young = emptySlots(SMALLEST);
      this.#count = 0;
      return;
    }
    const wider = emptySlots(this.#young.length * 2);
    for (const id of this.#young) if (id !== EMPTY) wider[slotOf(wider, id)] = id;
    this.#young = wider;
  }
}

/** @returns the slot of `id`, or the empty slot for it; the number of slots is a power of two */
function slotOf(slots: readonly number[], id: number): number {
  const mask = slots.length - 1;
  let slot = (id >>> 0) & mask;
  while (slots[slot] !== EMPTY && slots[slot] !== id) slot = (slot + 1) & mask;
  return slot;
}

function emptySlots(count: number): number[] {
  return new Array<number>(count).fill(EMPTY);
}
