/**
 * Finds the literal values of our own secrets in all their forms: escaped, encoded, in other case, mixed with other signs.
 *
 * Every text passes through here, and hardly any contains a secret. So a quick search comes first (after Wu and Manber, "A fast
 * algorithm for multi-pattern searching", 1994): it looks for a piece of any form and skips most characters. Only where it
 * finds one, the whole form is compared.
 */

import { beginOfHead, endOfRest } from './looseMatch.js';
import { dumpsOf, formsOf, mayHaveDump } from './secretForms.js';
import { matchEnd } from './stickyMatch.js';
import { codesOf } from './textCodes.js';

/** Shorter values are part of too many harmless words. */
const SHORTEST_SECRET = 6;
const SHORTEST_PIECE = 6;
/** The longer the pieces, the more of a text is skipped. */
const USUAL_PIECE = 8;
/** A shorter form has shorter pieces: it would give too few usual ones, and colours could leave none of them whole. */
const SHORT_FORM = 4 * USUAL_PIECE;
/** One has to be whole. Colours are in some places of a secret, a line end in one of three thirds of base64. */
const PIECES_OF_SECRET = 5;
const PIECES_OF_FORM = 3;
/** Each line of a dump has some bytes. */
const PIECES_OF_DUMP = 64;
/** As much of a piece is compared: less is part of other words. */
const LONGEST_PIECE = 12;
const IN_DUMP = /^[0-9a-f]{2,8}(?: [0-9a-f]{2,8})+$/;
const HASHES = 16_384;
const LONGEST_WINDOW = 200;
/** The rest of a line of a hex dump that shows the bytes as characters, too. */
const REST_OF_DUMP = /(?: {1,2}[0-9a-f]{2,8}){0,15} {1,60}[|>]?[^\n\\ ][^\n\\]{0,15}[|<]?(?=[\n\\]|$)/y;

/** @param secrets values under 6 characters are ignored @returns a function that replaces the others by the marker */
export function ownSecretsReplacer(secrets: readonly string[], marker: string): (text: string) => string {
  const known = secrets.filter(({ length }) => length >= SHORTEST_SECRET);
  if (known.length === 0) return (text) => text;
  const search = new Search([
    ...known.flatMap((secret) => piecesOf(secret, PIECES_OF_SECRET)),
    ...piecesOfForms(known.flatMap(formsOf), PIECES_OF_FORM),
  ]);
  // Their spaces and commas would make every other search slow.
  let dumps: Search | null = null;
  return (text) => {
    const clean = search.replace(text, marker);
    if (!mayHaveDump(clean)) return clean;
    dumps ??= new Search(piecesOfForms(known.flatMap(dumpsOf), PIECES_OF_DUMP));
    return dumps.replace(clean, marker);
  };
}

interface Piece {
  readonly text: string;
  /** Its position in the form. */
  readonly offset: number;
  readonly form: string;
  readonly isDump: boolean;
  /** The code of its first character, the same for both cases of a letter. */
  readonly first: number;
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

  constructor(pieces: readonly Piece[]) {
    const length = Math.min(...pieces.map(({ text }) => text.length), LONGEST_WINDOW);
    this.#length = length;
    this.#shifts = new Uint8Array(HASHES).fill(length - 1);
    for (const piece of pieces) {
      for (let at = 1; at < length; at += 1) {
        const hash = hashOf(piece.text.charCodeAt(at - 1), piece.text.charCodeAt(at));
        this.#shifts[hash] = Math.min(this.#shifts[hash] ?? 0, length - 1 - at);
        if (at < length - 1) continue;
        this.#buckets.set(hash, [...(this.#buckets.get(hash) ?? []), piece]);
      }
    }
  }

  replace(text: string, marker: string): string {
    const codes = codesOf(text);
    const shifts = this.#shifts;
    const length = this.#length;
    let result = '';
    let copied = 0;
    for (let at = length - 1; at < text.length; ) {
      const hash = hashOf(codes[at - 1] ?? 0, codes[at] ?? 0);
      const shift = shifts[hash] ?? 0;
      at += shift;
      if (shift > 0) continue;
      const place = this.#placeAt(text, at - length + 1, this.#buckets.get(hash) ?? [], copied);
      at += 1;
      if (place === null) continue;
      result += text.slice(copied, place.from) + marker;
      copied = place.to;
      at = Math.max(at, place.to + length - 1);
    }
    return copied === 0 ? text : result + text.slice(copied);
  }

  /** @returns the longest of the forms whose piece begins there, so that no secret hides the rest of a longer one */
  #placeAt(text: string, from: number, pieces: readonly Piece[], free: number): Place | null {
    const first = text.charCodeAt(from) | 32;
    let longest: Place | null = null;
    for (const piece of pieces) {
      if (piece.first !== first) continue;
      const to = from + piece.text.length;
      if (text.slice(from, to).toLowerCase() !== piece.text) continue;
      const place = placeOf(text, { from, to }, piece, free);
      if (place !== null && place.to - place.from > (longest === null ? 0 : longest.to - longest.from)) longest = place;
    }
    return longest;
  }
}

/** @returns the position of the whole form around the piece; null if the rest differs */
function placeOf(text: string, piece: Place, { form, offset, isDump }: Piece, free: number): Place | null {
  const from = beginOfHead(text, piece.from, form, offset);
  if (from < free) return null;
  const to = endOfRest(text, piece.to, form, offset + piece.to - piece.from);
  return to < 0 ? null : { from, to: (isDump && matchEnd(REST_OF_DUMP, text, to)) || to };
}

/** The same for both cases of a letter. */
function hashOf(first: number, second: number): number {
  return ((first | 32) * 61 + (second | 32)) & (HASHES - 1);
}

function piecesOfForms(forms: readonly string[], most: number): Piece[] {
  return [...new Set(forms)].flatMap((form) => piecesOf(form, most));
}

/** @returns parts of the form; they are found in other case, too */
function piecesOf(written: string, most: number): Piece[] {
  const form = written.toLowerCase();
  const shortest = form.length < SHORT_FORM ? SHORTEST_PIECE : USUAL_PIECE;
  const count = Math.max(1, Math.min(most, Math.floor(form.length / shortest)));
  const length = Math.floor(form.length / count);
  return Array.from({ length: count }, (_, index) => {
    const offset = index * length;
    const text = form.slice(offset, offset + Math.min(length, LONGEST_PIECE));
    return { text, offset, form, isDump: IN_DUMP.test(form), first: text.charCodeAt(0) | 32 };
  });
}
