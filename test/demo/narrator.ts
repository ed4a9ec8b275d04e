/** Tells the story to whoever watches: one sentence after the other, with the time since the beginning. */

/** What a sentence is about, which is its colour on a terminal. */
export type Tone = 'plain' | 'person' | 'trouble' | 'good';

export interface Stage {
  write(text: string): void;
  /** Of a terminal; a file or a pipe has none. */
  readonly colours: boolean;
  /** Characters of a line. */
  readonly width: number;
}

const WIDEST = 100;
/** `   1.2 s  ` */
const INDENT = 10;
const BOLD = '1';
const DIM = '2';
const COLOURS: Readonly<Record<Tone, string | null>> = { plain: null, person: '36', trouble: '33', good: '32' };

/** @returns the stage that a stream is: colours on a terminal only, and not where NO_COLOR asks for none */
export function stageOf(stream: NodeJS.WriteStream): Stage {
  return {
    write: (text) => void stream.write(text),
    colours: stream.isTTY && stream.hasColors(),
    width: Math.min(stream.columns || WIDEST, WIDEST),
  };
}

export class Narrator {
  readonly #begun = performance.now();
  readonly #stage: Stage;
  #lastAct = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  act(title: string): void {
    this.#lastAct += 1;
    this.heading(`Act ${this.#lastAct}: ${title}`);
  }

  tell(sentence: string, tone: Tone = 'plain'): void {
    const seconds = ((performance.now() - this.#begun) / 1_000).toFixed(1);
    const [line = '', ...rest] = wrapped(sentence, this.#stage.width - INDENT);
    const lines = [line, ...rest].map((text) => this.#painted(text, COLOURS[tone]));
    const time = this.#painted(`${seconds} s  `.padStart(INDENT), DIM);
    this.#stage.write(`${time}${lines.join(`\n${' '.repeat(INDENT)}`)}\n`);
  }

  heading(text: string): void {
    this.#stage.write(`\n${this.#painted(text, BOLD)}\n\n`);
  }

  /** @param holds its colour */
  verdict(holds: boolean, words: string): void {
    const [line = '', ...rest] = wrapped(words, this.#stage.width - INDENT);
    const sign = this.#painted(holds ? 'holds' : 'FALSE', holds ? COLOURS.good : '31');
    this.#stage.write(`   ${sign}  ${[line, ...rest].join(`\n${' '.repeat(INDENT)}`)}\n`);
  }

  line(text: string): void {
    this.#stage.write(`${text}\n`);
  }

  #painted(text: string, colour: string | null): string {
    return this.#stage.colours && colour !== null ? `\u001b[${colour}m${text}\u001b[0m` : text;
  }
}

/** @returns lines that are broken between words; a longer word has a line of its own */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
