/**
 * A text of any length as messages that Telegram accepts. Pure: the same text always gives the same parts, because a delivery
 * that was interrupted continues with part number n.
 *
 * Telegram counts 4,096 UTF-16 units after it has parsed the tags; here the HTML including its tags stays within that, which is
 * stricter and simpler. Parts end, by preference, after a paragraph, a line or a word.
 */
import type { Redact } from '../../../src/log/redact.js';
import { withoutInvisible } from '../../../src/log/visibleText.js';
import { decoded } from './inline.js';
import { linesOf, unescaped } from './markdown.js';
import {
  cutSpans,
  entitiesAdded,
  escapeHtml,
  htmlLength,
  htmlOf,
  type Line,
  type MarkedLine,
  MOST_ENTITIES,
  marked,
  plainLines,
  plainOf,
  type Span,
} from './styledText.js';

/** UTF-16 units (https://core.telegram.org/bots/api#sendmessage). */
export const MESSAGE_LIMIT = 4_096;

/** The text of a part without anything visible: Telegram refuses an empty message. */
const NOTHING_TO_SEE = '(The answer holds no visible text.)';
/** Share of a part that must be filled to end it after a paragraph. */
const ENOUGH = 0.4;
/** If rendering takes this many times more messages, the text is sent unrendered: a chat is not flooded for styles. */
const MOST_GROWTH = 4;
const SPARE_PARTS = 8;
const INVISIBLE = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

export interface MessagePart {
  /** For `parse_mode: HTML`. */
  readonly html: string;
  /** The same text without its styles, for when Telegram refuses the HTML. */
  readonly plain: string;
}

/** @returns at least one part, and the whole text for a file: without hidden secrets (`\_` shows as `_`) */
export function renderClean(text: string, redact: Redact): { parts: MessagePart[]; source: string } {
  const source = withoutEscapedSecrets(readable(redact(text)), redact);
  const lines = linesOf(source);
  const clean = linesWithoutSecrets(lines, redact);
  const shown = clean === lines ? source : plainOf(clean);
  const parts = cutLines(clean, MESSAGE_LIMIT);
  const most = MOST_GROWTH * Math.ceil(shown.length / MESSAGE_LIMIT) + SPARE_PARTS;
  return { parts: parts.length <= most ? parts : cutLines(plainLines(shown), MESSAGE_LIMIT), source: shown };
}

/** @param limit UTF-16 units, at least 100 @returns at least one part, each with something visible */
export function cutLines(lines: readonly Line[], limit: number): MessagePart[] {
  const splitter = new Splitter(limit);
  for (const line of lines) splitter.add(line);
  const parts = splitter.finish();
  return parts.length > 0 ? parts : [{ html: escapeHtml(NOTHING_TO_SEE), plain: NOTHING_TO_SEE }];
}

class Splitter {
  readonly #limit: number;
  readonly #parts: MessagePart[] = [];
  #lines: MarkedLine[] = [];
  #length = 0;
  #entities = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** In pieces if it is longer than a part. */
  add(line: Line): void {
    const whole = marked(line);
    if (this.#hasRoomFor(whole)) this.#add(whole);
    else for (const each of singleLines(line)) this.#addLine(each);
  }

  #addLine(line: Line): void {
    const whole = marked(line);
    if (htmlLength(whole, null) <= this.#limit && entitiesAdded(whole, null) <= MOST_ENTITIES) this.#push(whole);
    else this.#addInPieces(line);
  }

  #addInPieces(line: Line): void {
    const room = this.#limit - htmlLength(marked({ ...line, spans: [] }), null);
    // Considered together: a part has no more spans than letters.
    const most = this.#limit + 1;
    let near: Span[] = [];
    for (let next = 0; ; ) {
      const more = line.spans.slice(next, next + most - near.length);
      near.push(...more);
      next += more.length;
      const [head, tail] = cutSpans(near, room);
      const [first, ...others] = tail;
      if (first === undefined) break;
      near = tail;
      // A link alone may exceed a part: then only its words are kept.
      if (head.length === 0) {
        const { href: _, ...words } = first;
        near = [words, ...others];
        continue;
      }
      this.#push(marked({ ...line, spans: head }));
      this.#emit(this.#lines.length);
    }
    this.#push(marked({ ...line, spans: near }));
  }

  finish(): MessagePart[] {
    this.#emit(this.#lines.length);
    return this.#parts;
  }

  #push(line: MarkedLine): void {
    if (!this.#hasRoomFor(line)) {
      this.#emit(this.#breakBefore());
      // The rest after a paragraph's end can still be too much.
      if (!this.#hasRoomFor(line)) this.#emit(this.#lines.length);
    }
    this.#add(line);
  }

  #hasRoomFor(line: MarkedLine): boolean {
    const before = this.#lines.at(-1) ?? null;
    if (this.#length + htmlLength(line, before) > this.#limit) return false;
    return this.#entities + entitiesAdded(line, before) <= MOST_ENTITIES;
  }

  #add(line: MarkedLine): void {
    const before = this.#lines.at(-1) ?? null;
    this.#length += htmlLength(line, before);
    this.#entities += entitiesAdded(line, before);
    this.#lines.push(line);
  }

  /** @returns the lines that stay: up to the last paragraph's end, whose introduction moves with the next, if that is enough */
  #breakBefore(): number {
    let length = 0;
    let best = this.#lines.length;
    for (const [index, line] of this.#lines.entries()) {
      const before = this.#lines[index - 1] ?? null;
      length += htmlLength(line, before);
      const isEnd = line.code === null && line.spans.length === 0 && !introduces(before);
      if (isEnd && length >= ENOUGH * this.#limit) best = index + 1;
    }
    return best;
  }

  /** Ends the part after `count` lines. */
  #emit(count: number): void {
    const lines = trimmed(this.#lines.slice(0, count));
    const plain = plainOf(lines);
    if (!INVISIBLE.test(plain)) this.#parts.push({ html: htmlOf(lines), plain });
    const left = this.#lines.slice(count);
    this.#lines = [];
    this.#length = 0;
    this.#entities = 0;
    for (const line of left) this.#add(line);
  }
}

/** A heading, or "Here is the change:". */
function introduces(line: Line | null): boolean {
  const last = line?.spans.at(-1);
  if (line === null || line.code !== null || last === undefined) return false;
  return last.text.trimEnd().endsWith(':') || line.spans.every(({ bold }) => bold === true);
}

function singleLines(line: Line): Line[] {
  if (line.code === null) return [line];
  const text = plainOf([line]);
  return text.split('\n').map((each) => ({ ...line, spans: [{ text: each }] }));
}

function trimmed(lines: readonly MarkedLine[]): readonly MarkedLine[] {
  const isText = ({ code, spans }: Line) => code !== null || spans.length > 0;
  const first = lines.findIndex(isText);
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex(isText) + 1);
}

/** Telegram accepts UTF-8 only: a lone surrogate becomes the replacement character on the way there and back. */
export function readable(text: string): string {
  return Buffer.from(withoutInvisible(text).replace(/\r\n?/g, '\n')).toString();
}

/** A link's title and words behind a block's language still appear in a file. @returns the same if escapes hide no secret */
function withoutEscapedSecrets(markdown: string, redact: Redact): string {
  const meant = unescaped(markdown);
  return isClean(meant, redact) ? markdown : redact(meant);
}

/** @returns `lines` itself if it shows no secret; a line that shows one loses its styles */
function linesWithoutSecrets(lines: readonly Line[], redact: Redact): readonly Line[] {
  if (isClean(everythingIn(lines), redact)) return lines;
  const each = lines.map((line) => (isClean(everythingIn([line]), redact) ? line : plainLine(line, redact)));
  if (isClean(plainOf(each), redact)) return each;
  // A secret of several lines, such as a private key.
  return plainLines(redact(plainOf(each)));
}

function plainLine(line: Line, redact: Redact): Line {
  return { ...line, spans: [{ text: redact(plainOf([line])) }] };
}

/** The text, and the targets of its links. */
function everythingIn(lines: readonly Line[]): string {
  const addresses = lines.flatMap(({ spans }) =>
    spans.flatMap(({ href }) => (href === undefined ? [] : [decoded(href)])),
  );
  return [plainOf(lines), ...addresses].join('\n');
}

function isClean(text: string, redact: Redact): boolean {
  return redact(text) === text;
}
