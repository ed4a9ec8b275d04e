import { withoutInvisible } from '../../src/log/visibleText.js';

/** Output for people, for example standard output. */
export interface TerminalWriter {
  write(text: string): void;
}

/** Never throws: if the reader is gone, the bridge continues, and a typed line is still a message. */
export function printTo(writer: TerminalWriter, text: string): void {
  try {
    writer.write(text);
  } catch {
    // Final messages are not printed by this: their records say whether they were.
  }
}

/** Control characters, escape sequences among them, except tab and line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to be found
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** @returns the text without anything that a terminal would obey or that is invisible: an agent's words are only to be read */
export function printable(text: string): string {
  return withoutInvisible(text.replace(/\r\n/g, '\n').replace(CONTROL, ''));
}
