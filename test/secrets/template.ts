/**
 * Texts with generated secrets in them. None is real, and none is written out in a source, where a scanner would take it for
 * real: `[[…]]` is the secret, `{a36}` is generated from a seed, and `~`, which joins two halves of a mark, is left out.
 */
import type { Random } from '../src/journal/random.js';

export interface Sample {
  readonly kind: string;
  readonly text: string;
  /** Parts of the text that nobody may read; none in a look-alike. */
  readonly secrets: readonly string[];
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const ANIMALS = ['otter', 'falcon', 'badger', 'heron', 'marten', 'lynx', 'bison', 'raven', 'gecko', 'tapir'];
const COLOURS = ['amber', 'violet', 'teal', 'crimson', 'indigo', 'olive', 'silver', 'copper', 'ivory', 'scarlet'];

const GENERATORS: Readonly<Record<string, (random: Random, length: number) => string>> = {
  a: (random, length) => mixed(random, LOWER + UPPER + DIGITS, length),
  b: (random, length) => mixed(random, `${LOWER}${UPPER}${DIGITS}+/`, length),
  u: (random, length) => mixed(random, `${LOWER}${UPPER}${DIGITS}-_`, length),
  h: (random, length) => mixed(random, `${DIGITS}abcdef`, length),
  H: (random, length) => mixed(random, `${DIGITS}ABCDEF`, length),
  d: (random, length) => from(random, '123456789', 1) + from(random, DIGITS, length - 1),
  U: (random, length) => mixed(random, UPPER + DIGITS, length),
  L: (random, length) => mixed(random, LOWER + DIGITS, length),
  /** A word of a person's language. */
  w: (random) => random.pick(ANIMALS),
  c: (random) => random.pick(COLOURS),
  /** A password as people choose them. */
  p: (random) =>
    `${capital(random.pick(COLOURS))}${random.pick(['-', '_', '!', '.', ''])}${random.pick(ANIMALS)}${from(random, DIGITS, 3)}`,
  /** The same in other habits: letters turned into digits, a year, words in a row, random characters. */
  q: (random) => random.pick(HABITS)(random),
  s: (random, length) =>
    `${from(random, LOWER, 2)}${from(random, '!#%^*+', 1)}${mixed(random, LOWER + UPPER + DIGITS, length - 3)}`,
  g: (random) => [8, 4, 4, 4, 12].map((length) => mixed(random, `${DIGITS}abcdef`, length)).join('-'),
  /** Lines of a key. */
  P: (random, length) => Array.from({ length }, () => mixed(random, `${LOWER}${UPPER}${DIGITS}+/`, 64)).join('\n'),
  n: (random) => String(1 + random.below(9)),
};

const HABITS: readonly ((random: Random) => string)[] = [
  (random) =>
    `${capital(random.pick(ANIMALS)).replace(/[aeo]/g, (letter) => ({ a: '4', e: '3', o: '0' })[letter] ?? letter)}&${random.below(90)}x`,
  (random) => `${random.pick(COLOURS)}${random.pick(ANIMALS)}${2_000 + random.below(30)}!`,
  (random) => `${capital(random.pick(COLOURS))}@${1_000 + random.below(9_000)}`,
  (random) => `${random.pick(COLOURS)}-${random.pick(ANIMALS)}-${random.pick(COLOURS)}-${random.below(90)}`,
  (random) => mixed(random, `${LOWER}${UPPER}${DIGITS}#%^*!`, 14),
  (random) => mixed(random, LOWER + DIGITS, 12),
];

function from(random: Random, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(random.below(alphabet.length))).join('');
}

/** With a letter first and a digit in it, as nearly every random text of some length has. */
function mixed(random: Random, alphabet: string, length: number): string {
  const letters = [...alphabet].filter((character) => /[A-Za-z]/.test(character)).join('');
  const at = 1 + random.below(Math.max(length - 1, 1));
  const text = from(random, letters, 1) + from(random, alphabet, Math.max(length - 1, 0));
  return length < 4 ? text : `${text.slice(0, at)}${from(random, '23456789', 1)}${text.slice(at + 1)}`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

export function fill(kind: string, template: string, random: Random): Sample {
  const filled = template
    .replaceAll('~', '')
    .replace(/\{([A-Za-z])(\d*)\}/g, (_, name: string, length: string) => {
      const generate = GENERATORS[name];
      if (generate === undefined) throw new RangeError(`${kind}: there is no generator ${name}`);
      return generate(random, Number(length));
    })
    // Within it, base64 of a login, as in a header.
    .replace(/<64:([^>]*)>/g, (_, plain: string) => Buffer.from(plain).toString('base64'));
  const secrets = [...filled.matchAll(/\[\[([\s\S]*?)\]\]/g)].map(([, secret = '']) => secret);
  return { kind, text: filled.replace(/\[\[|\]\]/g, ''), secrets };
}
