/**
 * A running agent that is a program. Its dialect reads its output; the default dialect is the protocol (protocol.ts).
 *
 * It asks the program to stop when the signal aborts. It does not end process trees: after `end`, tools of the program may
 * still be alive, and a program that ignores SIGTERM runs until the run is ended.
 */
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { describeCrash } from '../../../monitoring/verdict/detectors/crash.js';
import { reasonWord } from '../../../monitoring/verdict/detectors/reasons.js';
import { LineSplitter } from '../../../src/files/lines.js';
import { createRedactor, type Redact } from '../../../src/log/redact.js';
import { shortenToEnd } from '../../../src/log/shorten.js';
import { atMost, type Clock, giveWay, MINUTE, SECOND, type Timer } from '../../../src/time.js';
import type { FailureCause } from '../failures/causes.js';
import { explain } from '../failures/explain.js';
import { isZone } from '../failures/localTime.js';
import type { Reading } from '../failures/statedEnd.js';
import type { AgentEnd, AgentEvent, AgentRequest } from './contract.js';
import { exhausted, failedToStart, isExhausted, notStarted } from './notStarted.js';
import { signalGroup } from './probe.js';
import { LastWords, ProgramOutput } from './programOutput.js';
import { type AgentProgram, ProgramStream } from './programStream.js';
import { sandboxComplaint, signalInside } from './sandbox.js';

const LINE_LIMIT_BYTES = 8 * 1024 * 1024;
const READ_LIMIT = 1_000;
/** A chat shows the first 400 characters of how a run ended, and the last output has to fit into them. */
const QUOTED_LIMIT = 350;
/** How long a program may take to exit after its answer or its failure, and its standard error to end after its exit. */
const LINGER_MS = 5 * SECOND;
/** How long it may be silent after a turn without an answer. Claude Code may wait that long for its own tasks. */
const QUIET_MS = 20 * MINUTE;
const LAST_WORDS_WAIT_MS = 200;
/** One chunk may contain tens of thousands of lines: after this time, other work in this process gets its turn. */
const TURN_MS = 5;

/** A program that prints more than this waits after each piece: the other runs of this process go first. */
const FLOOD_BYTES = 64 * 1024 * 1024;
const FLOOD_PAUSE_MS = 5;

/** The output of `prlimit`, before it exits, if it cannot become the agent, for example because its interpreter is missing. */
const NOT_BECOME = 'prlimit: failed to execute';
const NOT_FOUND_EXIT = 127;

export type AgentChild = ChildProcessByStdio<Writable, Readable, Readable>;

interface StartedProgram {
  readonly child: AgentChild;
  readonly program: AgentProgram;
  readonly request: AgentRequest;
  /** Its abort sends SIGTERM to the program's group. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** `stopped` if it had been asked to. */
interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stopped: boolean;
}

export class ProgramRun {
  readonly #child: AgentChild;
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

  constructor({ child, program, request, signal, clock }: StartedProgram) {
    this.#child = child;
    this.#program = program;
    this.#request = request;
    this.#redact = request.redact ?? createRedactor([]);
    this.#clock = clock;
    this.#signal = signal;
    this.#stream = new ProgramStream(program, this.#redact);
    this.#output = new ProgramOutput(child.stdout, clock);
    this.#lastWords = new LastWords(child.stderr, clock);
    const stop = () => signalGroup(child, 'SIGTERM');
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
    let bytes = 0;
    for await (const chunk of this.#heard()) {
      yield* this.#stream.heard();
      if (chunk === null) continue;
      bytes += chunk.length;
      const isFlood = bytes > FLOOD_BYTES;
      let turnSince = this.#clock.monotonic();
      for (const line of splitter.push(chunk)) {
        yield* this.#stream.read(line);
        if (this.#clock.monotonic() - turnSince < TURN_MS) continue;
        await (isFlood ? this.#clock.sleep(FLOOD_PAUSE_MS) : giveWay());
        turnSince = this.#clock.monotonic();
      }
      if (isFlood) await this.#clock.sleep(FLOOD_PAUSE_MS);
      this.#limitPatience();
    }
    this.#linger?.cancel();
    this.#quiet?.cancel();
    for (const line of splitter.flush()) yield* this.#stream.read(line);
  }

  /** No rule notices that a run without an open turn does not end, so it is ended here. */
  #limitPatience(): void {
    const { answer, failure, isTurnOver } = this.#stream;
    const close = () => this.#output.close();
    if (answer !== null || failure !== null) this.#linger ??= this.#clock.after(LINGER_MS, close);
    this.#quiet?.cancel();
    this.#quiet = isTurnOver ? this.#clock.after(QUIET_MS, close) : null;
  }

  /** The chunks of its standard output; null for a sign of life on standard error, while such signs are of use. */
  async *#heard(): AsyncGenerator<Buffer | null> {
    const chunks = this.#output.chunks();
    for (let next = chunks.next(); ; ) {
      const first = await (this.#stream.awaitsErrors ? Promise.race([next, this.#lastWords.more]) : next);
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
    // While a turn is open, the watchdog judges how long it may last.
    const mayLinger = failure !== null || isTurnOver;
    const exit = await (mayLinger ? atMost(this.#clock, LINGER_MS, this.#exit, null) : this.#exit);
    if (exit?.stopped ?? this.#signal.aborted) return { kind: 'stopped' };
    if (exit !== null && exit.code !== null) this.#stream.exited(exit.code);
    if (this.#stream.answer !== null) return { kind: 'answered', answer: this.#stream.answer };
    await atMost(this.#clock, LAST_WORDS_WAIT_MS, this.#lastWords.spoken, null);
    return this.#failed(exit);
  }

  /** Times of day that the program states are in the zone of its environment. */
  #reading(): Reading {
    const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const { TZ: given = '' } = this.#request.environment;
    return { now: this.#clock.now(), zone: isZone(given) ? given : own };
  }

  #failed(exit: Exit | null): AgentEnd {
    const { failure, unreadable } = this.#stream;
    const words = this.#lastWords.last(READ_LIMIT, this.#redact);
    if (exit?.code === NOT_FOUND_EXIT && words.startsWith(NOT_BECOME)) {
      return notStarted(this.#program.command, { code: 'ENOEXEC' });
    }
    const unmade = this.#request.confinement == null ? null : sandboxComplaint(words);
    if (unmade !== null && isExhausted(new Error(unmade))) return exhausted(unmade);
    if (unmade !== null) return failedToStart("the agent's sandbox could not be set up", unmade, 'crash');
    const spoken = words === '' ? '' : `its last words: ${shortenToEnd(words, QUOTED_LIMIT)}`;
    // A plain program's standard error says why it failed; its output may be pages of progress.
    const sentences = this.#stream.hearsEverything
      ? [spoken, describeExit(exit), failure?.detail]
      : [failure?.detail, describeExit(exit), unreadable, spoken];
    const detail = sentences.filter((sentence) => sentence !== undefined && sentence !== '').join('; ');
    const isOwn = exit === null || exit.signal === null;
    const explained = explain({ failure, lastWords: words, isOwn }, this.#stream.failureWords, this.#reading());
    return { kind: 'failed', ...explained, reason: reasonOf(explained.cause, exit), detail };
  }
}

/** @param exit null if the program did not exit @returns stable, without spaces: `run_failed_exit_1` */
function reasonOf(cause: FailureCause, exit: Exit | null): string {
  if (cause === 'crash') return exitReason(exit);
  const isUnstarted = cause === 'cannot_start' || cause === 'host_exhausted';
  const reason = isUnstarted ? 'run_failed_to_start' : (`run_failed_${cause}` as const);
  return reasonWord({ kind: 'plain', reason });
}

function exitReason(exit: Exit | null): string {
  if (exit === null || exit.code === 0) return reasonWord({ kind: 'plain', reason: 'run_failed_without_answer' });
  const { code, signal } = exit;
  return reasonWord(signal === null ? { kind: 'exit', code } : { kind: 'signal', signal });
}

/** Worded like the incident that follows, so that people read about it only once. */
function describeExit(exit: Exit | null): string {
  if (exit === null) return 'the agent ended its turn without an answer, and did not exit';
  return describeCrash(exitReason(exit));
}
