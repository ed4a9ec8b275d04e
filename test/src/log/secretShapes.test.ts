import { describe, expect, test } from '@jest/globals';
import { createRedactor } from '../../../src/log/redact.js';
import { replaceSecrets } from '../../../src/log/secretShapes.js';
import { heldOutCorpus, tunedCorpus } from '../../secrets/corpus.js';
import { seededRandom } from '../journal/random.js';

const SEED = 4_469;
/** What may stand before and behind a secret in a text, in JSON, in an address and on a terminal. */
const BEFORE = ['', ' ', '"', "'", '(', '=', '\n', '\\n', '\\\\n', '\\t', '\\u000a', '\u001b[31m', '%20', 'ü', '> '];
/** Of a word in which a token is hidden: `sk-…` is one behind a hyphen, and the end of `task-…` behind a letter. */
const WITHIN = ['x-', '1', '_', '2026-11-24-', 'TOKEN_', 'v2-'];
const BEHIND = ['', ' ', '"', "'", ')', '\n', '\\n', '\u001b[0m', 'ü', '.\n'];

function run(length: number): string {
  return 'a1B2'.repeat(length).slice(0, length);
}

/** Of every mark the shortest token that is found. */
const MARKED: readonly string[] = [
  ...['ghp_', 'gho_', 'ghs_', 'ghu_', 'ghr_', 'github_pat_', 'sk-', 'glpat-', 'ya29.'].map((mark) => mark + run(20)),
  ...['sk-ant-api03-', 'xoxb-', 'xapp-'].map((mark) => mark + run(16)),
  ...['sk_live_', 'rk_test_'].map((mark) => mark + run(16)),
  ...['AKIA', 'ASIA'].map((mark) => mark + run(16).toUpperCase()),
  `AIza${run(35)}`,
  `npm_${run(36)}`,
  `hf_${run(30)}`,
  `eyJ${run(20)}.${run(20)}.${run(20)}`,
];
/** Their marks are the ends of no word, so letters may stand before them, too. */
const DISTINCT: readonly string[] = MARKED.filter((token) => !/^(?:sk-a1|[sr]k_|xapp)/.test(token));

describe('a token with a mark', () => {
  test.each(MARKED)('%s is found, regardless of the surrounding text', (token) => {
    const letters = DISTINCT.includes(token) ? ['x', 'AB'] : [];
    const missed = [...BEFORE, ...WITHIN, ...letters]
      .flatMap((before) => BEHIND.map((behind) => [before, behind] as const))
      .filter(([before, behind]) => !/^.*\[redacted:[a-z_]+\].*$/s.test(replaceSecrets(before + token + behind).text));
    expect(missed).toEqual([]);
  });
});

describe('redaction', () => {
  const corpora = [tunedCorpus(SEED), heldOutCorpus(SEED)];
  const texts = corpora.flatMap(({ secrets, lookAlikes }) => [...secrets, ...lookAlikes].map(({ text }) => text));

  test('identifiers stay, and hide no token that they end', () => {
    const identifiers = [
      '01M8JFS04XNBV2PH4DGX5R7QZW',
      'ses_01M8JFS04XNBV2PH4DGX5R7QZW',
      'b2875dc6-c8ab-4dcd-9f03-e78ecdf50000',
    ];
    for (const id of identifiers) expect(replaceSecrets(`{"id":"${id}"}`).text).toBe(`{"id":"${id}"}`);
    const token = `a1b2c3d4e5f6g7.atlasv1.${identifiers[1]}`;
    expect(replaceSecrets(`found ${token}`).text).toBe('found [redacted:token]');
    for (const id of identifiers) expect(replaceSecrets(`password=${id}`).text).not.toContain(id);
  });

  test('done twice changes nothing more', () => {
    const once = texts.map((text) => replaceSecrets(text).text);
    expect(once.filter((text) => replaceSecrets(text).text !== text)).toEqual([]);
  });

  test('finds in a long text what it finds in each of its parts', () => {
    const random = seededRandom(SEED);
    // A key without its last line goes on as long as lines of base64 follow.
    const whole = texts.filter((text) => !`${text}${replaceSecrets(text).text}`.match(/-----|private_key/));
    for (let round = 0; round < 50; round += 1) {
      const parts = random.shuffle(whole).slice(0, 30);
      expect(replaceSecrets(parts.join('\n\n')).text).toBe(parts.map((part) => replaceSecrets(part).text).join('\n\n'));
    }
  });
});

describe('our own secrets', () => {
  const own = 'Kq7/pass+word"=x\\9&<t>';
  const plain = 'ghq-peerTokenThatOpensNothingElse0000000';
  const redact = createRedactor([own, plain]);
  const html = (text: string) =>
    text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? one);
  const wrapped = (text: string, width: number, end: string) =>
    text.replace(new RegExp(`(.{${width}})`, 'g'), `$1${end}`);

  test.each<[string, (secret: string) => string]>([
    ['in hex', (secret) => Buffer.from(secret).toString('hex')],
    ['in hex, capital letters', (secret) => Buffer.from(secret).toString('hex').toUpperCase()],
    ['in small letters', (secret) => secret.toLowerCase()],
    ['in capital letters', (secret) => secret.toUpperCase()],
    ['in an address', encodeURIComponent],
    ['in an address within an address', (secret) => encodeURIComponent(encodeURIComponent(secret))],
    ['with HTML entities', html],
    ['with numbered entities', (secret) => secret.replace(/[^A-Za-z0-9]/g, (one) => `&#${one.charCodeAt(0)};`)],
    ['over two lines', (secret) => `${secret.slice(0, 13)}\n${secret.slice(13)}`],
    ['over two indented lines', (secret) => `${secret.slice(0, 20)}\r\n    ${secret.slice(20)}`],
    ['over two lines in JSON', (secret) => JSON.stringify(`${secret.slice(0, 9)}\n${secret.slice(9)}`)],
    ['in JSON in JSON', (secret) => JSON.stringify(JSON.stringify({ secret }))],
    ['in JSON in JSON in JSON', (secret) => JSON.stringify(JSON.stringify(JSON.stringify({ secret })))],
    ...[0, 1, 2].flatMap((offset): [string, (secret: string) => string][] => [
      [`in base64 behind ${offset} bytes`, (secret) => Buffer.from('x'.repeat(offset) + secret).toString('base64')],
      [
        `in base64 wrapped at 76, behind ${60 + offset} bytes`,
        (secret) => wrapped(Buffer.from('x'.repeat(60 + offset) + secret).toString('base64'), 76, '\n'),
      ],
      [
        `in base64 wrapped at 16 in JSON, behind ${offset} bytes`,
        (secret) => JSON.stringify(wrapped(Buffer.from('x'.repeat(offset) + secret).toString('base64'), 40, '\n')),
      ],
    ]),
  ])('are found %s', (_, write) => {
    for (const secret of [own, plain]) {
      const text = `before ${write(secret)} after`;
      const shown = redact(text);
      expect(shown).toContain('[redacted:own_secret]');
      // Of base64 the characters that mix the secret's bits with its neighbours' may stay.
      const left = shown.replaceAll('[redacted:own_secret]', '').length;
      expect(left).toBeLessThan(text.length - secret.length / 2);
      expect(shown.startsWith('before ') && shown.endsWith(' after')).toBe(true);
    }
  });

  test('leave other words unchanged', () => {
    const text = 'the pass+word of a peer token that opens nothing else, ghq-peer';
    expect(redact(text)).toBe(text);
  });
});
