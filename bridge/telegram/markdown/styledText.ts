/**
 * Lines of styled text as Telegram's HTML (https://core.telegram.org/bots/api#html-style): tags are always balanced, because
 * each span and each block has its own.
 */
import { signsIn } from '../../../src/textWidth.js';

export interface Span {
  readonly text: string;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly struck?: boolean;
  readonly code?: boolean;
  /** The address that it leads to. */
  readonly href?: string;
}

/** A line of text, or several of one block of code. */
export interface Line {
  readonly spans: readonly Span[];
  readonly isQuote: boolean;
  /** Its block of code; null for text. */
  readonly code: CodeBlock | null;
}

/** A line with its HTML, which every look at its length needs. */
export interface MarkedLine extends Line {
  readonly html: string;
  /** How many entities Telegram counts in the spans. */
  readonly entities: number;
}

/** Per message. Telegram ignores further ones: their text comes without its style. */
export const MOST_ENTITIES = 100;

/** One for all lines of a block. */
interface CodeBlock {
  /** Null if the block names none. */
  readonly language: string | null;
}

const NO_TAGS = ['', ''] as const;
const QUOTE_TAGS = ['<blockquote>', '</blockquote>'] as const;
const SPECIAL = /[&<>]/;
/** UTF-16 units; a longer one may be cut. */
const LONGEST_SIGN = 64;

/** @returns `text` with the three characters escaped that have a meaning between tags */
export function escapeHtml(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function plainLines(text: string): Line[] {
  return text.split('\n').map((line) => ({ spans: line === '' ? [] : [{ text: line }], isQuote: false, code: null }));
}

export function plainOf(lines: readonly Line[]): string {
  let plain = '';
  for (const [index, { spans }] of lines.entries()) {
    if (index > 0) plain += '\n';
    for (const { text } of spans) plain += text;
  }
  return plain;
}

export function marked(line: Line): MarkedLine {
  const { spans, isQuote, code } = line;
  let html = '';
  let entities = 0;
  for (const span of spans) {
    html += tagged(span, escapeHtml(span.text));
    entities += entitiesOf(span);
  }
  return { spans, isQuote, code, html, entities };
}

/** Lines of one block share one pair of tags. */
export function htmlOf(lines: readonly MarkedLine[]): string {
  let html = '';
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    const after = lines[index + 1];
    const [opening, closing] = blockTags(line);
    if (before !== undefined) html += '\n';
    if (before === undefined || !areOneBlock(before, line)) html += opening;
    html += line.html;
    if (after === undefined || !areOneBlock(line, after)) html += closing;
  }
  return html;
}

/** @returns by how many UTF-16 units the HTML grows with the line; `before` is null for the first one */
export function htmlLength(line: MarkedLine, before: Line | null): number {
  if (before !== null && areOneBlock(before, line)) return 1 + line.html.length;
  const [opening, closing] = blockTags(line);
  return (before === null ? 0 : 1) + opening.length + closing.length + line.html.length;
}

/** @returns what fits in `room` units of HTML, up to the end of a word if one ends in its second half, and the rest */
export function cutSpans(spans: readonly Span[], room: number): readonly [Span[], Span[]] {
  const head: Span[] = [];
  let left = room;
  // One is for the block.
  let entities = 1;
  for (const [index, span] of spans.entries()) {
    // A text that is far too long is not scanned again for each part.
    const length = span.text.length > left ? span.text.length : tagged(span, escapeHtml(span.text)).length;
    entities += entitiesOf(span);
    if (length <= left && entities <= MOST_ENTITIES) {
      head.push(span);
      left -= length;
      continue;
    }
    const end = entities > MOST_ENTITIES ? 0 : fittingEnd(span.text, left - tagged(span, '').length, head.length === 0);
    if (end > 0) head.push({ ...span, text: span.text.slice(0, end) });
    return atWordEnd(head, [{ ...span, text: span.text.slice(end) }, ...spans.slice(index + 1)]);
  }
  return [head, []];
}

function atWordEnd(head: Span[], tail: Span[]): readonly [Span[], Span[]] {
  const last = head.at(-1);
  const space = last === undefined ? -1 : last.text.lastIndexOf(' ') + 1;
  if (last === undefined || space === last.text.length) return [head, tail];
  const length = head.reduce((sum, { text }) => sum + text.length, 0);
  if (space <= 0 || length - (last.text.length - space) <= length / 2) return [head, tail];
  const word = { ...last, text: last.text.slice(space) };
  return [
    [...head.slice(0, -1), { ...last, text: last.text.slice(0, space) }],
    [word, ...tail],
  ];
}

/** @returns how much of the text has room: half of a visible sign only if it `mayTear`, and nothing else would be left */
function fittingEnd(text: string, room: number, mayTear: boolean): number {
  let left = room;
  let end = 0;
  for (const letter of text) {
    left -= escapeHtml(letter).length;
    if (left < 0) break;
    end += letter.length;
  }
  const cutSign = signsIn(text.slice(0, end + LONGEST_SIGN)).containing(end);
  return cutSign === undefined || (cutSign.index === 0 && mayTear) ? end : cutSign.index;
}

function areOneBlock(one: Line, other: Line): boolean {
  return one.code === other.code && one.isQuote === other.isQuote && (one.code !== null || one.isQuote);
}

function blockTags({ code, isQuote }: Line): readonly [string, string] {
  if (code === null) return isQuote ? QUOTE_TAGS : NO_TAGS;
  if (code.language === null) return ['<pre>', '</pre>'];
  return [`<pre><code class="language-${code.language}">`, '</code></pre>'];
}

/** @returns how many entities the line adds, its block's included; `before` is null for the first one */
export function entitiesAdded(line: MarkedLine, before: Line | null): number {
  const beginsBlock = (line.code !== null || line.isQuote) && (before === null || !areOneBlock(before, line));
  return line.entities + (beginsBlock ? 1 : 0);
}

function entitiesOf({ href, code, bold, italic, struck }: Span): number {
  const link = href === undefined ? 0 : 1;
  if (code === true) return link + 1;
  return link + (bold === true ? 1 : 0) + (italic === true ? 1 : 0) + (struck === true ? 1 : 0);
}

/** Code is within no other style, and no link holds code (https://core.telegram.org/bots/api#formatting-options). */
function tagged({ href, code, bold, italic, struck }: Span, html: string): string {
  if (code === true && href === undefined) return `<code>${html}</code>`;
  let all = html;
  if (struck === true) all = `<s>${all}</s>`;
  if (italic === true) all = `<i>${all}</i>`;
  if (bold === true) all = `<b>${all}</b>`;
  return href === undefined ? all : `<a href="${escapeHtml(href).replaceAll('"', '&quot;')}">${all}</a>`;
}
