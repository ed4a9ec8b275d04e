/** The written forms of a secret of ours: escaped, encoded, as numbers. */

/** @returns the secret in the forms that programs give it. looseMatch.ts compares single characters that are escaped */
export function formsOf(secret: string): string[] {
  const wellFormed = Buffer.from(secret, 'utf8').toString('utf8');
  const bytes = Buffer.from(wellFormed, 'utf8');
  const urlEncoded = encodeURIComponent(wellFormed);
  const json = inJson(secret);
  return [
    secret,
    json,
    inJson(json),
    inJson(inJson(json)),
    urlEncoded,
    encodeURIComponent(urlEncoded),
    new URLSearchParams({ '': wellFormed }).toString().slice(1),
    ...htmlForms(wellFormed),
    ...SIGNS.map((write) => wellFormed.replace(/[^A-Za-z0-9]/g, write)),
    ...base64Forms(bytes),
    ...base64Forms(Buffer.from(wellFormed, 'utf16le')),
    // Such as a login of Docker in a secret of Kubernetes.
    ...base64Forms(bytes).flatMap((form) => base64Forms(Buffer.from(form, 'latin1'))),
    ...['\u0000', '\\u0000'].map((zero) => [...secret].join(zero)),
    bytes.toString('hex'),
    hexOf(bytes).join(':'),
    ...['%', '\\x', '\\u00'].map((sign) =>
      hexOf(bytes)
        .map((byte) => sign + byte)
        .join(''),
    ),
  ];
}

function hexOf(bytes: Buffer): string[] {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0'));
}

/** Each of them for every sign of a secret. */
const SIGNS: readonly ((sign: string) => string)[] = [
  (sign) => `&#${sign.charCodeAt(0)};`,
  (sign) => `&#x${codeIn(16, sign)};`,
  (sign) => `\\u${codeIn(16, sign).padStart(4, '0')}`,
  (sign) => `\\x${codeIn(16, sign)}`,
  (sign) => `=${codeIn(16, sign)}`,
  (sign) => `\\${sign}`,
];

function codeIn(base: number, sign: string): string {
  return sign.charCodeAt(0).toString(base);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

const NAMED_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function htmlForms(secret: string): string[] {
  const named = secret.replace(/[&<>"]/g, (character) => NAMED_ENTITIES[character] ?? character);
  const numbered = (write: (code: number) => string) =>
    secret.replace(/./gsu, (character) => write(character.codePointAt(0) ?? 0));
  return [
    named,
    named.replaceAll("'", '&#39;'),
    named.replaceAll("'", '&#x27;').replaceAll('/', '&#x2F;'),
    named.replaceAll("'", '&apos;'),
    numbered((code) => `&#${code};`),
    numbered((code) => `&#x${code.toString(16)};`),
  ];
}

/** Base64 of a text with the secret in it: three alignments, in both alphabets, without characters that neighbours mix into. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    const form = text.slice(first, end);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** @returns the secret as a list of numbers or characters, and as `hexdump`, `xxd` and `od` print it */
export function dumpsOf(secret: string): string[] {
  const bytes = [...Buffer.from(secret, 'utf8')];
  const hex = bytes.map((byte) => inDigits(byte, 16, 2));
  const swapped = [0, 1].flatMap((from) => [wordsFrom(bytes, from, 16, 4), wordsFrom(bytes, from, 8, 6)]);
  const inPairs = (from: number) => (hex.slice(from).join('').match(/.{4}/g) ?? []).join(' ');
  return [
    hex.join(' '),
    inPairs(0),
    `${hex[0]} ${inPairs(1)}`,
    ...swapped,
    bytes.map((byte) => inDigits(byte, 8, 3)).join(' '),
    bytes.map((byte) => inDigits(byte, 2, 8)).join(' '),
    bytes.map((byte) => String(byte).padStart(3)).join(' '),
    ...[', ', ','].flatMap((comma) => [bytes.join(comma), hex.map((byte) => `0x${byte}`).join(comma)]),
    [...secret].join('   '),
  ];
}

/** @returns the bytes in words of two, with the second byte first, as processors keep them */
function wordsFrom(bytes: readonly number[], from: number, base: number, digits: number): string {
  return Array.from({ length: Math.floor((bytes.length - from) / 2) }, (_, index) => {
    const at = from + 2 * index;
    return inDigits((bytes[at + 1] ?? 0) * 256 + (bytes[at] ?? 0), base, digits);
  }).join(' ');
}

function inDigits(number: number, base: number, digits: number): string {
  return number.toString(base).padStart(digits, '0');
}

const LIST_OF_BYTES = /(?:0x[0-9a-f]{2},\s{0,4}){6}/i;

/** @returns whether there may be such a list or dump in the text; quick */
export function mayHaveDump(text: string): boolean {
  return (
    text.includes('00000') ||
    text.includes('Buffer') ||
    text.includes('Array(') ||
    (text.includes('0x') && LIST_OF_BYTES.test(text))
  );
}
