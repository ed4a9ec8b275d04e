/**
 * Runs an agent that is a program: a child in a process group and session of its own, with exactly the environment of
 * the request, and what it prints understood by its dialect, which is the protocol (protocol.ts) unless told otherwise.
 *
 * It asks the program to stop when the signal aborts. It does not end process trees: after `end`, tools of the program
 * may still live, and a program that ignores SIGTERM goes on until the run is ended.
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { errorCode } from '../../../src/errno.js';
import { describeError } from '../../../src/errors.js';
import { createRedactor, type Redact } from '../../../src/log/redact.js';
import { shortenToEnd } from '../../../src/log/shorten.js';
import { atMost, type Clock, giveWay, MINUTE, SECOND, type Timer } from '../../../src/time.js';
import { lineOfUser } from './agentUser.js';
import type { AgentEnd, AgentEvent, AgentRequest, AgentRun } from './contract.js';
import { findProgram } from './findProgram.js';
import { LineSplitter } from './lineSplitter.js';
import { markedLine } from './markedLine.js';
import { describeExit, type Exit, reasonOf } from './programExit.js';
import { LastWords, ProgramOutput } from './programOutput.js';
import { type Dialect, ProgramStream } from './programStream.js';
import { sandboxComplaint, sandboxedLine, signalInside } from './sandbox.js';

const LINE_LIMIT_BYTES = 8 * 1024 * 1024;
/** How much of the last words is looked at. */
const READ_LIMIT = 1_000;
/** A chat shows 400 of how a run ended, from the beginning: what was written last has to be in that. */
const QUOTED_LIMIT = 350;
/** How long a program may take to exit after its answer or its failure, and its standard error to end after its exit. */
const LINGER_MS = 5 * SECOND;
/** How long it may say nothing more after a turn without an answer. Claude Code may wait that long for its own tasks. */
const QUIET_MS = 20 * MINUTE;
const LAST_WORDS_WAIT_MS = 200;
/** One chunk may hold tens of thousands of lines: after so long everybody else in this process has a turn. */
const TURN_MS = 5;

export interface AgentProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Its standard input; the prompt where it is left out. */
  readonly input?: string;
  /** Of this one run; the protocol where it is left out. */
  readonly dialect?: Dialect;
}

/** What a system says of a program that is not there, or is none, in words for a chat; anything else may pass. */
const WHY_NOT_STARTED: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'was not found'],
  ['ENOTDIR', 'was not found'],
  ['EACCES', 'may not be executed'],
  ['ENOEXEC', 'is none that this system can execute'],
  ['E2BIG', 'takes the message as an argument, and it is too long for one'],
]);

/** What `prlimit` says, and exits with, where it cannot become the agent: its interpreter is missing, say. */
const NOT_BECOME = 'prlimit: failed to execute';
const NOT_FOUND_EXIT = 127;
/** Of a C library, for a program without a PATH. */
const DEFAULT_PATH = '/bin:/usr/bin';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * @param program what to start
 * @param signal its abort sends SIGTERM to the program's group
 * @returns the run; what cannot be started ends with `run_failed_to_start`
 */
export function startProgram(
  program: AgentProgram,
  request: AgentRequest,
  signal: AbortSignal,
  clock: Clock,
): AgentRun {
  if (signal.aborted) return { pid: null, events: only({ kind: 'stopped' }) };
  const problem = describeBadDirectory(request.workingDirectory);
  if (problem !== null) {
    const forLog = `its working directory is ${request.workingDirectory}${problem.code === '' ? '' : ` (${problem.code})`}`;
    return failedToStart(problem.words, forLog, 'crash');
  }
  const missing = notThere(program, request);
  if (missing !== null) return missing;
  const { command, args } = markedLine(lineOfUser(sandboxedLine(program, request), request.user), request);
  let child: Child;
  try {
    child = spawn(command, args, {
      cwd: request.workingDirectory,
      env: request.environment,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  } catch (error) {
    return notStarted(program, error);
  }
  // Listened to at once: it is told before anybody reads the events.
  const error = new Promise((resolve) => child.once('error', resolve));
  if (child.pid === undefined) return { pid: null, events: neverStarted(program, error) };
  // A program that does not read its prompt closes the pipe; its exit says the rest.
  child.stdin.on('error', () => {});
  child.stdin.end(program.input ?? request.prompt);
  return { pid: child.pid, events: new ProgramRun(child, child.pid, program, request, signal, clock).events() };
}

/**
 * @param forLog where on this host to look
 * @param cause `crash` where another attempt may find what this one missed
 * @returns a run that ended before anything was started
 */
export function failedToStart(
  detail: string,
  forLog?: string,
  cause: 'cannot_start' | 'crash' = 'cannot_start',
): AgentRun {
  const end: AgentEnd = { kind: 'failed', cause, reason: 'run_failed_to_start', detail };
  return { pid: null, events: only(forLog === undefined ? end : { ...end, forLog }) };
}

class ProgramRun {
  readonly #child: Child;
  readonly #program: AgentProgram;
  readonly #request: AgentRequest;
  readonly #redact: Redact;
  readonly #clock: Clock;
  readonly #output: ProgramOutput;
  readonly #lastWords: LastWords;
  readonly #stream: ProgramStream;
  readonly #exit: Promise<Exit>;
  readonly #signal: AbortSignal;
  #linger: Timer | null = null;
  #quiet: Timer | null = null;

  constructor(
    child: Child,
    pid: number,
    program: AgentProgram,
    request: AgentRequest,
    signal: AbortSignal,
    clock: Clock,
  ) {
    this.#child = child;
    this.#program = program;
    this.#request = request;
    this.#redact = request.redact ?? createRedactor([]);
    this.#clock = clock;
    this.#signal = signal;
    this.#stream = new ProgramStream(program.dialect, this.#redact);
    this.#output = new ProgramOutput(child.stdout, clock);
    this.#lastWords = new LastWords(child.stderr, clock);
    const stop = () => askGroup(child, pid);
    signal.addEventListener('abort', stop, { once: true });
    this.#exit = new Promise((resolve) => {
      child.once('exit', (code, exitSignal) => {
        signal.removeEventListener('abort', stop);
        this.#output.programEnded();
        const inside = request.confinement == null || exitSignal !== null ? null : signalInside(code);
        resolve({ code: inside === null ? code : null, signal: inside ?? exitSignal, stopped: signal.aborted });
      });
    });
  }

  async *events(): AsyncGenerator<AgentEvent> {
    try {
      yield* this.#stream.begin(this.#request);
      yield* this.#said();
      yield* this.#stream.finish();
      const end = await this.#end();
      // An answer may be known only now, by the exit.
      yield* this.#stream.finish();
      yield { type: 'end', end };
    } finally {
      this.#child.stdin.destroy();
      this.#child.stderr.destroy();
      this.#output.close();
    }
  }

  async *#said(): AsyncGenerator<AgentEvent> {
    const splitter = new LineSplitter(LINE_LIMIT_BYTES);
    for await (const chunk of this.#heard()) {
      yield* this.#stream.heard();
      if (chunk === null) continue;
      let turnSince = this.#clock.monotonic();
      for (const line of splitter.push(chunk)) {
        yield* this.#stream.read(line);
        if (this.#clock.monotonic() - turnSince < TURN_MS) continue;
        await giveWay();
        turnSince = this.#clock.monotonic();
      }
      this.#limitPatience();
    }
    this.#linger?.cancel();
    this.#quiet?.cancel();
    for (const line of splitter.flush()) yield* this.#stream.read(line);
  }

  /** Of a run that owes nothing any more no rule finds that it does not end: that is seen to here. */
  #limitPatience(): void {
    const { answer, failure, isTurnOver } = this.#stream;
    const close = () => this.#output.close();
    if (answer !== null || failure !== null) this.#linger ??= this.#clock.after(LINGER_MS, close);
    this.#quiet?.cancel();
    this.#quiet = isTurnOver ? this.#clock.after(QUIET_MS, close) : null;
  }

  /** The chunks of its standard output; null for a sign of life on standard error, where the dialect takes such signs. */
  async *#heard(): AsyncGenerator<Buffer | null> {
    const chunks = this.#output.chunks();
    if (!this.#stream.hearsEverything) return yield* chunks;
    for (let next = chunks.next(); ; ) {
      const first = await Promise.race([next, this.#lastWords.more]);
      if (first === undefined) yield null;
      else if (first.done) return;
      else {
        yield first.value;
        next = chunks.next();
      }
    }
  }

  async #end(): Promise<AgentEnd> {
    if (this.#stream.answer !== null) {
      await atMost(this.#clock, LINGER_MS, this.#exit, null);
      return { kind: 'answered', answer: this.#stream.answer };
    }
    const { failure, isTurnOver } = this.#stream;
    // Where work is owed still, the watchdog judges how long.
    const exit =
      failure !== null || isTurnOver ? await atMost(this.#clock, LINGER_MS, this.#exit, null) : await this.#exit;
    if (exit?.stopped ?? this.#signal.aborted) return { kind: 'stopped' };
    if (exit !== null && exit.code !== null) this.#stream.exited(exit.code);
    if (this.#stream.answer !== null) return { kind: 'answered', answer: this.#stream.answer };
    await atMost(this.#clock, LAST_WORDS_WAIT_MS, this.#lastWords.spoken, null);
    return this.#failed(exit);
  }

  #failed(exit: Exit | null): AgentEnd {
    const { failure, unreadable } = this.#stream;
    const words = this.#lastWords.last(READ_LIMIT, this.#redact);
    if (exit?.code === NOT_FOUND_EXIT && words.startsWith(NOT_BECOME)) {
      return notStartedEnd(this.#program, { code: 'ENOEXEC' });
    }
    const unmade = this.#request.confinement == null ? null : sandboxComplaint(words);
    if (unmade !== null) {
      const detail = "the agent's sandbox could not be set up";
      return { kind: 'failed', cause: 'crash', reason: 'run_failed_to_start', detail, forLog: unmade };
    }
    const spoken = words === '' ? '' : `its last words: ${shortenToEnd(words, QUOTED_LIMIT)}`;
    // Of a plain program the standard error says why it failed; its output may be pages of progress.
    const sentences = this.#stream.hearsEverything
      ? [spoken, describeExit(exit), failure?.detail]
      : [failure?.detail, describeExit(exit), unreadable, spoken];
    const detail = sentences.filter((sentence) => sentence !== undefined && sentence !== '').join('; ');
    const cause = failure?.cause ?? 'crash';
    const until = failure?.until;
    return { kind: 'failed', cause, reason: reasonOf(cause, exit), detail, ...(until !== undefined && { until }) };
  }
}

/** While the child was not reaped, its pid names no other group. */
function askGroup(child: ChildProcess, pid: number): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It has ended, or left its group: whoever ends the run finds the rest.
  }
}

/** `spawn` reports a missing directory as if the program were missing. */
function describeBadDirectory(path: string): { readonly words: string; readonly code: string } | null {
  try {
    return statSync(path).isDirectory() ? null : { words: 'the working directory is not a directory', code: '' };
  } catch (error) {
    const code = errorCode(error);
    return { words: `the working directory ${code === 'ENOENT' ? 'was not found' : 'cannot be used'}`, code };
  }
}

/** Looked at before: what is started is `prlimit`, which would only exit with 127. */
function notThere(program: AgentProgram, { environment, workingDirectory }: AgentRequest): AgentRun | null {
  const { kind } = findProgram(program.command, environment.PATH ?? DEFAULT_PATH, workingDirectory);
  if (kind === 'found') return null;
  return notStarted(program, { code: kind === 'not_found' ? 'ENOENT' : 'EACCES' });
}

async function* neverStarted(program: AgentProgram, error: Promise<unknown>): AsyncGenerator<AgentEvent> {
  yield* notStarted(program, await error).events;
}

function notStarted(program: AgentProgram, error: unknown): AgentRun {
  return { pid: null, events: only(notStartedEnd(program, error)) };
}

function notStartedEnd({ command }: AgentProgram, error: unknown): AgentEnd {
  const code = errorCode(error);
  const detail = `the program ${basename(command)} ${WHY_NOT_STARTED.get(code) ?? 'cannot be started'}`;
  const forLog = `its program is ${command} (${code || describeError(error)})`;
  const cause = WHY_NOT_STARTED.has(code) ? 'cannot_start' : 'crash';
  return { kind: 'failed', cause, reason: 'run_failed_to_start', detail, forLog };
}

async function* only(end: AgentEnd): AsyncGenerator<AgentEvent> {
  yield { type: 'end', end };
}
