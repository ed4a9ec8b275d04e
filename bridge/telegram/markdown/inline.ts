/** The content of a paragraph, a heading or a cell: Markdown's tokens as styled text. */
import type { Token } from 'markdown-it';
import { withoutEnd } from '../../../src/withoutEnd.js';
import type { Span } from './styledText.js';

type Style = Omit<Span, 'text'>;

export const PLAIN: Style = {};
const OPENED = { strong_open: { bold: true }, em_open: { italic: true }, s_open: { struck: true } } as const;

/** Line breaks become `\n` in the texts. */
export function spansOf(tokens: readonly Token[], outer: Style): Span[] {
  const spans: Span[] = [];
  const styles: Style[] = [outer];
  let link: { readonly href: string; readonly from: number } | null = null;
  /** An address within a link's label would be a link within a link: the outer one wins. */
  let depth = 0;
  const style = () => styles.at(-1) ?? outer;
  for (const token of tokens) {
    switch (token.type) {
      case 'text':
        if (token.content !== '') spans.push(styled(token.content, style()));
        break;
      case 'softbreak':
      case 'hardbreak':
        spans.push(styled('\n', style()));
        break;
      case 'code_inline':
        spans.push({ text: token.content, code: true });
        break;
      case 'strong_open':
      case 'em_open':
      case 's_open':
        styles.push({ ...style(), ...OPENED[token.type] });
        break;
      case 'strong_close':
      case 'em_close':
      case 's_close':
        styles.pop();
        break;
      case 'link_open':
        link ??= { href: attribute(token, 'href'), from: spans.length };
        depth += 1;
        break;
      case 'link_close':
        depth -= 1;
        if (link === null || depth > 0) break;
        spans.push(...shownLink(spans.splice(link.from), link.href));
        link = null;
        break;
      case 'image':
        spans.push(...imageSpans(token, style(), link !== null));
        break;
      default:
        break;
    }
  }
  return spans;
}

function styled(text: string, style: Style): Span {
  return style === PLAIN ? { text } : { ...style, text };
}

/** A picture is shown by its text, which links to it. Links within that text lead nowhere. */
function imageSpans(token: Token, style: Style, isLinked: boolean): Span[] {
  const source = attribute(token, 'src');
  const words = wordsOf(token.children ?? []);
  if (isLinked) return [{ ...style, text: words }];
  return shownLink([{ ...style, text: words === '' ? source : words }], source);
}

function wordsOf(tokens: readonly Token[]): string {
  const words = tokens.map(({ type, content, children }) => {
    if (type === 'image') return wordsOf(children ?? []);
    return type === 'softbreak' || type === 'hardbreak' ? '\n' : content;
  });
  return words.join('');
}

const UNEVEN = /[^\S ]| {2}/;

/** @returns the words on one line */
export function textOf(spans: readonly Span[]): string {
  let text = '';
  for (const span of spans) text += span.text;
  return (UNEVEN.test(text) ? text.replace(/\s+/g, ' ') : text).trim();
}

export function splitAtBreaks(spans: readonly Span[]): Span[][] {
  let line: Span[] = [];
  const lines = [line];
  for (const span of spans) {
    const [first = '', ...others] = span.text.includes('\n') ? span.text.split('\n') : [span.text];
    if (first !== '') line.push(others.length === 0 ? span : { ...span, text: first });
    for (const text of others) {
      line = text === '' ? [] : [{ ...span, text }];
      lines.push(line);
    }
  }
  return lines;
}

export function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '');
}

/** Addresses that Telegram turns into a link, and that cannot break out of their tag. */
const WEB_ADDRESS = /^https?:\/\/[^\s<>"]{1,2000}$/i;
const MAIL_ADDRESS = /^mailto:[^\s<>"]{1,300}$/i;

/** A link leads where its words show. An address that is no web page follows as text: it may be a file's path. */
function shownLink(label: readonly Span[], href: string): Span[] {
  const words = label.map(({ text }) => text).join('');
  if (WEB_ADDRESS.test(href)) {
    const shown = showsAnotherAddress(words, href) || words.trim() === '' ? [{ text: href }] : label;
    return shown.map((span) => ({ ...span, href }));
  }
  if (MAIL_ADDRESS.test(href)) return [...label];
  const address = decoded(href);
  return address === '' || words.includes(address) ? [...label] : [...label, { text: ` (${address})` }];
}

/** An address as its author wrote it; if that is not UTF-8, only its ASCII characters. */
export function decoded(href: string): string {
  try {
    return decodeURI(href);
  } catch {
    return href.replace(/%[2-7][\da-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  }
}

/**
 * A file's name also looks like an address; the name of the target's own file does not count as one. It begins at the first of its
 * names: a search from each of them would take quadratic time.
 */
const ADDRESS_IN_LABEL =
  /(?<![\p{L}\p{N}_-][.\u3002\uFF0E\uFF61]?)(?:[a-z][a-z\d+.-]*:\/\/)?(?:[\p{L}\p{N}_-]+[.\u3002\uFF0E\uFF61])+\p{L}{2,}(?:[:/?#]\S*)?/giu;
const ANY_DOT = /[.\u3002\uFF0E\uFF61]/;
const FILE_NAME = /^[\w.-]+\.(?:md|txt|ts|tsx|js|mjs|jsx|json|py|rs|go|sh|c|h|cc|cpp|java|rb|yml|yaml|toml|css|html)$/i;

/** @returns whether a reader of the label would expect another place than the link leads to */
function showsAnotherAddress(label: string, url: string): boolean {
  if (!ANY_DOT.test(label)) return false;
  const targets = [bareAddress(url), bareAddress(decoded(url))];
  if (targets.includes(bareAddress(label))) return false;
  return [...label.matchAll(ADDRESS_IN_LABEL)].some(([shown]) => !targets.some((target) => isOf(target, shown)));
}

function isOf(target: string, shown: string): boolean {
  if (FILE_NAME.test(shown) && target.split(/[?#]/)[0]?.endsWith(`/${shown.toLowerCase()}`) === true) return true;
  const bare = bareAddress(shown);
  return target === bare || ['/', '?', '#', ':'].some((end) => target.startsWith(bare + end));
}

function bareAddress(address: string): string {
  const bare = address
    .toLowerCase()
    .replace(/^[a-z][a-z\d+.-]*:\/\//, '')
    .replace(/^www\./, '');
  return withoutEnd(bare, /[\s.,;:!?/]/);
}
