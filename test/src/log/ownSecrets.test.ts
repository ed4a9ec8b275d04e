import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { createRedactor } from '../../../src/log/redact.js';

/** A token of a bot, one of GitHub, a password with signs. None opens anything. */
const SECRETS = [
  ['7123456789:AAHpeer', 'token_that-opens-nothing'].join('-'),
  ['ghq', 'peerTokenThat0pensN0thingE1seAtAll4TheTest'].join('_'),
  'Quite-Long7Pass/word+x',
];
const redact = createRedactor(SECRETS);
const MARKER = '[redacted:own_secret]';
/** So many bytes of a secret in a row open nothing. */
const PIECE = 8;

const bytesOf = (text: string) => [...Buffer.from(text)];
const base64 = (text: string) => Buffer.from(text).toString('base64');
const inDigits = (base: number, digits: number) => (byte: number) => byte.toString(base).padStart(digits, '0');
const hex = inDigits(16, 2);
const inLines = (items: readonly string[], width: number, join: string) =>
  Array.from({ length: Math.ceil(items.length / width) }, (_, line) =>
    items.slice(line * width, (line + 1) * width).join(join),
  );
const printable = (text: string) => text.replace(/[^\x20-\x7e]/g, '.');
const signs = (write: (sign: string) => string) => (text: string) => text.replace(/[^A-Za-z0-9]/g, write);

/** As `xxd`, `hexdump` and `od` print bytes: a position, the bytes in groups, and perhaps the characters. */
interface Dump {
  readonly position: (at: number) => string;
  readonly groups: (bytes: readonly number[]) => readonly string[];
  readonly characters?: (text: string) => string;
}

function dumped(text: string, { position, groups, characters }: Dump): string {
  const bytes = bytesOf(text);
  const lines = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, line) => {
    const part = bytes.slice(16 * line, 16 * line + 16);
    const shown = characters?.(printable(Buffer.from(part).toString('latin1'))) ?? '';
    return `${position(16 * line)}${groups(part)
      .join(' ')
      .padEnd(shown === '' ? 0 : 49)}${shown}`;
  });
  return `${lines.join('\n')}\n${position(bytes.length).trim()}\n`;
}

const words = (base: number, digits: number, isSwapped: boolean) => (bytes: readonly number[]) =>
  inLines(bytes.map(String), 2, ' ').map((pair) => {
    const [first = 0, second = 0] = pair.split(' ').map(Number);
    return inDigits(base, digits)(isSwapped ? second * 256 + first : first * 256 + second);
  });
const inHex = (bytes: readonly number[]) => bytes.map(hex);
const octalAt = (at: number) => `${inDigits(8, 7)(at)} `;
const DUMPS: Readonly<Record<string, Dump>> = {
  xxd: { position: (at) => `${inDigits(16, 8)(at)}: `, groups: words(16, 4, false), characters: (text) => `  ${text}` },
  'xxd -g1': { position: (at) => `${inDigits(16, 8)(at)}: `, groups: inHex, characters: (text) => `  ${text}` },
  'hexdump -C': { position: (at) => `${inDigits(16, 8)(at)}  `, groups: inHex, characters: (text) => `  |${text}|` },
  hexdump: { position: (at) => `${inDigits(16, 7)(at)} `, groups: words(16, 4, true) },
  'od -x': { position: octalAt, groups: words(16, 4, true) },
  od: { position: octalAt, groups: words(8, 6, true) },
  'od -t x1': { position: octalAt, groups: inHex },
  'od -t x1z': { position: octalAt, groups: inHex, characters: (text) => `  >${text}<` },
  'od -b': { position: octalAt, groups: (bytes) => bytes.map(inDigits(8, 3)) },
  'od -t u1': { position: octalAt, groups: (bytes) => bytes.map((byte) => String(byte).padStart(3)) },
  'od -c': { position: octalAt, groups: (bytes) => bytes.map((byte) => `  ${String.fromCharCode(byte)}`) },
  'xxd -b': { position: (at) => `${inDigits(16, 8)(at)}: `, groups: (bytes) => bytes.map(inDigits(2, 8)) },
};

type Write = (secret: string) => string;

const COLOURS: Readonly<Record<string, Write>> = {
  'a colour inside': (secret) => `${secret.slice(0, 15)}\u001b[31m${secret.slice(15)}`,
  'a match of grep inside': (secret) =>
    `${secret.slice(0, 10)}\u001b[01;31m\u001b[K${secret.slice(10, 18)}\u001b[m\u001b[K${secret.slice(18)}`,
  'a colour of 256 inside': (secret) => `${secret.slice(0, 15)}\u001b[38;5;208m${secret.slice(15)}\u001b[0m`,
  'a colour inside, in JSON': (secret) => JSON.stringify(`${secret.slice(0, 15)}\u001b[31m${secret.slice(15)}`),
  'a colour of each sign': signs((sign) => `\u001b[33m${sign}\u001b[0m`),
};
const SIGNS: Readonly<Record<string, Write>> = {
  'decimal entities of HTML': signs((sign) => `&#${sign.charCodeAt(0)};`),
  'decimal entities with a zero': signs((sign) => `&#0${sign.charCodeAt(0)};`),
  'hexadecimal entities of HTML': signs((sign) => `&#x${sign.charCodeAt(0).toString(16).toUpperCase()};`),
  'a named entity for the colon': (secret) => secret.replaceAll(':', '&colon;').replaceAll('/', '&sol;'),
  'an entity that is escaped': (secret) => secret.replaceAll(':', '&amp;#58;').replaceAll('_', '&amp;#95;'),
  'Unicode escapes': signs((sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
  'the signs in percent': signs((sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`),
  'the signs in percent, twice': signs((sign) => `%25${sign.charCodeAt(0).toString(16).toUpperCase()}`),
  'quoted-printable': signs((sign) => `=${sign.charCodeAt(0).toString(16).toUpperCase()}`),
  'signs of Markdown': signs((sign) => `\\${sign}`),
};
const UNSEEN: Readonly<Record<string, Write>> = {
  'a zero-width space inside': (secret) => `${secret.slice(0, 11)}\u200b${secret.slice(11)}`,
  'a soft hyphen inside': (secret) => `${secret.slice(0, 9)}\u00ad${secret.slice(9)}`,
  'a joiner each ten characters': (secret) => secret.replace(/(.{10})/g, '$1\u2060'),
  'a soft line break of HTML inside': (secret) => `${secret.slice(0, 12)}<wbr>${secret.slice(12)}`,
  'two strings of a program': (secret) => `"${secret.slice(0, 12)}" +\n    "${secret.slice(12)}"`,
  'a line end of a shell': (secret) => `${secret.slice(0, 12)}\\\n${secret.slice(12)}`,
  'a line end in a mail': (secret) => `${secret.slice(0, 12)}=\n${secret.slice(12)}`,
  'zeros between': (secret) => [...secret].join('\u0000'),
};
const LISTS: Readonly<Record<string, Write>> = {
  'a buffer': (secret) => inspect(Buffer.from(secret)),
  'a buffer that is cut': (secret) => inspect(Buffer.from(`before ${secret} and so on and on`)),
  'a buffer in JSON': (secret) => JSON.stringify(Buffer.from(secret)),
  'an array of bytes': (secret) => inspect(new Uint8Array(Buffer.from(secret)), { maxArrayLength: 200 }),
  'an array of C': (secret) =>
    inLines(
      bytesOf(secret).map((byte) => `0x${hex(byte)}`),
      8,
      ', ',
    ).join(',\n  '),
  'bytes of Python': (secret) =>
    bytesOf(secret)
      .map((byte) => `\\x${hex(byte)}`)
      .join(''),
  'hex with colons': (secret) => bytesOf(secret).map(hex).join(':'),
  'base64 twice': (secret) => base64(base64(`login:${secret}`)),
  'base64 of UTF-16': (secret) => Buffer.from(secret, 'utf16le').toString('base64'),
};
const ALL: Readonly<Record<string, Write>> = {
  ...COLOURS,
  ...SIGNS,
  ...UNSEEN,
  ...LISTS,
  ...Object.fromEntries(
    Object.entries(DUMPS).map(([name, dump]) => [name, (secret: string) => dumped(`a=${secret}`, dump)]),
  ),
  ...Object.fromEntries(
    Object.entries(DUMPS).map(([name, dump]) => [
      `${name}, in JSON`,
      (secret: string) => JSON.stringify({ out: dumped(secret, dump) }),
    ]),
  ),
};

describe('our own secrets are found as', () => {
  test.each(Object.entries(ALL))('%s', (_, write) => {
    for (const secret of SECRETS) {
      const written = write(secret);
      const shown = redact(`before\n${written}\nafter`);
      expect(shown).toContain(MARKER);
      expect(shown.startsWith('before\n') && shown.endsWith('\nafter')).toBe(true);
      expect(shown.length).toBeLessThan(written.length * 0.8 + 2 * MARKER.length);
      const pieces = Array.from({ length: secret.length - PIECE }, (_each, at) => secret.slice(at, at + PIECE));
      expect(pieces.filter((piece) => shown.includes(piece))).toEqual([]);
      expect(redact(shown)).toBe(shown);
    }
  });
});

test.each(Object.entries(ALL))('another text stays: %s', (_, write) => {
  const other = write('nothing at all is hidden in here');
  expect(redact(other)).toBe(other);
});
