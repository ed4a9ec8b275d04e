/** Serves one client on standard input and output, until it leaves or a signal comes. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { type Clock, giveWay, SECOND } from '../../src/time.js';
import type { serveByLibrary } from './library.js';
import { Opening } from './opening.js';
import type { Offered } from './server.js';
import { wholeLines } from './wire.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A running call gets so long to finish what it writes. */
const FINISH_WITHIN_MS = 2 * SECOND;

/** This process, as far as the server needs it. */
export interface Serving {
  readonly stdin: Readable;
  readonly stdout: Writable;
  on(signal: (typeof SIGNALS)[number], listener: () => void): unknown;
  exit(code: 0): void;
}

/** Loads the library, at the first message that needs it. */
type LoadLibrary = () => { readonly serveByLibrary: typeof serveByLibrary };

/**
 * Serves until the process ends, which it does with 0: at the end of the input, at a signal, and if the output is closed. Calls run one
 * after the other, in the order in which they came.
 */
export function serve(offered: Offered, loadLibrary: LoadLibrary, own: Serving, clock: Clock): void {
  const { stdin, stdout } = own;
  let last: Promise<unknown> = Promise.resolve();
  const callTool: Offered['callTool'] = (...call) => {
    const answer = last.then(() => offered.callTool(...call));
    last = answer.catch(() => undefined);
    return answer;
  };
  const finished = async () => {
    // The last request may be on its way to its call.
    for (let seen: unknown = null; seen !== last; await last) {
      seen = last;
      await giveWay();
      await giveWay();
    }
  };
  let isEnding = false;
  const end = () => {
    if (isEnding) return;
    isEnding = true;
    clock.after(FINISH_WITHIN_MS, () => own.exit(0));
    void finished().then(() => stdout.write('', () => own.exit(0)));
  };
  for (const signal of SIGNALS) own.on(signal, end);
  for (const event of ['end', 'close', 'error']) stdin.on(event, end);
  stdout.on('error', () => own.exit(0));
  const opening = new Opening(offered);
  let lines: PassThrough | null = null;
  const take = (line: Buffer) => {
    const answer = lines === null ? opening.answer(line) : null;
    if (answer !== null) {
      if (answer !== '') stdout.write(answer);
      return;
    }
    if (lines === null) {
      lines = new PassThrough();
      for (const settled of opening.settled) lines.write(settled);
      loadLibrary().serveByLibrary({ ...offered, callTool }, lines, stdout);
    }
    lines.write(line);
  };
  wholeLines(stdin, take, (line) => stdout.write(line));
}
