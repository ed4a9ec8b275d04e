/** What a scene is played with: a program in a terminal, and a model that says what the scene has for it. */
import type { Block } from '../../../peers/modelBlocks.js';
import type { Terminal } from './terminal.js';

/** What a model replies to a prompt that holds the words, request by request; after that, that it is done. */
export type Script<Reply> = Readonly<Record<string, readonly Reply[]>>;

export interface Stage {
  /** The folder in which the agent works. */
  readonly work: string;
  /** Opens the program in a new terminal, and waits until it can be typed to. */
  open(...options: readonly string[]): Promise<Terminal>;
  /** Runs the program without a terminal. @returns when it has ended, or `untilMs` are over */
  run(options: readonly string[], untilMs?: number): Promise<void>;
  /** Resolves when the model was asked so many times, by whomever. */
  asked(times: number): Promise<void>;
}

export interface Scene<Reply> {
  readonly script: Script<Reply>;
  /** A terminal that is open in the end stays so for a while, as it was left; then the transcript is kept. */
  play(stage: Stage): Promise<void>;
}

/** @returns a model that plays the script */
export function playing<Reply>(script: Script<Reply>): (texts: readonly string[]) => Reply | readonly Block[] {
  const played = new Map<string, number>();
  return (texts) => {
    const word = texts.map((text) => Object.keys(script).find((key) => text.includes(key))).findLast(Boolean) ?? '';
    const count = played.get(word) ?? 0;
    played.set(word, count + 1);
    return script[word]?.[count] ?? [{ type: 'text', text: 'That is done.' }];
  };
}

/** Types a prompt or a command, and sends it. The program takes keys that come all at once for something pasted. */
export async function tell(terminal: Terminal, text: string): Promise<void> {
  terminal.type(text);
  await terminal.shows(new RegExp(text.slice(0, 30).replaceAll(/[^\w ]/g, '.')));
  terminal.press('Enter');
}
