/**
 * The dialect of a program that knows nothing of us: whatever it prints, on either output, is a sign of life; what stands on
 * its standard output when it exits with 0 is its answer. It has no calls, so that of the rules only silence, runaway, crash
 * and orphan can find anything.
 */
import { type Clock, SECOND } from '../../../src/time.js';
import { type Dialect, LONGEST_ANSWER } from '../programStream.js';

const SIGN_EVERY_MS = SECOND;
/** Of what a program printed that then failed. */
const LONGEST_QUOTE = 500;
const CUT = '[…]\n';
/** What comes last is kept: a log may stand before the answer. */
const KEPT = LONGEST_ANSWER - CUT.length;
/** Colours and other orders to a terminal: CSI and OSC sequences (ECMA-48). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const TERMINAL_ORDERS = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

export function plainText(clock: Clock): Dialect {
  let lines: string[] = [];
  let length = 0;
  let wasCut = false;
  let lastSign = Number.NEGATIVE_INFINITY;
  return {
    line(text) {
      const shown = asShown(text);
      lines.push(shown);
      length += shown.length + 1;
      // Seldom, and then much at once: a program may print millions of lines.
      if (length > 2 * KEPT) {
        const kept = lines.join('\n').slice(-KEPT);
        lines = [kept];
        length = kept.length + 1;
        wasCut = true;
      }
      return shown.trim() === '' ? [] : [{ kind: 'note', text: shown }];
    },
    heard() {
      const now = clock.monotonic();
      if (now - lastSign < SIGN_EVERY_MS) return [];
      lastSign = now;
      return [{ kind: 'journal', event: { event: 'heartbeat', source: 'stream' } }];
    },
    exited(code) {
      const printed = lines.join('\n').trim();
      if (printed === '') return [];
      wasCut ||= printed.length > KEPT;
      const text = `${wasCut ? CUT : ''}${printed.slice(-KEPT)}`;
      if (code === 0) return [{ kind: 'answer', text }];
      // A question that nobody could answer, or why it failed: programs say either on their standard output, too.
      return [{ kind: 'failure', cause: 'crash', detail: `it printed: ${text.slice(-LONGEST_QUOTE)}` }];
    },
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
