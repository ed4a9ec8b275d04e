import { expect, test } from '@jest/globals';
import { createRedactor } from '../../../src/log/redact.js';
import { keyForms } from '../../secrets/keyForms.js';

/** Ten times the text may take so many times the time: with the square of the length it is a hundred times. */
const MOST = 40;
const [SHORT, LONG] = [20_000, 200_000];
const TRIES = 5;

const redact = createRedactor(['7123456789:AAHpeer-token_that-opens-nothing', 'Quite-Long7Pass/word+x']);
const LINE = 'a1B2c3D4e5F6g7H8j9K0a1B2c3D4e5F6g7H8j9K0a1B2c3D4e5F6g7H8j9K0a1B2';

/** What hostile texts repeat: beginnings and ends of keys, their lines, parts of our own secrets, characters that nobody sees. */
const REPEATED: readonly (readonly [string, string])[] = [
  ['first lines', '-----BEGIN PRIVATE KEY-----\n'],
  ['last lines', '-----END PRIVATE KEY-----\n'],
  ['last lines with a line of a key', `${LINE}\n-----END PRIVATE KEY-----\n`],
  ['first lines with a line of a key', `-----BEGIN PRIVATE KEY-----\n12→${LINE}\n`],
  ['first lines that are broken', '-----BEGIN P\nR\nI\nV\n'],
  ['lines of a key', `${LINE}\n`],
  ['numbered lines of a key', `12→${LINE}\n`],
  ['lines of a public key', `${LINE}\n-----END PUBLIC KEY-----\n`],
  ['a line of base64 without an end', 'a1B2'],
  ['headers behind a first line', '-----BEGIN PRIVATE KEY-----\nComment: a\nVersion: b\n'],
  ['short lines', 'aB3dEf7h\n'],
  ['line ends', '\\n'],
  ['backslashes', '\\'],
  ['white space', ' '],
  ['colours', '\u001b[31m'],
  ['a part of a secret', '7123456789:AAHpeer'],
  ['a part of a secret in colours', '\u001b[31m7123456789:AAHpe\u001b[0m'],
  ['a dump', '00000000: 3731 3233 3435 3637 3839 3a41 4148 7065  7123456789:AAHpe\n'],
  ['lists of bytes', '0x37, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36,'],
  ['invisible characters', '\u200b'],
  ['joiners', '\u200d'],
  ['colours of pictures', '\ufe0f'],
];

/**
 * @param enough a try that takes less ends the search: one that is fast enough proves as much as the fastest
 * @returns microseconds
 */
function fastest(text: string, enough = 0): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && least >= enough; tries += 1) {
    const before = process.cpuUsage();
    redact(text);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}

const filled = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length));

test.each(REPEATED)('the time grows with the length of the text, not with its square: %s', (_, piece) => {
  redact(filled(piece, SHORT));
  // A thousandth of a second is too short to measure.
  const short = Math.max(fastest(filled(piece, SHORT)), 1_000);
  expect(fastest(filled(piece, LONG), MOST * short) / short).toBeLessThan(MOST);
});

test('a character that nobody sees takes no longer than one that everybody sees', () => {
  const MOST_TIMES = 6;
  const seen = fastest(filled('é', LONG));
  for (const unseen of ['\u200b', '\u200d', '\u2060', '\ufe0f', '\u00ad']) {
    expect(fastest(filled(unseen, LONG), MOST_TIMES * seen) / seen).toBeLessThan(MOST_TIMES);
  }
});

test('a key of 400 lines takes hardly longer per character than one of 25', () => {
  const forms = keyForms(1).filter(({ name }) => name.endsWith('whole'));
  const long = forms.filter(({ body }) => body.length >= 400);
  const short = forms.filter(({ body }) => body.length > 20 && body.length < 40);
  expect(Math.min(long.length, short.length)).toBeGreaterThan(1);
  const costOf = (some: typeof forms) => {
    const text = some.map((form) => form.text).join('\n');
    return fastest(text) / text.length;
  };
  expect(costOf(long) / costOf(short)).toBeLessThan(5);
});

test('identifiers cost hardly more than words: they are in nearly every line of a log', () => {
  const words = fastest(filled('looked-at-the-whole-of-it ', LONG));
  for (const id of [
    '01M8HRS8KD92KVHWKNHQ3ZJX7C ',
    'b2875dc6-c8ab-4dcd-9f03-e78ecdf5a7d1 ',
    'tg_yard_-100_1263860085882984171 ',
  ])
    expect(fastest(filled(id, LONG), 10 * words) / words).toBeLessThan(10);
});
