/** The content of a paragraph, a heading or a cell: Markdown's tokens as styled text. */
import type { Token } from 'markdown-it';
import { shownLink } from './linkLabel.js';
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
