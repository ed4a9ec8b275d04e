/**
 * Words of people, tools and agents in a Markdown document that a person may paste to GitHub: they are shown, and do nothing there. The
 * document is also read as it is, in a terminal, so nothing invisible is put into it.
 */
import { oneLine, visible } from './visibleText.js';

/** GitHub links, notifies or closes something by them: `@ann`, `#12`, `GH-12`, addresses, hashes. In code it does not. */
const ACTED_ON = /@(?=[\w-])|#(?=\d)|\bGH-(?=\d)|:\/\/|www\.|(?<![0-9A-Z_])[0-9a-f]{7,40}(?![0-9A-Z_])/i;
/** A word, without the brackets and the punctuation around it. */
const TOKEN = /^([([{"'<*_]*)(.*?)([)\]}"'>*_.,;:!?]*)$/;
const CODE = /(?<![\\`])(`+)(?!`)(?<code>.+?)(?<!`)\1(?!`)/;
/** Each part has a bound, because a search for its end begins at each bracket. A longer link is shown as it is typed. */
const LINK =
  /!?\[(?<text>(?:[^\]`]|`[^`]{0,200}`){0,500})\]\(\s{0,9}<?(?<address>[^)\s>]{1,1000})(?:[\s>][^)]{0,500})?\)/;
const CODE_ALONE = new RegExp(CODE, 'g');
const CODE_OR_LINK = new RegExp(`${CODE.source}|${LINK.source}`, 'g');
/** The beginning of a tag, and of a character by its name. */
const HTML = /<(?=[a-z/!?])|&(?=#?\w+;)/.source;
/** Ends the text of a link, a footnote or a definition. */
const LINK_END = /\](?=[([:])/.source;
/** Signs that may be markup anywhere in a line. An underscore within a word is none. */
const MARKUP = new RegExp(
  `[\`*~|$]|${HTML}|${LINK_END}|${/\\(?=[!-/:-@[-`{-~]|$)|(?<![a-z0-9])_|_(?![a-z0-9])/.source}`,
  'gi',
);
/** In Markdown that stays Markdown. A backslash before them would undo ours; a run of backslashes is searched once. */
const UNSAFE = new RegExp(`(?<!\\\\)\\\\*(\`|${HTML}|${LINK_END})`, 'gi');
/** A line that begins so is a heading, a quotation, a list, a rule, a task. */
const BLOCK = /^\s*(?:\d+(?=[.)](?:\s|$))|(?=#+(?:\s|$)|>|[-+=]+(?:\s|$)|\[[ x]\]))/i;
const TOP_HEADING = /^([\s>*+\-\d.)]*?)#{1,2}(?=\s|$)/;
/** Makes a heading of the line above. */
const UNDERLINE = /^([\s>]*)(?=(?:=+|-+)$)/;
const FENCE = /^\s*(?:(`{3,})[^`]*|(~{3,}).*)$/;

/** @returns one line of Markdown that shows the text literally. Only code in it stays code */
export function inMarkdown(text: string): string {
  const line = aroundCode(oneLine(text), CODE_ALONE, (words) => words.replace(MARKUP, '\\$&'));
  return line.replace(BLOCK, '$&\\');
}

/** @returns the text as code, which nothing in it can end */
export function inCode(text: string): string {
  const line = oneLine(text);
  if (line === '') return '';
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const mark = '`'.repeat(longest + 1);
  const space = longest > 0 ? ' ' : '';
  return `${mark}${space}${line}${space}${mark}`;
}

/**
 * @param text Markdown of an agent or a person
 * @returns its lines. Lists, emphasis and code stay; its headings cannot be taken for those of the document around it
 */
export function foreignMarkdown(text: string): string[] {
  const fences = new Fences();
  const lines = visible(text.replaceAll('\r\n', '\n'))
    .split('\n')
    .map((raw) => {
      const { open } = fences;
      const kind = fences.take(raw);
      if (kind === 'text') return foreignLine(raw);
      if (kind === 'code') return raw;
      // Indented, it might be the middle of a paragraph.
      return open ?? raw.trim();
    });
  return fences.open === null ? lines : [...lines, fences.open];
}

/** Follows the lines of a document, to know which of them are code between two fences. */
export class Fences {
  /** The marks that end the code; null outside of code. */
  open: string | null = null;

  /** @returns what the next line is */
  take(line: string): 'text' | 'begin' | 'code' | 'end' {
    const [, ticks, waves] = FENCE.exec(line) ?? [];
    const marks = ticks ?? waves ?? null;
    if (this.open !== null) {
      if (marks?.startsWith(this.open) !== true || line.trim() !== marks) return 'code';
      this.open = null;
      return 'end';
    }
    this.open = marks;
    return marks === null ? 'text' : 'begin';
  }
}

function foreignLine(line: string): string {
  const below = line.trimEnd().replace(TOP_HEADING, '$1###').replace(UNDERLINE, '$1\\');
  return aroundCode(below, CODE_OR_LINK, (words) => words.replace(UNSAFE, '\\$1'));
}

/** @param escaped for what is neither code nor something that GitHub acts upon */
function aroundCode(line: string, apart: RegExp, escaped: (words: string) => string): string {
  const shown = (words: string) => words.replace(/\S+/g, (token) => tokenIn(token, escaped));
  const parts: string[] = [];
  let from = 0;
  for (const { 0: all, index, groups } of line.matchAll(apart)) {
    const { code, text = '', address = '' } = groups ?? {};
    // The address of a link is shown: it says where it leads.
    const link = () => `${aroundCode(text, apart, escaped)} (${shown(address)})`;
    parts.push(shown(line.slice(from, index)), code === undefined ? link() : inCode(code.trim()));
    from = index + all.length;
  }
  const filled = [...parts, shown(line.slice(from))].filter(Boolean);
  const isBehindCode = (part: string, at: number) => part.startsWith('`') && filled[at - 1]?.endsWith('`') === true;
  // Two pieces of code next to each other would be one.
  return filled.map((part, at) => (isBehindCode(part, at) ? ` ${part}` : part)).join('');
}

function tokenIn(token: string, escaped: (words: string) => string): string {
  if (!ACTED_ON.test(token)) return escaped(token);
  const [, before = '', words = '', after = ''] = TOKEN.exec(token) ?? [];
  return `${escaped(before)}${inCode(words)}${escaped(after)}`;
}
