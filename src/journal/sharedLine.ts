/**
 * Lines on which several records stand: a program was killed before it had written a line's end, and the next one continued there. The
 * records before and after what is torn are whole.
 */
const [QUOTE, BACKSLASH, OPENING_BRACE, CLOSING_BRACE] = [0x22, 0x5c, 0x7b, 0x7d];
/** After these, an object may be a part of the torn record. */
const BEFORE_A_PART = ':,[';
/** Between records, such as zeros left by a crashed file system. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: zeros are what is looked for
const GAP = /[\u0000-\u0020]*/y;

export interface SharedLine<Parsed> {
  readonly records: readonly Parsed[];
  /** Something else is on the line, too. */
  readonly isTorn: boolean;
}

/** Cheap: most lines that are damaged hold no other record. */
export function mayBeShared(text: string): boolean {
  return text.indexOf('{"', 1) > 0 && (text.charCodeAt(0) === OPENING_BRACE || text.trimEnd().endsWith('}'));
}

/**
 * @param text a line that is not one record
 * @param parse as the reader of lines parses one record
 */
export function recordsOn<Parsed extends { readonly timestamp?: unknown }>(
  text: string,
  parse: (text: string) => Parsed | null,
): SharedLine<Parsed> {
  const first: Parsed[] = [];
  let from = 0;
  for (let end = endOfObject(text, 0); end > 0; end = endOfObject(text, from)) {
    const record = parse(text.slice(from, end));
    if (record === null) break;
    first.push(record);
    from = afterGap(text, end);
  }
  const last: Parsed[] = [];
  let to = beforeGap(text, text.length);
  for (let start = startOfObject(text, from, to); start >= 0; start = startOfObject(text, from, to)) {
    const record = parse(text.slice(start, to));
    if (record === null || (start > from && mayBePart(text, start) && typeof record.timestamp !== 'string')) break;
    last.unshift(record);
    to = beforeGap(text, start);
    if (to <= from) break;
  }
  return { records: [...first, ...last], isTorn: to > from };
}

/** @returns where the object that begins at `from` has ended; -1 if none begins there, or it has no end */
function endOfObject(text: string, from: number): number {
  if (text.charCodeAt(from) !== OPENING_BRACE) return -1;
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at);
      if (at < 0) return -1;
    } else if (code === OPENING_BRACE) depth += 1;
    else if (code === CLOSING_BRACE) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** @returns the place of the mark that ends the text which begins at `from`; -1 if it has no end */
function endOfText(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1);
  while (quote >= 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote;
}

/** @returns where the object that ends at `to` begins, not before `from`; -1 if none ends there */
function startOfObject(text: string, from: number, to: number): number {
  if (to <= from || text.charCodeAt(to - 1) !== CLOSING_BRACE) return -1;
  let depth = 0;
  let isInText = false;
  for (let at = to - 1; at >= from; at -= 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInText = isInText === isEscaped(text, at);
    else if (isInText) continue;
    else if (code === CLOSING_BRACE) depth += 1;
    else if (code === OPENING_BRACE) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function isEscaped(text: string, place: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(place - slashes - 1) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}

function mayBePart(text: string, start: number): boolean {
  const before = text.charAt(beforeGap(text, start) - 1);
  return before !== '' && BEFORE_A_PART.includes(before);
}

function afterGap(text: string, from: number): number {
  GAP.lastIndex = from;
  GAP.exec(text);
  return GAP.lastIndex;
}

function beforeGap(text: string, to: number): number {
  let at = to;
  while (at > 0 && text.charCodeAt(at - 1) <= 0x20) at -= 1;
  return at;
}
