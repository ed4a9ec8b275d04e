/**
 * The command line for tests that call it many times. What runs is the compiled program, as in {@link watchkeeper}, but one process
 * runs it for all calls of a test file: most of the time of a short command is the beginning of its process. A test about the process
 * itself, such as its signals, its standard streams or its death, needs {@link watchkeeper}.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { errorCode } from '../../../src/errors.js';
import { compiledProgram } from '../../../src/host/program.js';
import { afterThisFile } from '../../harness/scope.js';
import { type Said, watchkeeper } from './program.js';

export interface Call {
  readonly directory: string;
  readonly args: readonly string[];
  /** All of them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const LIMIT_MS = 30_000;
const LOOK_MS = 1;
/** More than a call has. */
const PART_BYTES = 65_536;

let running: Caller | null = null;

/** As {@link watchkeeper}: also waits, so nothing else of this process goes on meanwhile. */
export function watchkeeperAgain(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Said {
  const caller = callerOfFile();
  caller.ask({ directory: folder, args, environment: { PATH: process.env.PATH, ...environment } });
  for (const end = performance.now() + LIMIT_MS; performance.now() < end; ) {
    const said = caller.look();
    if (said !== null) return said;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
  }
  return hanging(caller);
}

/** @param failpoint at which the call, then in a process of its own, is killed; empty if it runs to its end */
export function watchkeeperUntil(
  failpoint: string,
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Said {
  if (failpoint === '') return watchkeeperAgain(folder, args, environment);
  return watchkeeper(folder, args, { ...environment, WATCHKEEPER_FAILPOINT: failpoint });
}

/** As {@link watchkeeperAgain}, while peers in this process answer. One call at a time. */
export async function watchkeeperMeanwhile(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Said> {
  const caller = callerOfFile();
  caller.ask({ directory: folder, args, environment });
  for (const end = performance.now() + LIMIT_MS; performance.now() < end; ) {
    const said = caller.look();
    if (said !== null) return said;
    await setTimeout(LOOK_MS);
  }
  return hanging(caller);
}

function callerOfFile(): Caller {
  if (running !== null) return running;
  const caller = new Caller();
  running = caller;
  afterThisFile(async () => {
    if (running === caller) running = null;
    await caller.stop();
  });
  return caller;
}

/** The next call gets another process. */
function hanging(caller: Caller): Said {
  if (running === caller) running = null;
  caller.kill();
  return { code: null, out: '', err: '' };
}

class Caller {
  readonly #child: ChildProcess;
  readonly #asks: number;
  readonly #answers: number;
  readonly #parts: Buffer[] = [];

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'wk-calls-'));
    const pipes = [join(folder, 'asked'), join(folder, 'answered')] as const;
    execFileSync('mkfifo', pipes);
    // With both ends, so that opening waits for nobody.
    this.#asks = openSync(pipes[0], constants.O_RDWR);
    this.#answers = openSync(pipes[1], constants.O_RDWR | constants.O_NONBLOCK);
    const program = compiledProgram('test/bridge/cli/manyCallsMain');
    this.#child = spawn(process.execPath, [program, ...pipes], { stdio: ['ignore', 'inherit', 'inherit'] });
    afterThisFile(() => rmSync(folder, { recursive: true }));
  }

  ask(call: Call): void {
    writeSync(this.#asks, `${JSON.stringify(call)}\n`);
  }

  /** @returns null if it has not said all yet */
  look(): Said | null {
    for (let part = this.#read(); part !== null; part = this.#read()) {
      this.#parts.push(part);
      if (part.at(-1) === 0x0a) return JSON.parse(Buffer.concat(this.#parts.splice(0)).toString());
    }
    return null;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async stop(): Promise<void> {
    for (const pipe of [this.#asks, this.#answers]) closeSync(pipe);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    await once(this.#child, 'exit');
  }

  /** @returns null if nothing is there yet */
  #read(): Buffer | null {
    const part = Buffer.alloc(PART_BYTES);
    try {
      return part.subarray(0, readSync(this.#answers, part));
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') return null;
      throw error;
    }
  }
}
