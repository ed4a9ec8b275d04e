/**
 * Private keys as agents print them: kinds of keys × layouts × cuts. None is real: the bytes are random, behind those with which each
 * kind begins.
 */
import { type Random, seededRandom } from '../src/journal/random.js';
import { LAYOUTS } from './keyLayouts.js';

export interface KeyForm {
  readonly name: string;
  readonly text: string;
  /** The lines of its body. */
  readonly body: readonly string[];
}

interface Key {
  readonly first: string;
  readonly headers: readonly string[];
  readonly body: readonly string[];
  readonly last: string;
}

/** What a layout prints before a line. */
const LONGEST_PREFIX = 60;
/** Fewer characters of a key in a row open nothing. */
const PIECE = 8;

/** Marks are put together here, so that no scanner takes them for real. */
const mark = (word: 'BEGIN' | 'END', kind: string) => `-----${word} ${kind}-----`;

function key(random: Random, kind: string, lines: number, begins = '', width = 64): Key {
  const bytes = Buffer.concat([
    Buffer.from(begins, 'base64'),
    Buffer.from(Array.from({ length: Math.ceil(width * (lines - 0.4) * 0.75) }, () => random.below(256))),
  ]);
  const body = bytes.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return { first: mark('BEGIN', kind), headers: [], body, last: mark('END', kind) };
}

const PRIVATE = ['PRIVATE', 'KEY'].join(' ');
const KEYS: Readonly<Record<string, (random: Random) => Key>> = {
  rsa: (random) => key(random, `RSA ${PRIVATE}`, 25, 'MIIEpAIBAAKCAQEA'),
  ec: (random) => key(random, `EC ${PRIVATE}`, 3, 'MHcCAQEEI'),
  openssh: (random) => key(random, `OPENSSH ${PRIVATE}`, 6, 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE', 70),
  pkcs8: (random) => key(random, PRIVATE, 27, 'MIIEvQIBADANBgkq'),
  encrypted: (random) => key(random, `ENCRYPTED ${PRIVATE}`, 30, 'MIIFHDBOBgkqhkiG'),
  'with headers': (random) => ({
    ...key(random, `RSA ${PRIVATE}`, 13),
    headers: ['Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF', ''],
  }),
  pgp: (random) => ({
    ...key(random, `PGP ${PRIVATE} BLOCK`, 40, 'lQOYBGA'),
    headers: ['Version: GnuPG v2', 'Comment: of the otter', ''],
  }),
};
/** Now and then: reading them takes as long as all others. */
const LONG_KEY = (random: Random) => key(random, `RSA ${PRIVATE}`, 400, 'MIIEpAIBAAKCAQEA');
const LONG_KEY_EVERY = 31;

interface Printed {
  readonly text: string;
  /** Positions in it. */
  readonly lines: readonly number[];
  readonly body: readonly string[];
}

/** Of a printed key; all but the first leave something out. */
const CUTS: Readonly<Record<string, (printed: Printed) => string>> = {
  whole: ({ text }) => text,
  'first line missing': ({ text, lines }) => text.slice(lineBegin(text, lines[0] ?? 0)),
  'last line missing': ({ text, lines, body }) => text.slice(0, (lines.at(-1) ?? 0) + (body.at(-1) ?? '').length),
  'first lines cut within a line': ({ text, lines }) => text.slice((lines[1] ?? 0) + 11),
  'last lines cut within a line': ({ text, lines }) => text.slice(0, (lines.at(-2) ?? 0) + 39),
  'cut within the last line': ({ text, lines }) => text.slice(0, text.indexOf('-----END', lines.at(-1)) + 17),
};

/** Of a text in one line it is the position itself. */
function lineBegin(text: string, at: number): number {
  const begin = text.lastIndexOf('\n', at) + 1;
  return at - begin > LONGEST_PREFIX ? at : begin;
}

const made = new Map<number, readonly KeyForm[]>();

/** @returns each layout with each cut, with the kinds of keys in turn; they are made once */
export function keyForms(seed: number): readonly KeyForm[] {
  const forms = made.get(seed) ?? makeForms(seed);
  made.set(seed, forms);
  return forms;
}

function makeForms(seed: number): KeyForm[] {
  const random = seededRandom(seed);
  const kinds = Object.entries(KEYS);
  let turn = seed;
  return Object.entries(LAYOUTS).flatMap(([layout, print]) =>
    Object.entries(CUTS).flatMap(([cut, apply]) => {
      turn += 1;
      const [kind, make] = turn % LONG_KEY_EVERY === 0 ? ['400 lines', LONG_KEY] : (kinds[turn % kinds.length] ?? []);
      if (kind === undefined || make === undefined) throw new Error('there are no kinds');
      const { first, headers, body, last } = make(random);
      const text = print([first, ...headers, ...body, last]);
      const lines = positions(text, body);
      if (lines === null && cut !== 'whole') return [];
      return { name: `${kind} key, ${layout}, ${cut}`, text: apply({ text, lines: lines ?? [], body }), body };
    }),
  );
}

/** @returns where each line of the body begins in the printed text; null if it is in other letters or another order */
function positions(text: string, body: readonly string[]): number[] | null {
  let at = 0;
  const found = body.map((line) => {
    // What is in all layouts: they escape signs, or begin a new line.
    const piece = /[A-Za-z0-9]{5,8}/.exec(line);
    const position = text.indexOf(piece?.[0] ?? line, at);
    at = position + 1;
    return position < 0 ? position : Math.max(0, position - (piece?.index ?? 0));
  });
  return found.includes(-1) ? null : found;
}

const piecesOfBodies = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Every output is read for the same pieces. */
function piecesOf(body: readonly string[]): ReadonlySet<string> {
  const known = piecesOfBodies.get(body);
  if (known !== undefined) return known;
  const pieces = new Set<string>();
  for (const line of body) for (let at = 0; at + PIECE <= line.length; at += 1) pieces.add(line.slice(at, at + PIECE));
  piecesOfBodies.set(body, pieces);
  return pieces;
}

/** @returns how many pieces of the key's body of eight characters can be read */
export function legiblePieces({ body }: KeyForm, shown: string): number {
  const pieces = piecesOf(body);
  let count = 0;
  for (let at = 0; at + PIECE <= shown.length; at += 1) if (pieces.has(shown.slice(at, at + PIECE))) count += 1;
  return count;
}

/**
 * @param show as an output shows a text, without its secrets
 * @returns the names of those forms of a key of which a reader sees at least eight characters in a row
 */
export function measureKeys(show: (text: string) => string, seed = 1): { legible: string[]; forms: number } {
  const forms = keyForms(seed);
  const legible = forms.filter((form) => legiblePieces(form, show(form.text)) > 0);
  return { legible: legible.map(({ name }) => name), forms: forms.length };
}
