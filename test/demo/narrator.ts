/** Tells the story to whoever watches: one sentence per line, with the time since the beginning. */

const TIME_WIDTH = 6;
const CHAT_WIDTH = 9;

export class Narrator {
  readonly #begun = performance.now();
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** @param where the project that the sentence is about; empty for all of it */
  tell(where: string, sentence: string): void {
    const seconds = ((performance.now() - this.#begun) / 1_000).toFixed(1);
    this.#write(
      `${seconds.padStart(TIME_WIDTH)} s  ${(where === '' ? '' : `[${where}]`).padEnd(CHAT_WIDTH)}  ${sentence}\n`,
    );
  }

  heading(text: string): void {
    this.#write(`\n${text}\n`);
  }

  line(text: string): void {
    this.#write(`${text}\n`);
  }
}
