/**
 * Finds the middle of a private key without its first and last line, as `grep -n` or `sed -n 5,15p` print it.
 *
 * Pictures, certificates and other files are wrapped in the same way. So the lines are a key only if they hold two of its numbers, one
 * behind the other, which nothing public does, or if the name of a file with a key stands near.
 */
import { type Line, widthOf } from './keyCharacters.js';
import { Chain, lineBefore, lineBehind, wholeLineAt } from './keyLines.js';
import type { FoundSecret, Word } from './stickyMatch.js';

/** PEM, PGP and PuTTY; OpenSSH; both behind a `+` or two slashes, which are in base64, too. */
const WIDTHS: readonly number[] = [64, 65, 66, 70, 71, 72];
const FEWEST_LINES = 3;
/** Characters that two numbers of a key have together with their lengths, and those of the longest keys. */
const SHORTEST = 100;
const LONGEST = 20_000;
const NEAR = 200;
/** Words before or behind lines that are public, or no key. */
const PUBLIC =
  /-----(?:BEGIN|END)|---- (?:BEGIN|END)|base64|certificate|public|\.pub\b|ssh-[a-z0-9]+ |signature|;charset/i;
const NAME_OF_KEY = /\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\.(?:key|ppk)\b|private[ _-]?key|privkey/i;
/** The first bytes of files and of certificates, in base64. */
const FILE =
  /^(?:iVBOR|\/9j\/|R0lGOD|UklGR|JVBERi|UEsDB|H4sI|Qlpo|\/Td6|AGFzb|d09GM|AAEAAA|PHN2|PD94|MI[A-Z][\w+/]{3}CC[A-P]|MI[A-Z][\w+/]{1,4}(?:ANBgk|MBMGB|MBAGB))/;
const NAME_OF_PART = Buffer.from([0x06, 0x03, 0x55]);
/** The tag of a whole number in ASN.1, and the marks of its lengths that take one byte and two bytes. */
const [WHOLE_NUMBER, ONE_BYTE, TWO_BYTES] = [0x02, 0x81, 0x82];
/** The exponent 65,537, which is not in front of another number in a public key. */
const USUAL_EXPONENT = Buffer.from([0x02, 0x03, 0x01, 0x00, 0x01]);
/** Bytes of a number of a key. */
const [SHORTEST_NUMBER, LONGEST_NUMBER] = [32, 2_100];
const EXPONENT_BYTES = 3;
const LONGEST_PUBLIC = 2 * SHORTEST_NUMBER;

export function findKeyMiddle(text: string, { start, end, scan }: Word): FoundSecret | null {
  if (start < scan.publicTo) return null;
  // Behind the sign of a diff, which is in words, but not in base64.
  const within = text.slice(start, end).search(/[A-Za-z0-9]+$/);
  const lines = linesAround(text, wholeLineAt(text, start + Math.max(within, 0)));
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined || last === undefined) return null;
  scan.publicTo = last.end;
  const runs = lines.map(({ begin, end: to }) => text.slice(begin, to));
  const length = runs.join('').length;
  if (length < SHORTEST || length > LONGEST) return null;
  const isKey = hasNumbersOfKey(runs) || (isNamed(text, lines) && !isPublic(text, first, last, runs));
  return isKey ? { from: first.begin, to: last.end, replacement: '[redacted:private_key]' } : null;
}

function linesAround(text: string, line: Line): Line[] {
  const lines = [line];
  const behind = new Chain();
  behind.add(widthOf(text, line), null);
  for (let at: Line | null = line; at !== null; ) {
    at = lineBehind(text, at.end, behind);
    if (at !== null) lines.push(at);
  }
  // The first line may be torn; those before it were seen before this one.
  const before = new Chain(behind.gaps);
  before.add(widthOf(text, line), null);
  const first = lineBefore(text, line.begin, before);
  return first === null ? lines : [first, ...lines];
}

function isNamed(text: string, lines: readonly Line[]): boolean {
  const first = lines[0]?.begin ?? 0;
  const widths = lines.map((line) => widthOf(text, line));
  const isWrapped = WIDTHS.some((width) => widths.filter((each) => each === width).length >= FEWEST_LINES);
  return isWrapped && NAME_OF_KEY.test(text.slice(Math.max(0, first - NEAR), lines[1]?.begin ?? first));
}

function isPublic(text: string, first: Line, last: Line, runs: readonly string[]): boolean {
  const before = text.slice(Math.max(0, first.begin - NEAR), first.begin);
  const behind = text.slice(last.end, last.end + NEAR);
  const begin = text.slice(first.begin, first.begin + 16);
  return PUBLIC.test(before) || PUBLIC.test(behind) || FILE.test(begin) || isCertificate(runs);
}

/** Every certificate names its parts by numbers that begin with these bytes, and no key does. */
function isCertificate(runs: readonly string[]): boolean {
  return Buffer.from(runs.join(''), 'base64').includes(NAME_OF_PART);
}

/** @param runs the lines; the first one may have been cut, so that its characters do not begin with a byte */
function hasNumbersOfKey(runs: readonly string[]): boolean {
  const isAdded = runs.every((run) => run.startsWith('+'));
  const base64 = runs.map((run) => (isAdded ? run.slice(1) : run)).join('');
  return [0, 1, 2, 3].some((offset) => {
    const bytes = Buffer.from(base64.slice(offset), 'base64');
    return hasNumbers(bytes, lengthInAsn1) || hasNumbers(bytes, lengthInOpenSsh);
  });
}

interface Length {
  /** Bytes that say it. */
  readonly said: number;
  readonly bytes: number;
}

/** @returns whether the bytes hold a long number and another one right behind it */
function hasNumbers(bytes: Buffer, lengthAt: (bytes: Buffer, at: number) => Length | null): boolean {
  for (let at = 0; at + SHORTEST_NUMBER < bytes.length; at += 1) {
    const length = lengthAt(bytes, at);
    const next = length === null ? null : lengthAt(bytes, at + length.said + length.bytes);
    // The number of a public key is followed by its exponent. Two of 32 bytes are in the certificates of OpenSSH, too.
    if (length !== null && next !== null && next.bytes > EXPONENT_BYTES && length.bytes + next.bytes > LONGEST_PUBLIC) {
      return true;
    }
  }
  return false;
}

function lengthInAsn1(bytes: Buffer, at: number): Length | null {
  if (bytes[at] !== WHOLE_NUMBER) return null;
  if (bytes[at + 1] === ONE_BYTE) return length(3, bytes[at + 2] ?? 0);
  if (bytes[at + 1] === TWO_BYTES && at + 3 < bytes.length) return length(4, bytes.readUInt16BE(at + 2));
  const isExponent = bytes.subarray(at, at + USUAL_EXPONENT.length).equals(USUAL_EXPONENT);
  return isExponent ? { said: 2, bytes: EXPONENT_BYTES } : null;
}

function lengthInOpenSsh(bytes: Buffer, at: number): Length | null {
  return bytes[at] === 0 && bytes[at + 1] === 0 && at + 3 < bytes.length ? length(4, bytes.readUInt16BE(at + 2)) : null;
}

function length(said: number, bytes: number): Length | null {
  return bytes < SHORTEST_NUMBER || bytes > LONGEST_NUMBER ? null : { said, bytes };
}
