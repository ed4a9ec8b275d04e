/**
 * What Redis itself says was written, in its own order, and by whom: the bridge is connected by the socket, the standby by
 * the port. Kept is what tells who acts and who holds a lane; `storeOrder.ts` judges it.
 */
import { connect, type Socket } from 'node:net';
import type { Role } from './crew.js';
import { appendLine } from './records.js';

export type StoreWrite =
  /** What was written before is not known: Redis was away, or the trace has only begun. */
  | { readonly what: 'gap' }
  | { readonly what: 'acting'; readonly script: number; readonly by: Role; readonly owner: string }
  | {
      readonly what: 'incident';
      readonly script: number;
      readonly by: Role;
      readonly incident: string;
      readonly step: string;
      /** Whether its end is decided. */
      readonly isDecided: boolean;
    }
  | { readonly what: 'holder'; readonly script: number; readonly lane: string; readonly run: string | null }
  | { readonly what: 'run_lease'; readonly script: number; readonly by: Role; readonly session: string };

const AGAIN_MS = 20;
/** What stands behind that in a line is not looked at. */
const LONGEST_LOOK = 100_000;

export class StoreTrace {
  private readonly port: number;
  private readonly file: string;
  private readonly onActing: (role: Role) => void;
  private socket: Socket | null = null;
  private isStopped = false;
  private script = 0;
  private by: Role = 'bridge';
  private owner = '';

  /**
   * @param file where the writes are kept, one JSON object per line
   * @param onActing called at the instant at which another watchdog acts
   */
  constructor(port: number, file: string, onActing: (role: Role) => void) {
    this.port = port;
    this.file = file;
    this.onActing = onActing;
  }

  start(): void {
    const socket = connect(this.port, '127.0.0.1', () => socket.write('MONITOR\r\n'));
    this.socket = socket;
    let rest = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      const lines = (rest + text).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.hear(line.slice(0, LONGEST_LOOK));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.isStopped) return;
      this.note({ what: 'gap' });
      setTimeout(() => !this.isStopped && this.start(), AGAIN_MS);
    });
  }

  stop(): void {
    this.isStopped = true;
    this.socket?.destroy();
  }

  private hear(line: string): void {
    const head = /^\+[\d.]+ \[\d+ (\S+)\] "(\w+)"/.exec(line);
    if (head === null) return;
    const [, source = '', command = ''] = head;
    if (source !== 'lua') {
      if (/^flushall$/i.test(command)) this.note({ what: 'gap' });
      if (!/^eval/i.test(command)) return;
      this.script += 1;
      this.by = source.startsWith('unix:') ? 'bridge' : 'watchdog';
      return;
    }
    const write = this.writeIn(command.toUpperCase(), words(line.slice(head[0].length)));
    if (write !== null) this.note(write);
  }

  private writeIn(command: string, [key = '', ...args]: readonly string[]): StoreWrite | null {
    const { script, by } = this;
    const name = key.replace('{wk}:', '');
    if (command === 'HSET' && name.startsWith('lease:watchdog:')) {
      const place = args.indexOf('owner');
      // A process shortened the lease, which stays its owner's.
      if (place < 0) return null;
      const owner = args[place + 1] ?? '';
      if (owner !== this.owner && owner !== '') this.onActing(by);
      this.owner = owner;
      return { what: 'acting', script, by, owner };
    }
    if (command === 'HSET' && name.startsWith('incident:')) {
      const step = /"step":"(\w+)"/.exec(args.at(-1) ?? '')?.[1] ?? '';
      const isDecided = /"outcome":"/.test(args.at(-1) ?? '');
      return { what: 'incident', script, by, incident: name.slice('incident:'.length), step, isDecided };
    }
    if (name.startsWith('lane-holder:') && (command === 'SET' || command === 'DEL')) {
      const run = command === 'SET' ? (args[0] ?? '') : null;
      return { what: 'holder', script, lane: name.slice('lane-holder:'.length), run };
    }
    if (command === 'ZADD' && name === 'run-leases') return { what: 'run_lease', script, by, session: args[1] ?? '' };
    return null;
  }

  private note(write: StoreWrite): void {
    appendLine(this.file, write);
  }
}

/** @returns the quoted words of a line of MONITOR; one that was cut off at the end is given as far as it stands */
function words(text: string): string[] {
  const found = [...text.matchAll(/"((?:[^"\\]|\\.)*)("|$)/g)];
  return found.map(([, word = '']) => word.replace(/\\(["\\])/g, '$1'));
}
