import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { redactShapes } from '../../src/log/redact.js';
import { keyForms, legiblePieces, measureKeys } from './keyForms.js';
import { keyLookAlikes } from './keyLookAlikes.js';
import { OUTPUTS } from './outputs.js';

const asItIs = (text: string) => text;

test('the forms of a key are enough to be meaningful, and each can be read as it is', () => {
  const forms = keyForms(1);
  expect(forms.length).toBeGreaterThanOrEqual(600);
  expect(new Set(forms.map(({ name }) => name)).size).toBe(forms.length);
  const encoded = forms.filter((form) => legiblePieces(form, form.text) === 0).map(({ name }) => name);
  // A reader of base64 reads them nevertheless.
  expect(encoded.filter((name) => !/base64/.test(name))).toEqual([]);
});

describe.each(OUTPUTS)('in $name', ({ show }) => {
  test('no form of a private key is legible', () => {
    expect(measureKeys((text) => show(text, redactShapes)).legible).toEqual([]);
  });

  test('nothing that only looks like a private key is changed', () => {
    const lost = keyLookAlikes(1).filter(({ text }) => show(text, redactShapes) !== show(text, asItIs));
    expect(lost.map(({ name }) => name)).toEqual([]);
  });
});

/** What may follow in the same output. */
const BEHIND = [
  'npm error code ELIFECYCLE',
  'src/log/privateKeys.ts',
  'a1b2c3d4e5f60718293a4b5c6d7e8f9012345678 Release 2.4',
  '{"level":"info","msg":"started","port":8080}',
  'createRedactor',
  'CONTRIBUTING',
  'README.md  package.json  node_modules',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  '2026-11-27T23:18:10.123Z INFO connected to the database',
];

describe('the text behind a key whose last line is missing stays', () => {
  const forms = keyForms(2).filter(({ name }) =>
    /, (?:plain|indented|quoted|stamp of a log|cat -n), last line missing/.test(name),
  );

  test.each(BEHIND)('%s', (behind) => {
    expect(forms).toHaveLength(5);
    for (const { text } of forms) {
      const shown = redactShapes(`${text}\n${behind}\n${behind}\n`);
      expect(shown.endsWith(`[redacted:private_key]\n${behind}\n${behind}\n`)).toBe(true);
    }
  });
});

describe('the middle of a key', () => {
  const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const body = String(pem).trim().split('\n').slice(1, -1);
  const PRINTED: readonly [string, (line: string, index: number) => string][] = [
    ['plain', (line) => line],
    ['grep -n', (line, index) => `${index + 3}:${line}`],
    ['added to a file', (line) => `+${line}`],
    ['strings of JavaScript', (line) => `'${line}\\n' +`],
  ];

  test.each(PRINTED)('is known by two of its numbers: %s', (_, print) => {
    for (let from = 1; from + 9 < body.length; from += 1) {
      const text = body
        .slice(from, from + 9)
        .map(print)
        .join('\n');
      expect(redactShapes(`it printed\n${text}\nand no more`)).toMatch(
        /^it printed\n\W?\d*\W?\[redacted:private_key\]/,
      );
    }
  });

  test.each(['$ sed -n 3,6p ~/.ssh/id_rsa', 'deploy/server.key:'])('is known by the name of its file: %s', (before) => {
    const text = `${before}\n${body.slice(2, 6).join('\n')}`;
    expect(redactShapes(text)).toBe(`${before}\n[redacted:private_key]`);
  });
});

test('a key takes over what was replaced in its lines', () => {
  const [first = '', ...lines] =
    keyForms(3)
      .find(({ name }) => name.endsWith('plain, whole'))
      ?.text.split('\n') ?? [];
  expect(first).toMatch(/^-----BEGIN/);
  const calls = lines.map((line) => `  key.push("${line}");`).join('\n');
  expect(redactShapes(`a\n${calls}\nb`)).toMatch(/^a\n {2}key\.push\("\[redacted:private_key\]"\);\nb$/);
});

test('a line of a certificate that ends with a word for secrets is no heading', () => {
  const [line = '', next = ''] = ['T51cKEY', 'DK8dtoken', 'dmPW', 'x7pass'].map(
    (word) => `CPq4xJDKVtHCN2MQWplBqjlIapBtJUhlbl90TSrE9atv${word}`,
  );
  const last = 'WQPJIrSPnNVeKtelttQKbfi3QBFGmh95DmK3D5fs4C8fF5Q=';
  const text = [line, last, '-----END CERTIFICATE-----', '', next, last, 'and no more'].join('\n');
  expect(redactShapes(text)).toBe(text);
});

test('what stands far behind the first line of a key that was only mentioned stays', () => {
  const words = [
    'It begins with the line',
    '-----BEGIN PRIVATE KEY-----',
    'and it is never printed,',
    'neither here',
    'nor there;',
    'so',
  ];
  const text = [...words, 'see aB3dEf7hIj0kLm4nOp8qRs2tUv6wXy1zAb5cDe9fGh3iJk7lMn for it'].join('\n');
  expect(redactShapes(text)).toBe(text);
});

describe('a line of a key is found although nothing but this is left of the rule:', () => {
  const [first, last] = ['BEGIN', 'END'].map((word) => `-----${word} PRIVATE KEY-----`);
  const LINE = 'a1B2c3D4e5F6g7H8j9K0a1B2c3D4e5F6g7H8j9K0a1B2c3D4e5F6g7H8j9K0a1B2';
  const OTHER = ['tick', 'the cache is warm', '3 rows', 'GET /health', 'compacted', 'no jobs', 'idle since noon', 'ok'];
  const others = (from: number) => [0, 1, 2, 3].map((next) => OTHER[(from + next) % OTHER.length]).join('\n');
  const signs = 'a1B+/+/+/+/+/+/+/c3D4e5F6g7H8j9K0a1B2c3D4e5F6g7H8j9K0a1B2c3D4e5F6';

  test.each<[string, readonly string[], string]>([
    ['its width', [`[INFO] ${first}`, `[INFO] ${LINE}`, `[EMERGENCY] ${signs}`], 'c3D4e5F6'],
    [
      'the same gap',
      ['it printed', `1:${'AbcdefghIjklmnop'.repeat(4)}`, `2:${LINE}`, `3:${LINE}`, `4:${LINE}`, `5:${last}`],
      'efghIjkl',
    ],
    ['its place in one line', [[LINE, LINE, 'TabcXyzwQRst', last].join(' ')], 'TabcXyzw'],
    [
      'what stands between both marks',
      [first ?? '', ...[0, 3, 6].flatMap((at) => [LINE, others(at)]), last ?? ''],
      'a1B2c3D4',
    ],
    ['the beginning of the text', ['bcdefghXYZ', `[WARN] ${LINE}`, `[DEBUG] ${LINE}`, `[INFO] ${last}`], 'bcdefghX'],
    ['the end of the text', [`[INFO] ${first}`, `[WARN] ${LINE}`, `[INFO] ${LINE}`, '[NOTE] abcdefghXY'], 'abcdefgh'],
  ])('%s', (_, lines, piece) => {
    const text = lines.join('\n');
    expect(text).toContain(piece);
    expect(redactShapes(text)).not.toContain(piece);
  });
});
