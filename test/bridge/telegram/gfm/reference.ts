/**
 * What a person reads in the HTML that the specification gives for an example, with the differences that are meant: a chat has
 * no lists, rules, pictures or tables, so they are signs and letters there.
 */
import { type Element, type Node, parseTree } from './htmlTree.js';

/** Each is a row of the table in docs/internals/delivery.md. */
export type Difference =
  | 'list signs'
  | 'task boxes'
  | 'rules'
  | 'quotes in quotes'
  | 'link targets'
  | 'pictures'
  | 'tables'
  | 'tags as text'
  | 'nothing to see';

export interface Reference {
  /** Without empty ones and without the white space that HTML does not show. */
  readonly lines: readonly string[];
  /** The blocks of code, to the letter. */
  readonly code: readonly string[];
  readonly differences: ReadonlySet<Difference>;
}

const BLOCKS = ['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre', 'ul', 'ol', 'blockquote', 'hr', 'table'];

export function referenceOf(html: string): Reference {
  const reader = new Reader();
  reader.blocks(parseTree(html));
  const lines = reader.lines.filter((line) => line !== '');
  if (lines.length === 0) reader.differences.add('nothing to see');
  return { lines, code: reader.code, differences: reader.differences };
}

export function collapsed(line: string): string {
  return line.replace(/\s+/g, ' ').trim();
}

class Reader {
  readonly lines: string[] = [];
  readonly code: string[] = [];
  readonly differences = new Set<Difference>();
  /** What stands before a line: the sign of an item once, that of a quote within a quote each time. */
  #before: { sign: string; readonly rest: string }[] = [];
  #quotes = 0;

  blocks(nodes: readonly Node[]): void {
    let words: Node[] = [];
    for (const node of nodes) {
      if (typeof node === 'string' || !BLOCKS.includes(node.tag)) {
        words.push(node);
        continue;
      }
      this.#paragraph(words);
      words = [];
      this.#block(node);
    }
    this.#paragraph(words);
  }

  #block(element: Element): void {
    const { tag, children } = element;
    if (tag === 'pre') this.#code(this.#text(children));
    else if (tag === 'hr') this.#rule();
    else if (tag === 'table') this.#table(element);
    else if (tag === 'blockquote') this.#quote(children);
    else if (tag === 'ul' || tag === 'ol') this.#list(element);
    else this.#paragraph(children);
  }

  #paragraph(nodes: readonly Node[]): void {
    const text = this.#text(nodes);
    if (/^\n*$/.test(text)) return;
    for (const line of text.replace(/^\n+|\n+$/g, '').split('\n')) this.#say(line);
  }

  #say(line: string): void {
    const before = this.#before.map((each) => {
      const { sign } = each;
      each.sign = each.rest;
      return sign;
    });
    this.lines.push(collapsed([...before, line].join('')));
  }

  /** Within an item or a quote it stands by itself. */
  #code(text: string): void {
    if (this.#before.some(({ sign, rest }) => sign !== rest)) this.#say('');
    const code = text.replace(/\n$/, '');
    if (code !== '') this.code.push(code);
    this.lines.push(...code.split('\n').map(collapsed));
  }

  #rule(): void {
    this.differences.add('rules');
    this.#say('———');
  }

  #quote(children: readonly Node[]): void {
    this.#quotes += 1;
    const isInner = this.#quotes > 1;
    if (isInner) this.#before.push({ sign: '> ', rest: '> ' });
    if (isInner) this.differences.add('quotes in quotes');
    this.blocks(children);
    if (isInner) this.#before.pop();
    this.#quotes -= 1;
  }

  #list({ tag, attributes, children }: Element): void {
    this.differences.add('list signs');
    let number = Number(attributes.start ?? 1);
    for (const item of children) {
      if (typeof item === 'string') continue;
      const box = item.children.find((node) => typeof node !== 'string' && node.tag === 'input') as Element | undefined;
      if (box !== undefined) this.differences.add('task boxes');
      const sign = box !== undefined ? ('checked' in box.attributes ? '☑' : '☐') : tag === 'ol' ? `${number}.` : '•';
      number += 1;
      const own = { sign: `${sign} `, rest: '' };
      this.#before.push(own);
      this.blocks(item.children);
      if (own.sign !== '') this.#say('');
      this.#before.pop();
    }
  }

  #table(table: Element): void {
    this.differences.add('tables');
    if (this.#before.some(({ sign, rest }) => sign !== rest)) this.#say('');
    const rows = elements(table).flatMap((part) => elements(part));
    for (const [index, row] of rows.entries()) {
      const cells = elements(row).map((cell) => collapsed(this.#text(cell.children)));
      this.lines.push(collapsed(cells.join(' │ ')));
      if (index === 0) this.lines.push('─');
    }
  }

  #text(nodes: readonly Node[], isLinked = false): string {
    return nodes
      .map((node) => {
        if (typeof node === 'string') return node;
        if (node.tag === 'img') return this.#picture(node, isLinked);
        if (node.tag === 'a') return this.#leading(this.#text(node.children, true), node.attributes.href ?? '');
        return this.#text(node.children, isLinked);
      })
      .join('');
  }

  #picture({ attributes }: Element, isLinked: boolean): string {
    this.differences.add('pictures');
    const { alt = '', src = '' } = attributes;
    if (isLinked) return alt;
    return this.#leading(alt === '' ? src : alt, src);
  }

  /** A page's address is behind its label; any other target, a file's path for example, stands beside it. */
  #leading(label: string, target: string): string {
    const address = /%(?![\da-f]{2})/i.test(target) ? target : decodeURI(target);
    const isPage = /^https?:/i.test(target);
    if (isPage && label.trim() !== '') return label;
    if (!isPage && (address === '' || /^mailto:/i.test(target) || label.includes(address))) return label;
    this.differences.add('link targets');
    return isPage ? target : `${label} (${address})`;
  }
}

function elements({ children }: Element): Element[] {
  return children.filter((node): node is Element => typeof node !== 'string');
}
