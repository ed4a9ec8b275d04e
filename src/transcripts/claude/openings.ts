/**
 * Turns that no plain prompt opens. A command that a person typed may be expanded into a prompt. Or it only prints something, and the
 * agent starts to work after that (`/goal`). A task that the program fires (a wakeup of `/loop`, a scheduled one) comes as a note of
 * the harness, which some versions do not mark as a prompt.
 */
import type { Hints } from '../draft/draft.js';

export type Opener = 'human' | 'machine';

export class Openings {
  /** The last record of a command that a person typed, or of its output; null before one. */
  #typed: string | null = null;
  #hasPrinted = false;
  /** The command's output is followed by a note for the model: if the agent acts now, the person made it act. */
  #mayStart = false;
  /** The record of a task that the program fired. */
  #fired: string | null = null;

  copy(): Openings {
    const copy = new Openings();
    copy.#typed = this.#typed;
    copy.#hasPrinted = this.#hasPrinted;
    copy.#mayStart = this.#mayStart;
    copy.#fired = this.#fired;
    return copy;
  }

  /** @returns who opens a turn with this record, as far as the records before it show; null if they show nothing */
  openerOf({ command, prints, fires, expansion, uuid, parentUuid }: Hints): Opener | null {
    const place = uuid ?? null;
    if (fires === true) this.#fired = place;
    const follows = parentUuid !== undefined && parentUuid === this.#typed;
    if (command === true) {
      this.#hasPrinted = false;
      this.#typed = place;
    } else if (prints === true && follows) {
      this.#hasPrinted = true;
      this.#typed = place;
    } else if (expansion === true && follows) {
      if (!this.#hasPrinted) return 'human';
      this.#mayStart = true;
    }
    const isFired = expansion === true && parentUuid !== undefined && parentUuid === this.#fired;
    return isFired ? 'machine' : null;
  }

  /** A turn was opened. */
  opened(): void {
    this.#mayStart = false;
  }

  /** The agent acts. @returns whether a command that a person typed has made it act */
  isStarted(): boolean {
    const isStarted = this.#mayStart;
    this.#mayStart = false;
    return isStarted;
  }
}
