/**
 * The dialect of a program that does not know us: any output, on either stream, is a sign of life. Its standard output is the
 * answer if it exits with 0. It has no calls, so only the rules silence, runaway, crash and orphan can find anything.
 */
import { ForeignTail } from '../../../src/log/foreignTail.js';
import { endsInsideKey, KEY_BEGINS, keyFollower } from '../../../src/log/privateKeys.js';
import { type Redact, redactShapes } from '../../../src/log/redact.js';
import { lastOf, shortenToEnd, TORN_EDGE } from '../../../src/log/shorten.js';
import { type Clock, SECOND } from '../../../src/time.js';
import { withoutEnd } from '../../../src/withoutEnd.js';
import { PLAIN_WORDS } from '../failures/explain.js';
import { type Dialect, LONGEST_ANSWER } from '../program/programStream.js';

const SIGN_EVERY_MS = SECOND;
/** The longest quote of a failed program's output. A chat shows the first 400 characters of how a run ended. */
const LONGEST_QUOTE = 350;
const CUT = '[…]\n';
/** Within a line. */
const CUT_IN_LINE = '[…] ';
/** The end is kept: a log may come before the answer. */
const KEPT = LONGEST_ANSWER - CUT.length;
/** Leaves room for text that redaction removes. */
const WINDOW = 1.5 * KEPT;
/** The beginning of such a line may be the second half of a secret of ours, and is never kept. */
const LONG_LINE = KEPT + TORN_EDGE;
/** Colours and other terminal commands: CSI and OSC sequences (ECMA-48). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const TERMINAL_ORDERS = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

/** @param redact applied to a text that is cut; without it, only known shapes of secrets are redacted */
export function plainText(clock: Clock, redact: Redact = redactShapes): Dialect {
  const printed = new ForeignTail(WINDOW);
  const isOfKey = keyFollower();
  let hasCutLine = false;
  let lastSign = Number.NEGATIVE_INFINITY;
  return {
    failureWords: PLAIN_WORDS,
    line(text) {
      const shown = asShown(text);
      // The window is cut at line ends only, so that one long line would leave nothing. Here it can be redacted as a whole.
      const isLong = shown.length > LONG_LINE;
      hasCutLine ||= isLong;
      printed.push(`${isLong ? endOfLine(shown, redact) : shown}\n`);
      // A note is a single line, which does not show whether it belongs to a key.
      return isOfKey(shown) || shown.trim() === '' ? [] : [{ kind: 'note', text: shown }];
    },
    heard() {
      const now = clock.monotonic();
      if (now - lastSign < SIGN_EVERY_MS) return [];
      lastSign = now;
      return [{ kind: 'journal', event: { event: 'heartbeat', source: 'stream' } }];
    },
    exited(code) {
      const whole = printed.last(Number.POSITIVE_INFINITY, redact);
      if (whole === '') return [];
      const wasCut = printed.hasDropped || whole.length > KEPT;
      const text = `${hasCutLine ? CUT_IN_LINE : wasCut ? CUT : ''}${lastOf(whole, KEPT)}`;
      if (code === 0) return [{ kind: 'answer', text }];
      // The output may be a question that no person could answer, or the reason of a failure: programs print both on standard
      // output, too.
      return [{ kind: 'failure', cause: 'crash', detail: `it printed: ${shortenToEnd(text, LONGEST_QUOTE)}` }];
    },
  };
}

/** @returns the end of a long line, from which the lines after it are still recognised as those of a key that begins in it */
function endOfLine(line: string, redact: Redact): string {
  const end = lastOf(redact(line), KEPT);
  return endsInsideKey(line) && !endsInsideKey(end) ? `${end}\n${KEY_BEGINS}` : end;
}

/** @returns the last content of a line that was overwritten repeatedly */
function asShown(text: string): string {
  const plain = text.replace(TERMINAL_ORDERS, '');
  const end = withoutEnd(plain, /\r/).length;
  return plain.slice(plain.lastIndexOf('\r', end - 1) + 1, end);
}
