/**
 * An answer's Markdown as lines of styled text, the material of messages. GitHub's flavour (https://github.github.com/gfm/),
 * because coding agents write it.
 *
 * Elements that Telegram cannot show become text: headings are bold, tables are aligned in a block of code, a list has its
 * signs, a quote within a quote keeps its `>`. HTML tags stay as written, except `<br>`.
 */
import MarkdownIt, { type Token } from 'markdown-it';
import { attribute, PLAIN, spansOf, splitAtBreaks, textOf } from './inline.js';
import { addStrikethrough } from './strikethrough.js';
import { type Line, plainLines, type Span } from './styledText.js';
import { type Align, alignedTable } from './table.js';

const LANGUAGE = /^[A-Za-z0-9_+#.-]{1,20}$/;
const TASK = /^\[([ xX])\](?=\s)/;
const LINE_BREAK = /<br ?\/?>/iy;
/** Two below the parser's own limit. */
const DEEPEST = 98;
const RULE = '———';

/** HTML tags are an agent's own text; clients themselves turn what looks like an address into a link. */
const parser = new MarkdownIt({ html: false, linkify: false });
addStrikethrough(parser);
parser.inline.ruler.after('autolink', 'br', (state, isSilent) => {
  LINE_BREAK.lastIndex = state.pos;
  const found = state.src[state.pos] === '<' ? LINE_BREAK.exec(state.src) : null;
  if (found === null) return false;
  if (!isSilent) state.push('hardbreak', 'br', 0);
  state.pos += found[0].length;
  return true;
});

/** @returns the Markdown with its escapes and entities replaced by their characters */
export function unescaped(markdown: string): string {
  return parser.utils.unescapeAll(markdown);
}

/** @returns the lines, without an empty one at either end */
export function linesOf(markdown: string): Line[] {
  const writer = new Writer();
  const tokens = parser.parse(markdown, {});
  // The parser leaves out anything deeper.
  if (tokens.some(({ level }) => level >= DEEPEST)) return plainLines(markdown);
  let tableEnd = 0;
  for (const [index, token] of tokens.entries()) {
    if (index < tableEnd) continue;
    writer.take(token, tokens, index);
    if (token.type !== 'table_open') continue;
    for (tableEnd = index; tokens[tableEnd]?.type !== 'table_close'; ) tableEnd += 1;
    writer.writeCode(tableText(tokens.slice(index, tableEnd)), null);
  }
  return writer.lines;
}

interface Item {
  readonly marker: string;
  readonly rest: string;
  isBegun: boolean;
}

interface List {
  number: number | null;
}

class Writer {
  readonly lines: Line[] = [];
  readonly #items: Item[] = [];
  readonly #lists: List[] = [];
  #quotes = 0;
  #isHeading = false;
  /** The last output is directly above what comes next. */
  #isFresh = true;

  take(token: Token, tokens: readonly Token[], index: number): void {
    switch (token.type) {
      case 'paragraph_open':
        if (!token.hidden) this.#gap();
        break;
      case 'heading_open':
        this.#gap();
        this.#isHeading = true;
        break;
      case 'heading_close':
        this.#isHeading = false;
        break;
      case 'inline':
        this.#write(spansOf(token.children ?? [], this.#isHeading ? { bold: true } : PLAIN));
        break;
      case 'table_open':
        this.#gap();
        break;
      case 'fence':
      case 'code_block':
        this.#gap();
        this.writeCode(token.content.replace(/\n$/, ''), languageOf(token.info));
        break;
      case 'hr':
        this.#gap();
        this.#write([{ text: RULE }]);
        break;
      case 'blockquote_open':
        this.#gap();
        this.#quotes += 1;
        if (this.#quotes > 1) this.#items.push({ marker: '> ', rest: '> ', isBegun: true });
        this.#isFresh = true;
        break;
      case 'blockquote_close':
        if (this.#quotes > 1) this.#items.pop();
        this.#quotes -= 1;
        this.#isFresh = false;
        break;
      default:
        this.#takeList(token, tokens, index);
    }
  }

  #takeList(token: Token, tokens: readonly Token[], index: number): void {
    switch (token.type) {
      case 'bullet_list_open':
      case 'ordered_list_open':
        this.#lists.push({ number: token.type === 'ordered_list_open' ? Number(token.attrGet('start') ?? 1) : null });
        if (this.#items.length === 0) this.#gap();
        this.#isFresh = true;
        break;
      case 'bullet_list_close':
      case 'ordered_list_close':
        this.#lists.pop();
        this.#isFresh = false;
        break;
      case 'list_item_open':
        if (isLoose(tokens, index)) this.#gap();
        this.#beginItem(tokens[index + 2]);
        break;
      case 'list_item_close':
        this.#endItem();
        break;
      default:
        break;
    }
  }

  /** An empty line before a block, unless it is the first one of its container. */
  #gap(): void {
    if (!this.#isFresh) this.lines.push({ spans: [], isQuote: this.#quotes > 0, code: null });
    this.#isFresh = true;
  }

  #beginItem(first: Token | undefined): void {
    const list = this.#lists.at(-1);
    const number = list?.number ?? null;
    if (list !== undefined && number !== null) list.number = number + 1;
    const text = first?.children?.[0];
    const task = first?.type === 'inline' && text?.type === 'text' ? TASK.exec(text.content) : null;
    if (task !== null && text !== undefined) text.content = text.content.slice(task[0].length).trimStart();
    const sign = task === null ? (number === null ? '•' : `${number}.`) : task[1] === ' ' ? '☐' : '☑';
    this.#items.push({ marker: `${sign} `, rest: ' '.repeat(sign.length + 1), isBegun: false });
    this.#isFresh = true;
  }

  #endItem(): void {
    if (this.#items.at(-1)?.isBegun === false) this.#write([]);
    this.#items.pop();
    this.#isFresh = false;
  }

  #write(spans: readonly Span[]): void {
    for (const line of splitAtBreaks(spans)) {
      const prefix = this.#prefix();
      const all = prefix === '' ? line : [{ text: prefix }, ...line];
      this.lines.push({ spans: all, isQuote: this.#quotes > 0, code: null });
    }
    this.#isFresh = false;
  }

  /** Telegram has no code within a quote, and no indented code. */
  writeCode(text: string, language: string | null): void {
    if (this.#items.some(({ isBegun }) => !isBegun)) this.#write([]);
    this.lines.push({ spans: [{ text }], isQuote: false, code: { language } });
    this.#isFresh = false;
  }

  #prefix(): string {
    let prefix = '';
    for (const item of this.#items) {
      prefix += item.isBegun ? item.rest : item.marker;
      item.isBegun = true;
    }
    return prefix;
  }
}

function tableText(tokens: readonly Token[]): string {
  const rows: string[][] = [];
  const aligns: Align[] = [];
  for (const token of tokens) {
    if (token.type === 'tr_open') rows.push([]);
    if (token.type === 'th_open') aligns.push(alignOf(token));
    if (token.type === 'inline') rows.at(-1)?.push(textOf(spansOf(token.children ?? [], PLAIN)));
  }
  return alignedTable(rows, aligns);
}

function alignOf(token: Token): Align {
  const style = attribute(token, 'style');
  if (style.endsWith('right')) return 'right';
  return style.endsWith('center') ? 'center' : 'left';
}

function isLoose(tokens: readonly Token[], index: number): boolean {
  const next = tokens[index + 1];
  return next?.type === 'paragraph_open' && !next.hidden;
}

function languageOf(info: string): string | null {
  const language = info.trim().split(/\s/)[0] ?? '';
  return LANGUAGE.test(language) ? language : null;
}
