/**
 * The end of a stream of foreign text, such as a program's standard error, in bounded memory and without secrets.
 *
 * It holds more than is ever shown. Before the front is dropped, it is searched for a private key that begins there and does
 * not end. If there is one, the key's first line is kept instead, so that the following lines are still recognised as a key.
 * The text next to the cut may be half of a secret, so it is dropped, too.
 */

import { endsInsideKey, KEY_BEGINS } from './privateKeys.js';
import type { Redact } from './redact.js';
import { lastOf, TORN_EDGE } from './shorten.js';

/** UTF-16 units, many times the shown length. */
const WINDOW = 64 * 1024;

export class ForeignTail {
  readonly #window: number;
  #parts: string[] = [];
  #length = 0;
  #dropped = false;

  /** @param window the minimum of UTF-16 units to hold; at least four times the shown length */
  constructor(window = WINDOW) {
    this.#window = window;
  }

  /** Whether a part of the stream is no longer held. */
  get hasDropped(): boolean {
    return this.#dropped;
  }

  push(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
    // Rarely, and then much at once: a program may print millions of lines.
    if (this.#length > 2 * this.#window) this.#dropFront();
  }

  /** @returns the held text without secrets, at most its last `longest` UTF-16 units, without surrounding white space */
  last(longest: number, redact: Redact): string {
    return lastOf(redact(this.#parts.join('')).trim(), longest);
  }

  #dropFront(): void {
    const text = this.#parts.join('');
    const rest = wholeFrom(text, text.length - this.#window);
    const isKey = endsInsideKey(text.slice(0, text.length - rest.length));
    this.#parts = isKey ? [`${KEY_BEGINS}\n`, rest] : [rest];
    this.#length = rest.length + (isKey ? KEY_BEGINS.length + 1 : 0);
    this.#dropped = true;
  }
}

/** @returns `text` from the first line that begins well after `from`; without such a line, from a word; otherwise nothing */
function wholeFrom(text: string, from: number): string {
  const line = text.indexOf('\n', from + TORN_EDGE);
  if (line >= 0) return text.slice(line + 1);
  const space = text.slice(from + TORN_EDGE).search(/\s/);
  return space < 0 ? '' : text.slice(from + TORN_EDGE + space + 1);
}
