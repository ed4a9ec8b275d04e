/** What is printed like a private key, and is none: public keys, certificates, signatures, hashes, pictures, other base64. */
import { type Random, seededRandom } from '../src/journal/random.js';

export interface KeyLookAlike {
  readonly name: string;
  readonly text: string;
}

const bytes = (random: Random, count: number) => Buffer.from(Array.from({ length: count }, () => random.below(256)));
const wrapped = (content: Buffer, width: number) =>
  content.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
const block = (kind: string, content: Buffer, width = 64) => [
  `-----BEGIN ${kind}-----`,
  ...wrapped(content, width),
  `-----END ${kind}-----`,
];

/** A number in ASN.1. */
const number = (content: Buffer) =>
  Buffer.concat([Buffer.from([0x02, 0x82, content.length >> 8, content.length & 255]), content]);
const NAME = Buffer.from('310b3009060355040613024445', 'hex');
const RSA = Buffer.from('300d06092a864886f70d0101010500', 'hex');
const EXPONENT = Buffer.from('0203010001', 'hex');

function publicKey(random: Random): Buffer {
  return Buffer.concat([Buffer.from('30820122', 'hex'), RSA, number(bytes(random, 257)), EXPONENT]);
}

function certificate(random: Random): Buffer {
  const extensions = Buffer.from('300e0603551d0f0101ff040403020106', 'hex');
  return Buffer.concat([
    Buffer.from('308203b5308202a0a003020102020900', 'hex'),
    bytes(random, 8),
    NAME,
    bytes(random, 20),
    NAME,
    publicKey(random),
    extensions,
    bytes(random, 256),
  ]);
}

const SSH = Buffer.concat([
  Buffer.from([0, 0, 0, 7]),
  Buffer.from('ssh-rsa'),
  Buffer.from([0, 0, 0, 3, 1, 0, 1, 0, 0, 1, 1]),
]);
const PICTURE = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

const LINES: Readonly<Record<string, (random: Random) => readonly string[]>> = {
  certificate: (random) => block('CERTIFICATE', certificate(random)),
  'chain of certificates': (random) => [1, 2].flatMap(() => block('CERTIFICATE', certificate(random))),
  'request for a certificate': (random) => block('CERTIFICATE REQUEST', certificate(random)),
  'list of revoked certificates': (random) => block('X509 CRL', certificate(random)),
  'public key': (random) => block('PUBLIC KEY', publicKey(random)),
  'public key of PGP': (random) => block('PGP PUBLIC KEY BLOCK', bytes(random, 1_200)),
  'signature of PGP': (random) => block('PGP SIGNATURE', bytes(random, 400)),
  'signature of OpenSSH': (random) => block('SSH SIGNATURE', bytes(random, 200), 70),
  'message of PGP': (random) => block('PGP MESSAGE', bytes(random, 900)),
  'public key of OpenSSH': (random) => [
    `ssh-rsa ${Buffer.concat([SSH, bytes(random, 257)]).toString('base64')} otter@host`,
  ],
  'lock file': (random) =>
    [1, 2, 3, 4].flatMap((version) => [
      `    "node_modules/otter-${version}": {`,
      `      "version": "${version}.0.1",`,
      `      "integrity": "sha512-${bytes(random, 64).toString('base64')}"`,
      '    },',
    ]),
  'sums of modules': (random) =>
    [1, 2, 3].map((version) => `example.com/otter v1.${version}.0 h1:${bytes(random, 32).toString('base64')}`),
  picture: (random) => wrapped(Buffer.concat([PICTURE, bytes(random, 900)]), 76),
  'picture in an address': (random) => [
    `<img src="data:image/png;base64,${Buffer.concat([PICTURE, bytes(random, 600)]).toString('base64')}">`,
  ],
  ...Object.fromEntries(
    [60, 64, 70, 72, 76, 100].map((width) => [
      `base64 in lines of ${width}`,
      (random: Random) => wrapped(bytes(random, 700), width),
    ]),
  ),
  'the end of a picture': (random) => wrapped(bytes(random, 700), 64).slice(0, -1),
  'marks in code': () => [
    "if (!pem.startsWith('-----BEGIN PRIVATE KEY-----')) throw new Error('no key');",
    "const end = pem.indexOf('-----END PRIVATE KEY-----');",
    'return pem.slice(0, end).split(/\\r?\\n/).slice(1);',
  ],
};

const LAYOUTS: Readonly<Record<string, (line: string, index: number) => string>> = {
  plain: (line) => line,
  'removed from a file': (line) => `-${line}`,
  'grep -n': (line, index) => `${index + 1}:${line}`,
  'cat -n': (line, index) => `${String(index + 1).padStart(6)}\t${line}`,
  quoted: (line) => `> ${line}`,
  'strings of JavaScript': (line) => `  '${line}\\n' +`,
  'stamp of a log': (line, index) => `2026-11-27T23:18:${10 + (index % 50)}.123Z INFO  ${line}`,
};

const made = new Map<number, readonly KeyLookAlike[]>();

/** @returns each of them in each layout, whole, and without its first and its last line, between words; they are made once */
export function keyLookAlikes(seed: number): readonly KeyLookAlike[] {
  const known = made.get(seed) ?? makeLookAlikes(seed);
  made.set(seed, known);
  return known;
}

function makeLookAlikes(seed: number): KeyLookAlike[] {
  const random = seededRandom(seed);
  return Object.entries(LINES).flatMap(([kind, lines]) =>
    Object.entries(LAYOUTS).flatMap(([layout, print]) => {
      const printed = lines(random).map(print);
      const parts = {
        whole: printed,
        'first line missing': printed.slice(1),
        'last line missing': printed.slice(0, -1),
      };
      return Object.entries(parts).map(([cut, part]) => ({
        name: `${kind}, ${layout}, ${cut}`,
        text: ['it printed', ...part, 'and no more'].join('\n'),
      }));
    }),
  );
}
