import { withoutInvisible } from '../../src/log/visibleText.js';

/** Output for people, for example standard output. */
export interface TerminalWriter {
  write(text: string): void;
}

/** Control characters, escape sequences among them, except tab and line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to be found
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** @returns the text without anything that a terminal would obey or that is invisible: an agent's words are only to be read */
export function printable(text: string): string {
  return withoutInvisible(text.replace(/\r\n/g, '\n').replace(CONTROL, ''));
}
