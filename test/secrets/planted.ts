/** Secrets to plant in everything that a program takes in, and the search for them in everything that it gives out. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { redactShapes } from '../../src/log/redact.js';
import { smallCorpus } from './corpus.js';

const SEED = 4_469;
/** Characters of a secret in a row. */
const PIECE_LENGTH = 10;
const PIECE_CHARACTER = '[a-z0-9+/_.%=:-]';
const PIECE = new RegExp(`${PIECE_CHARACTER}{${PIECE_LENGTH}}`, 'g');
/** Every place in a text where a piece may stand lies in one. */
const RUN_OF_PIECES = new RegExp(`${PIECE_CHARACTER}{${PIECE_LENGTH},}`, 'g');
const TEXTS_AT_ONCE = 5;
const RUN = 'a1B2c3D4e5F6g7H8j9K0'.repeat(5);

/** Of common marks a token each. */
export const TOKENS: readonly string[] = [
  ...['ghp', 'github_pat', 'npm'].map((mark) => `${mark}_${RUN.slice(0, 36)}`),
  ...['sk-ant-api03', 'xoxb', 'glpat'].map((mark) => `${mark}-${RUN.slice(0, 40)}`),
  `AKIA${RUN.slice(0, 16).toUpperCase()}`,
  `5294327191:AA${RUN.slice(0, 33)}`,
  `eyJ${RUN.slice(0, 30)}.eyJ${RUN.slice(0, 40)}.${RUN.slice(0, 43)}`,
];

/** What may stand around a token. */
const POSITIONS: readonly ((token: string) => string)[] = [
  (token) => `${token} is it`,
  (token) => `x-${token}`,
  (token) => `abc${token}`,
  (token) => `v2_${token}.txt`,
  (token) => `it's '${token}', "${token}" or \`${token}\``,
  (token) => JSON.stringify({ output: token }),
  (token) => JSON.stringify({ output: JSON.stringify({ env: [`line\n${token}`] }) }),
  (token) => `https://example.org/${token}/x?q=%20${token}&next=1`,
  (token) => `first line\n${token}\r\n\t${token}`,
  (token) => `first line\\n${token}`,
  (token) => `export DEPLOY_TOKEN=${token}`,
  (token) => `\u001b[31m${token}\u001b[0m`,
];

/** Texts with secrets in them that the redactor knows, several in each. */
export function plantedTexts(): string[] {
  const kinds = new Map(smallCorpus(SEED).secrets.map((sample) => [sample.kind, sample]));
  const known = [...kinds.values()].filter(({ text }) => piecesIn(redactShapes(text)).length === 0);
  const texts = [
    ...TOKENS.flatMap((token) => POSITIONS.map((place) => place(token))),
    ...known.map(({ text }) => text),
  ];
  return Array.from({ length: Math.ceil(texts.length / TEXTS_AT_ONCE) }, (_, index) =>
    texts.slice(index * TEXTS_AT_ONCE, (index + 1) * TEXTS_AT_ONCE).join('\n\n'),
  );
}

let pieces: ReadonlySet<string> | null = null;

/** Of every secret {@link PIECE} after {@link PIECE}, in small letters: a name of a file may have been made of them. */
function allPieces(): ReadonlySet<string> {
  pieces ??= new Set(
    [...TOKENS, ...smallCorpus(SEED).secrets.flatMap((sample) => sample.secrets)].flatMap(
      (secret) => secret.toLowerCase().match(PIECE) ?? [],
    ),
  );
  return pieces;
}

/** @returns what of the planted secrets can be read in the text, three pieces at most */
export function piecesIn(text: string): string[] {
  const all = allPieces();
  const found = new Set<string>();
  for (const [run] of text.toLowerCase().matchAll(RUN_OF_PIECES)) {
    for (let at = 0; at + PIECE_LENGTH <= run.length; at += 1) {
      const piece = run.slice(at, at + PIECE_LENGTH);
      if (all.has(piece)) found.add(piece);
    }
  }
  return [...found].slice(0, 3);
}

/** @returns every file below the folder by its path, with the bytes of it; paths of folders with nothing */
export function everythingBelow(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    paths.map((path) => {
      const isFile = lstatSync(join(folder, path)).isFile();
      return [path, isFile ? readFileSync(join(folder, path), 'latin1') : ''];
    }),
  );
}
