/**
 * Finds the middle of a private key without its first and last line, as `grep -n` or `sed -n 5,15p` print it: lines of random base64
 * that have the width of a key, with the same gaps between them.
 *
 * A certificate has such lines, too, so lines next to the mark of something public are left alone. Pictures and attachments are wrapped
 * at another width.
 */
import { gapBetween, isSameGap, type Line, lineBefore, lineBehind, wholeLineAt, widthOf } from './keyLines.js';
import type { FoundSecret, Word } from './stickyMatch.js';

/** PEM, PGP and PuTTY; OpenSSH; both behind a `+` or two slashes, which are in base64, too. */
const WIDTHS: readonly number[] = [64, 65, 66, 70, 71, 72];
const FEWEST_LINES = 3;
/** Two lines of a listing have one end of a line between them, or an escaped one. */
const LONGEST_GAP = 200;
/** What stands before or behind lines that are public, or no key. */
const PUBLIC = /-----(?:BEGIN|END)|---- (?:BEGIN|END)|base64|certificate|public|ssh-[a-z0-9]+ |signature|;charset/i;
/** The first bytes of files and of certificates, in base64. */
const FILE =
  /^(?:iVBOR|\/9j\/|R0lGOD|UklGR|JVBERi|UEsDB|H4sI|Qlpo|\/Td6|AGFzb|d09GM|AAEAAA|PHN2|PD94|MI[A-Z][\w+/]{3}CC[A-P]|MI[A-Z][\w+/]{1,4}(?:ANBgk|MBMGB|MBAGB))/;

const NAME_OF_PART = Buffer.from([0x06, 0x03, 0x55]);

/** @returns the lines around the word, if they are the middle of a key */
export function findKeyMiddle(text: string, { start, end, scan }: Word, free: number): FoundSecret | null {
  if (start < scan.publicTo) return null;
  // Behind the sign of a diff, which is in words, but not in base64.
  const within = text.slice(start, end).search(/[A-Za-z0-9]+$/);
  const line = wholeLineAt(text, start + Math.max(within, 0), free);
  const width = widthOf(text, line);
  if (!WIDTHS.includes(width)) return null;
  const isLike = (other: Line | null): other is Line => other !== null && widthOf(text, other) === width;
  const before = lineBefore(text, line.begin, free, '');
  const behind = lineBehind(text, line.end, null);
  const gap = isLike(behind) ? gapBetween(text, line, behind) : isLike(before) ? gapBetween(text, before, line) : null;
  if (gap === null || gap.length > LONGEST_GAP) return null;
  const lines = linesBeside(text, line, free, gap);
  const [first, last] = [lines[0] ?? line, lines.at(-1) ?? line];
  const isKey =
    lines.filter(isLike).length >= FEWEST_LINES && !isPublic(text, first, last) && !isCertificate(text, lines);
  if (!isKey) {
    scan.publicTo = last.end;
    return null;
  }
  return { from: first.begin, to: last.end, replacement: '[redacted:private_key]' };
}

/** @returns the line and all before and behind it with the same gap between them */
function linesBeside(text: string, line: Line, free: number, gap: string): Line[] {
  const lines = [line];
  for (;;) {
    const [first = line] = lines;
    const before = lineBefore(text, first.begin, free, gap);
    if (before === null || !isSameGap(gapBetween(text, before, first), gap)) break;
    lines.unshift(before);
  }
  for (;;) {
    const last = lines.at(-1) ?? line;
    const behind = lineBehind(text, last.end, gap);
    if (behind === null || !isSameGap(gapBetween(text, last, behind), gap)) return lines;
    lines.push(behind);
  }
}

function isPublic(text: string, first: Line, last: Line): boolean {
  const before = text.slice(Math.max(0, first.begin - LONGEST_GAP), first.begin);
  const behind = text.slice(last.end, last.end + LONGEST_GAP);
  return PUBLIC.test(before) || PUBLIC.test(behind) || FILE.test(text.slice(first.begin, first.begin + 16));
}

/** Every certificate names its parts by numbers that begin with these bytes, and no key does. */
function isCertificate(text: string, lines: readonly Line[]): boolean {
  const base64 = lines.map(({ begin, end }) => text.slice(begin, end)).join('');
  return Buffer.from(base64, 'base64').includes(NAME_OF_PART);
}
