/**
 * Which calls have ended, by id: a repeated line counts once, and an ended call awaits nothing. (Judgement rules, 18.) Two
 * generations of bounded size: a forgotten id is at least a generation old. 11 to 21 bytes an id.
 */
import { MAIN_AGENT } from './entry.js';
import { fingerprint } from './fingerprint.js';

const SMALLEST = 8;
/** Slots of one generation; three quarters of them are filled before the next one begins. */
const LARGEST = 4_096;
/** An empty slot: not an id, because those are whole, and a fraction keeps the array one of plain doubles. */
const EMPTY = -0.5;

export class EndedCalls {
  #young = emptySlots(SMALLEST);
  #old: number[] | null = null;
  #count = 0;
  /** A copy shares the slots until one of the two changes. */
  #isShared = false;

  copy(): EndedCalls {
    const copy = new EndedCalls();
    copy.#young = this.#young;
    copy.#old = this.#old;
    copy.#count = this.#count;
    copy.#isShared = true;
    this.#isShared = true;
    return copy;
  }

  /** @returns whether the call has its result, or the agent does not wait for it any more */
  has(agentId: string, id: string): boolean {
    const key = keyOf(agentId, id);
    return this.#has(key) || this.#has(abandoned(key));
  }

  /** Its result came. @returns whether it is the first one */
  add(agentId: string, id: string): boolean {
    return this.#add(keyOf(agentId, id));
  }

  /** The agent does not wait for its result any more; if that still comes, it belongs to a call that was counted. */
  abandon(agentId: string, id: string): void {
    this.#add(abandoned(keyOf(agentId, id)));
  }

  isAbandoned(agentId: string, id: string): boolean {
    return this.#has(abandoned(keyOf(agentId, id)));
  }

  #has(id: number): boolean {
    return (
      this.#young[slotOf(this.#young, id)] === id || (this.#old !== null && this.#old[slotOf(this.#old, id)] === id)
    );
  }

  #add(id: number): boolean {
    if (this.#has(id)) return false;
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

/** Ids are unique only within their agent: a scripted sub-agent may number its calls as its parent does. */
function keyOf(agentId: string, id: string): number {
  return agentId === MAIN_AGENT ? fingerprint(id) : fingerprint(id, fingerprint(agentId));
}

function abandoned(key: number): number {
  return -1 - key;
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
