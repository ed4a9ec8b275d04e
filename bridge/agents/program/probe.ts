/**
 * A short run of a program for the doctor: no standard input, its output kept, its time limited. Unlike an agent's run it is
 * not journaled and carries no mark.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { AgentUser } from '../../../src/config/agentUser.js';
import { errorCode } from '../../../src/errno.js';
import { ForeignTail } from '../../../src/log/foreignTail.js';
import { type Redact, redactShapes } from '../../../src/log/redact.js';
import { atMost, type Clock, SECOND } from '../../../src/time.js';
import { lineOfUser } from './agentUser.js';

const OUTPUT_LENGTH = 16 * 1024;
/** A program that has exited may have left a child that holds the pipes open. */
const LAST_WORDS_WAIT_MS = SECOND / 2;

export interface Probe {
  /** Redacts the output; without it, only known shapes of secrets are redacted. */
  readonly redact?: Redact;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** The user it runs as; absent or null: the bridge's own. */
  readonly user?: AgentUser | null;
  readonly limitMs: number;
}

export type ProbeEnd =
  /** `code` is null if a signal ended it; `output` is the end of both its outputs, without secrets. */
  | { readonly kind: 'exited'; readonly code: number | null; readonly output: string }
  /** It was ended with its process group, because it took too long or the signal aborted. */
  | { readonly kind: 'late' }
  | { readonly kind: 'not_started'; readonly why: string };

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** @returns how it ended; never throws */
export async function runProbe(probe: Probe, signal: AbortSignal, clock: Clock): Promise<ProbeEnd> {
  let child: Child;
  try {
    const { command, args } = lineOfUser(probe, probe.user);
    child = spawn(command, args, {
      cwd: probe.workingDirectory,
      env: probe.environment,
      // In its own session it has no terminal to ask on.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    return { kind: 'not_started', why: errorCode(error) || 'it cannot be started' };
  }
  const output = new Tail(child, probe.redact ?? redactShapes);
  const ended = new Promise<ProbeEnd>((resolve) => {
    child.once('error', (error) => resolve({ kind: 'not_started', why: errorCode(error) || 'it cannot be started' }));
    child.once('exit', async (code) => {
      await output.closedWithin(LAST_WORDS_WAIT_MS, clock);
      resolve({ kind: 'exited', code, output: output.text });
    });
  });
  const over = new AbortController();
  const stop = () => over.abort();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const late = clock.sleep(probe.limitMs, over.signal).then((): ProbeEnd => ({ kind: 'late' }));
  const end = await Promise.race([ended, late]);
  signal.removeEventListener('abort', stop);
  over.abort();
  if (end.kind === 'late') endGroup(child);
  output.close();
  return end;
}

/** The last bytes of a program's output. */
class Tail {
  readonly #tail = new ForeignTail();
  readonly #redact: Redact;
  readonly #streams: readonly Readable[];
  readonly #closed: Promise<unknown>;

  constructor({ stdout, stderr }: Child, redact: Redact) {
    this.#redact = redact;
    this.#streams = [stdout, stderr];
    this.#closed = Promise.all(this.#streams.map((stream) => new Promise((resolve) => stream.once('close', resolve))));
    for (const stream of this.#streams) {
      stream.on('error', () => {});
      const decoder = new StringDecoder('utf8');
      stream.on('data', (chunk: Buffer) => this.#tail.push(decoder.write(chunk)));
    }
  }

  get text(): string {
    return this.#tail.last(OUTPUT_LENGTH, this.#redact);
  }

  async closedWithin(limitMs: number, clock: Clock): Promise<void> {
    await atMost(clock, limitMs, this.#closed, undefined);
  }

  close(): void {
    for (const stream of this.#streams) stream.destroy();
  }
}

function endGroup(child: Child): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
