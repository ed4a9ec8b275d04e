/**
 * Finds the literal values of our own secrets in the forms in which they occur: escaped, encoded, in other case, over two
 * lines.
 *
 * Every text passes through here, and hardly any contains a secret. So a quick search comes first (after Wu and Manber, "A fast
 * algorithm for multi-pattern searching", 1994): it looks for a piece of any form and skips most characters. Only where it
 * finds one, the whole form is compared.
 */

/** Shorter values are part of too many harmless words. */
const SHORTEST_SECRET = 6;
const SHORTEST_PIECE = 6;
/** A form that is broken at a line end keeps a half; one in base64, broken at 76 characters, a third. */
const MOST_PIECES = 3;
const HASHES = 16_384;
const LONGEST_WINDOW = 200;
/** A line end within a form, as it is or as in JSON, with the characters that may surround it. */
const LINE_END = String.raw`[ \t]{0,8}\\{0,15}(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n)[ \t>|#*]{0,16}`;
const LINE_END_HERE = new RegExp(LINE_END, 'y');
const LINE_END_BEFORE = new RegExp(`${LINE_END}$`);
const LONGEST_LINE_END = 64;

/**
 * @param secrets values under 6 characters are ignored
 * @returns a function that replaces each of them by the marker
 */
export function ownSecretsReplacer(secrets: readonly string[], marker: string): (text: string) => string {
  const forms = new Set(secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap(formsOf));
  if (forms.size === 0) return (text) => text;
  const search = new Search([...forms].map((form) => form.toLowerCase()));
  return (text) => search.replace(text, marker);
}

interface Piece {
  readonly text: string;
  /** Its position in the form. */
  readonly offset: number;
  readonly form: string;
}

interface Place {
  readonly from: number;
  readonly to: number;
}

class Search {
  readonly #length: number;
  /** By the hash of two characters: how far the end of the window may advance. */
  readonly #shifts: Uint8Array;
  readonly #buckets = new Map<number, Piece[]>();

  /** @param forms in lower case; other case is found, too */
  constructor(forms: readonly string[]) {
    const pieces = forms.flatMap(piecesOf);
    const length = Math.min(...pieces.map(({ text }) => text.length), LONGEST_WINDOW);
    this.#length = length;
    this.#shifts = new Uint8Array(HASHES).fill(length - 1);
    for (const piece of pieces) {
      for (let at = 1; at < length; at += 1) {
        const hash = hashOf(piece.text.charCodeAt(at - 1), piece.text.charCodeAt(at));
        this.#shifts[hash] = Math.min(this.#shifts[hash] ?? 0, length - 1 - at);
        if (at < length - 1) continue;
        this.#buckets.set(hash, [...(this.#buckets.get(hash) ?? []), { ...piece, text: piece.text.slice(0, length) }]);
      }
    }
  }

  replace(text: string, marker: string): string {
    const shifts = this.#shifts;
    const length = this.#length;
    let result = '';
    let copied = 0;
    for (let at = length - 1; at < text.length; ) {
      const hash = hashOf(text.charCodeAt(at - 1), text.charCodeAt(at));
      const shift = shifts[hash] ?? 0;
      at += shift;
      if (shift > 0) continue;
      const place = this.#placeAt(text, at - length + 1, hash, copied);
      at += 1;
      if (place === null) continue;
      result += text.slice(copied, place.from) + marker;
      copied = place.to;
      at = Math.max(at, place.to + length - 1);
    }
    return copied === 0 ? text : result + text.slice(copied);
  }

  /** @returns the longest of the forms whose piece begins there, so that no secret hides the rest of a longer one */
  #placeAt(text: string, from: number, hash: number, free: number): Place | null {
    const piece = text.slice(from, from + this.#length).toLowerCase();
    let longest: Place | null = null;
    for (const candidate of this.#buckets.get(hash) ?? []) {
      if (candidate.text !== piece) continue;
      const place = placeOf(text, from, candidate, free);
      if (place !== null && place.to - place.from > (longest === null ? 0 : longest.to - longest.from)) longest = place;
    }
    return longest;
  }
}

/** @returns the position of the whole form of which a piece is at `from`, across line ends; null if the rest differs */
function placeOf(text: string, from: number, { form, offset }: Piece, free: number): Place | null {
  let begin = from;
  for (let index = offset - 1; index >= 0; index -= 1) {
    if (!isAt(text, begin - 1, form, index)) {
      const end = LINE_END_BEFORE.exec(text.slice(Math.max(free, begin - LONGEST_LINE_END), begin));
      if (end === null) return null;
      begin -= end[0].length;
      if (!isAt(text, begin - 1, form, index)) return null;
    }
    begin -= 1;
  }
  let to = from;
  for (let index = offset; index < form.length; index += 1) {
    if (!isAt(text, to, form, index)) {
      LINE_END_HERE.lastIndex = to;
      if (!LINE_END_HERE.test(text)) return null;
      to = LINE_END_HERE.lastIndex;
      if (!isAt(text, to, form, index)) return null;
    }
    to += 1;
  }
  return begin < free ? null : { from: begin, to };
}

function isAt(text: string, at: number, form: string, index: number): boolean {
  return text.charAt(at).toLowerCase() === form.charAt(index);
}

/** The same for both cases of a letter. */
function hashOf(first: number, second: number): number {
  return ((first | 32) * 61 + (second | 32)) & (HASHES - 1);
}

function piecesOf(form: string): Piece[] {
  const count = Math.max(1, Math.min(MOST_PIECES, Math.floor(form.length / SHORTEST_PIECE)));
  const length = Math.floor(form.length / count);
  return Array.from({ length: count }, (_, index) => {
    const offset = index * length;
    return { text: form.slice(offset, offset + length), offset, form };
  });
}

function formsOf(secret: string): string[] {
  const wellFormed = Buffer.from(secret, 'utf8').toString('utf8');
  const bytes = Buffer.from(wellFormed, 'utf8');
  const urlEncoded = encodeURIComponent(wellFormed);
  const json = inJson(secret);
  return [
    secret,
    json,
    inJson(json),
    inJson(inJson(json)),
    urlEncoded,
    encodeURIComponent(urlEncoded),
    new URLSearchParams({ '': wellFormed }).toString().slice(1),
    bytes.toString('hex'),
    [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    ...htmlForms(wellFormed),
    ...base64Forms(bytes),
  ];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

const NAMED_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function htmlForms(secret: string): string[] {
  const named = secret.replace(/[&<>"]/g, (character) => NAMED_ENTITIES[character] ?? character);
  const numbered = (text: string, which: RegExp, write: (code: number) => string) =>
    text.replace(which, (character) => write(character.codePointAt(0) ?? 0));
  const decimal = (code: number) => `&#${code};`;
  const hex = (code: number) => `&#x${code.toString(16)};`;
  return [
    named,
    named.replaceAll("'", '&#39;'),
    named.replaceAll("'", '&#x27;').replaceAll('/', '&#x2F;'),
    named.replaceAll("'", '&apos;'),
    ...[/[^A-Za-z0-9]/gu, /./gsu].flatMap((which) => [numbered(secret, which, decimal), numbered(secret, which, hex)]),
  ];
}

/**
 * Base64 of a text that contains the secret, as in `Basic dXNlcjp…`: three alignments, in both alphabets. Characters that mix
 * the secret's bits with its neighbours' are left out.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    const form = text.slice(first, end);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
