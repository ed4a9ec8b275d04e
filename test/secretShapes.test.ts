import { describe, expect, test } from '@jest/globals';
import { createRedactor } from '../src/redact.js';
import { SECRET_FAMILIES } from '../src/secretShapes.js';
import { type Random, seededRandom } from './journal/random.js';

const TEXTS = 60_000;
const FEW = 300;
/** Of every shape the shortest that are found, and the widest. */
const JUST_FOUND: readonly string[] = [
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PGP PRIVATE KEY BLOCK-----\nx=\n-----END PGP PRIVATE KEY BLOCK-----',
  ...[':', '%3A', '%3a'].map((colon) => `123456${colon}${run(30)}`),
  ...['ghp_', 'gho_', 'ghs_', 'ghu_', 'ghr_', 'github_pat_', 'sk-', 'glpat-', 'ya29.'].map((mark) => mark + run(20)),
  ...['sk-ant-', 'xoxb-', 'xapp-'].map((mark) => mark + run(10)),
  ...['sk_live_', 'rk_test_'].map((mark) => mark + run(16)),
  ...['AKIA', 'ASIA'].map((mark) => mark + run(16).toUpperCase()),
  `AIza${run(35)}`,
  `npm_${run(36)}`,
  `hf_${run(30)}`,
  'eyJabcde.abcde.',
  'authorization:bearer abcd',
  `Authorization    =    ${run(16)}`,
  '"AUTHORIZATION\\": \\"Basic abcd',
  'Bearer\tabcdefg1',
  '://:a@',
  '://me:hunter2@',
  `://${run(20)}@`,
  'TOKEN=abc',
  'SECRET   =   abc',
  'API_KEY\' :  "a',
  'access-key="x',
  'my_secret=abc',
  '"privatekey\\\\":"a',
  "authKey' : 'a",
  'password:abc',
  'Passphrase:  abc',
  'api-key:abc',
  'PASSWD:abc',
];
const CHARACTERS = [...'aK7_-.:=@/% \t"\'\\\u212a\u017f'];
const AROUND = ['', ...CHARACTERS, '\\n', '\n', '\u001b[31m', '[redacted:value]', 'ü'];

function run(length: number): string {
  return 'a1B2'.repeat(length).slice(0, length);
}

/** One or two shapes, whole or nearly so. */
function someText(random: Random): string {
  const parts = Array.from({ length: 1 + random.below(2) }, () => {
    let text = random.pick(JUST_FOUND);
    for (let times = random.below(4); times > 0; times -= 1) text = changed(text, random);
    return text + random.pick(AROUND);
  });
  return random.pick(AROUND) + parts.join('');
}

function changed(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (random.below(4)) {
    case 0:
      return before + after.slice(1);
    case 1:
      return before + random.pick(CHARACTERS) + after.slice(1);
    case 2:
      return before + random.pick(CHARACTERS) + after;
    default:
      return random.below(2) === 0 ? text.toUpperCase() : text.toLowerCase();
  }
}

describe('a family of secrets', () => {
  const random = seededRandom(4_469);
  const texts = Array.from({ length: TEXTS }, () => someText(random));

  test.each(SECRET_FAMILIES.map((family) => [family.needs, family.shapes] as const))(
    'has what it needs, %s, in every text that holds one of its shapes',
    (needs, shapes) => {
      for (const { find } of shapes) {
        const holders = texts.filter((text) => text.search(find) >= 0);
        expect(holders.length).toBeGreaterThan(FEW);
        expect(holders.filter((text) => !needs.test(text))).toEqual([]);
      }
      expect(texts.filter((text) => !needs.test(text)).length).toBeGreaterThan(TEXTS / 2);
    },
  );

  test('is left out of the search without a difference', () => {
    const redact = createRedactor([]);
    const shapes = SECRET_FAMILIES.flatMap((family) => family.shapes);
    const searchAll = (text: string) =>
      shapes.reduce((left, { find, replacement }) => left.replace(find, replacement), text);
    expect(texts.filter((text) => redact(text) !== searchAll(text))).toEqual([]);
  });
});
