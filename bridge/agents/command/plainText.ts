/**
 * The dialect of a program that knows nothing of us: whatever it prints, on either output, is a sign of life; what stands on
 * its standard output when it exits with 0 is its answer. It has no calls, so that of the rules only silence, runaway, crash
 * and orphan can find anything.
 */
import { ForeignTail } from '../../../src/log/foreignTail.js';
import { type Redact, redactShapes } from '../../../src/log/redact.js';
import { endsInsideKey } from '../../../src/log/secretShapes.js';
import { lastOf, shortenToEnd } from '../../../src/log/shorten.js';
import { type Clock, SECOND } from '../../../src/time.js';
import { type Dialect, LONGEST_ANSWER } from '../program/programStream.js';

const SIGN_EVERY_MS = SECOND;
/** Of what a program printed that then failed. A chat shows 400 of how a run ended, from the beginning. */
const LONGEST_QUOTE = 350;
const CUT = '[…]\n';
/** What comes last is kept: a log may stand before the answer. */
const KEPT = LONGEST_ANSWER - CUT.length;
/** Room for what redaction takes away. */
const WINDOW = 1.5 * KEPT;
/** Colours and other orders to a terminal: CSI and OSC sequences (ECMA-48). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const TERMINAL_ORDERS = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;
/** What a private key has between its first and its last line. */
const LINE_OF_KEY = /^\s*(?:[A-Za-z0-9+/=]*|[A-Za-z-]{1,40}: .*)\s*$/;

/** @param redact for what is cut; left out, it knows the shapes of secrets only */
export function plainText(clock: Clock, redact: Redact = redactShapes): Dialect {
  const printed = new ForeignTail(WINDOW);
  const isOfKey = keyLines();
  let lastSign = Number.NEGATIVE_INFINITY;
  return {
    line(text) {
      const shown = asShown(text);
      printed.push(`${shown}\n`);
      // A note is one line, which does not show that it belongs to a key.
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
      const text = `${wasCut ? CUT : ''}${lastOf(whole, KEPT)}`;
      if (code === 0) return [{ kind: 'answer', text }];
      // A question that nobody could answer, or why it failed: programs say either on their standard output, too.
      return [{ kind: 'failure', cause: 'crash', detail: `it printed: ${shortenToEnd(text, LONGEST_QUOTE)}` }];
    },
  };
}

/** @returns whether the next line goes on with a private key; to be asked of every line in its order */
function keyLines(): (line: string) => boolean {
  let isInside = false;
  return (line) => {
    const wasInside = isInside && (line.includes('-----END') || LINE_OF_KEY.test(line));
    isInside = endsInsideKey(line) || (wasInside && !line.includes('-----END'));
    return wasInside;
  };
}

/** A line that was written over and over shows what was written last. */
function asShown(text: string): string {
  const plain = text.replace(TERMINAL_ORDERS, '');
  let end = plain.length;
  // By hand: the pattern /\r+$/ takes quadratic time where something stands behind many of them.
  while (plain[end - 1] === '\r') end -= 1;
  return plain.slice(plain.lastIndexOf('\r', end - 1) + 1, end);
}
