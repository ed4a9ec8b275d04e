/**
 * Just enough of TypeScript's lexical grammar to tell code from comments, texts and regular expressions. Written by hand
 * because the compiler offers no stable programming interface in this version.
 */

/** What may stand before a regular expression; anywhere else a slash divides. */
const BEFORE_REGEX =
  /(?:^|[([{,;:=!&|?+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|await|yield|void|delete|throw|new))\s*$/;

/**
 * @param text a source file
 * @returns the same length of text with the contents of comments, texts and regular expressions made blank; quotes stay
 */
export function codeOnly(text: string): string {
  const out = text.split('');
  scan(text, 0, out, false);
  return out.join('');
}

/** @returns the position behind the code; with `inTemplate` it ends at the closing brace of `${` */
function scan(text: string, start: number, out: string[], inTemplate: boolean): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const char = text.charAt(at);
    const pair = text.slice(at, at + 2);
    if (pair === '//') at = blank(out, at, endOf(text, '\n', at, 0));
    else if (pair === '/*') at = blank(out, at, endOf(text, '*/', at + 2, 2));
    else if (char === "'" || char === '"') at = skipText(text, at, out);
    else if (char === '`') at = skipTemplate(text, at, out);
    else if (char === '/' && BEFORE_REGEX.test(out.slice(Math.max(start, at - 60), at).join('')))
      at = skipRegex(text, at, out);
    else {
      if (char === '{') depth += 1;
      if (char === '}') depth -= 1;
      at += 1;
      if (inTemplate && depth < 0) return at;
    }
  }
  return at;
}

function skipText(text: string, start: number, out: string[]): number {
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== text.charAt(start) && text.charAt(at) !== '\n') {
    at += text.charAt(at) === '\\' ? 2 : 1;
  }
  blank(out, start + 1, at);
  return at + 1;
}

function skipTemplate(text: string, start: number, out: string[]): number {
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== '`') {
    if (text.startsWith('${', at)) at = scan(text, at + 2, out, true);
    else at = blank(out, at, at + (text.charAt(at) === '\\' ? 2 : 1));
  }
  return at + 1;
}

function skipRegex(text: string, start: number, out: string[]): number {
  let inClass = false;
  let at = start + 1;
  for (; at < text.length && text.charAt(at) !== '\n'; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) break;
  }
  blank(out, start + 1, at);
  return at + 1;
}

function endOf(text: string, mark: string, from: number, length: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + length;
}

function blank(out: string[], from: number, to: number): number {
  for (let at = from; at < Math.min(to, out.length); at += 1) if (out[at] !== '\n') out[at] = ' ';
  return to;
}

/** @returns what the file imports or re-exports, as it is written there, dynamic imports included */
export function importsOf(text: string): string[] {
  const code = codeOnly(text);
  const found: string[] = [];
  const beginnings = /\b(?:import|export)\b(?=[\s{*("'])[^;"'`]*?(["'])|\bimport\s*\(\s*(["'`])/g;
  for (const match of code.matchAll(beginnings)) {
    const isImport = /^import\s*["'(]/.test(match[0]) || /\bfrom\s*["']$/.test(match[0]);
    if (!isImport) continue;
    const quote = match[1] ?? match[2] ?? '';
    const begin = match.index + match[0].length;
    found.push(text.slice(begin, text.indexOf(quote, begin)));
  }
  return found;
}
