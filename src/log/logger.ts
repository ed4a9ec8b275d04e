/**
 * The log: one redacted line per record. A warning or worse is written before the call returns, so that the last messages
 * before a crash are there. Lower levels may be written together with the other lines of the same tick of the event loop. A
 * process that is killed or aborts, even because that tick never ended, loses those; one that exits or throws does not.
 * A destination that fails is reported once, to the others; the work continues.
 */
import { type LevelWithSilent, type Logger, pino } from 'pino';
import { describeError } from '../errors.js';
import { isCommandTimeout, isConnectionLost } from '../storeTrouble.js';
import { type Clock, isoTime } from '../time.js';
import { type Redact, redactJsonLine } from './redact.js';

export type { Logger } from 'pino';
export type LogLevel = LevelWithSilent;

/** A destination of finished lines; see `logDestinations.ts`. */
export interface LogDestination {
  /** For the report of its failure: `the terminal`, or a path. */
  readonly name: string;
  /** Whether it takes the lines of a tick in one piece: a system call costs more than a line. */
  readonly gathers?: true;
  /** Before it returns. @param lines a redacted JSON object with its line end, or several @throws Error */
  write(lines: string): void;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly redact: Redact;
  readonly clock: Clock;
  readonly destinations: readonly LogDestination[];
  /** Whether an error is reported elsewhere already: its line is then logged at the level `debug`. */
  readonly isReportedElsewhere?: (error: unknown) => boolean;
}

/** Further causes are left out; a chain may be circular. */
const DEEPEST_CAUSE = 5;
const MOST_STACK_FRAMES = 10;
/** pino's numbers of the levels. */
const DEBUG = 20;
const WARN = 40;
/** The most that is held back, in characters. */
const MOST_GATHERED = 64 * 1024;

/** @returns a logger; errors are logged as the field `err` or as the first argument */
export function createLogger({ level, redact, clock, destinations, isReportedElsewhere }: LoggerOptions): Logger {
  const fanOut = new FanOut(destinations, clock);
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${isoTime(clock.now())}"`,
      formatters: { level: (label) => ({ level: label }), log: serializeErrors },
      serializers: { err: serializeError },
      hooks: {
        logMethod(args, method, number) {
          const isReported = number > DEBUG && isReportedElsewhere?.(errorIn(args[0])) === true;
          if (isReported) this.debug(...args);
          else method.apply(this, args);
          if (number >= WARN) fanOut.flush();
        },
      },
    },
    { write: (line) => fanOut.write(`${redactJsonLine(redact, line.trimEnd())}\n`) },
  );
}

function errorIn(fields: unknown): unknown {
  return fields instanceof Error ? fields : (fields as { err?: unknown } | null | undefined)?.err;
}

/**
 * @returns the useful part of an error: type, message, code, status, frames and causes. Fields that contain requests or
 *   responses, and with them tokens, are left out; so are the frames of a lost connection, which are in a library. Anything but
 *   an error is returned unchanged.
 */
function serializeError(thrown: unknown): unknown {
  return thrown instanceof Error ? describe(thrown, DEEPEST_CAUSE) : thrown;
}

function describe(error: Error, depth: number): Record<string, unknown> {
  const { code, status, errors } = error as { code?: unknown; status?: unknown; errors?: unknown };
  // grammY's HttpError has its cause in `error`.
  const cause = error.cause ?? (error as { error?: unknown }).error;
  return {
    type: error.name,
    message: error.message,
    ...(isPlain(code) && { code }),
    ...(isPlain(status) && { status }),
    ...(error.stack !== undefined &&
      !isConnectionLost(error) &&
      !isCommandTimeout(error) && { stack: framesOf(error.stack) }),
    ...(depth > 0 && cause !== undefined && { cause: describeNested(cause, depth - 1) }),
    ...(depth > 0 &&
      Array.isArray(errors) && { errors: errors.slice(0, DEEPEST_CAUSE).map((one) => describeNested(one, depth - 1)) }),
  };
}

function describeNested(thrown: unknown, depth: number): unknown {
  if (thrown instanceof Error) return describe(thrown, depth);
  return typeof thrown === 'string' ? thrown : Object.prototype.toString.call(thrown);
}

function framesOf(stack: string): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames
    .slice(0, MOST_STACK_FRAMES)
    .map((line) => line.trim())
    .join('\n');
}

function isPlain(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** Handles errors under any name, not only `err`; plain JSON would show them as `{}`. */
function serializeErrors(fields: Record<string, unknown>): Record<string, unknown> {
  if (!Object.values(fields).some((value) => value instanceof Error)) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, serializeError(value)]));
}

/** The loggers that hold lines back: when the process exits, their tick has no end. */
const keepingBack = new Set<FanOut>();
let isExiting = false;

function flushAll(): void {
  isExiting = true;
  for (const fanOut of keepingBack) fanOut.flush();
}

class FanOut {
  readonly #atOnce: readonly LogDestination[];
  readonly #gathering: readonly LogDestination[];
  readonly #clock: Clock;
  readonly #failing = new Set<LogDestination>();
  #gathered = '';

  constructor(destinations: readonly LogDestination[], clock: Clock) {
    this.#atOnce = destinations.filter(({ gathers }) => !gathers);
    this.#gathering = destinations.filter(({ gathers }) => gathers);
    this.#clock = clock;
    if (this.#gathering.length > 0 && !process.listeners('exit').includes(flushAll)) process.once('exit', flushAll);
  }

  write(line: string): void {
    for (const destination of this.#atOnce) this.#writeTo(destination, line);
    if (this.#gathering.length === 0) return;
    if (this.#gathered === '') {
      keepingBack.add(this);
      process.nextTick(this.flush);
    }
    this.#gathered += line;
    if (isExiting || this.#gathered.length > MOST_GATHERED) this.flush();
  }

  /** Writes the lines that this tick held back. */
  readonly flush = (): void => {
    const lines = this.#gathered;
    if (lines === '') return;
    this.#gathered = '';
    keepingBack.delete(this);
    for (const destination of this.#gathering) this.#writeTo(destination, lines);
  };

  #writeTo(destination: LogDestination, line: string): void {
    try {
      destination.write(line);
    } catch (error) {
      if (this.#failing.has(destination)) return;
      this.#failing.add(destination);
      this.#announce(
        `The log cannot be written to ${destination.name} (${describeError(error)}). This is logged once; work continues without it.`,
      );
      return;
    }
    if (this.#failing.delete(destination)) this.#announce(`The log is written to ${destination.name} again.`);
  }

  #announce(msg: string): void {
    const line = `${JSON.stringify({ level: 'warn', time: isoTime(this.#clock.now()), pid: process.pid, msg })}\n`;
    this.flush();
    for (const destination of [...this.#atOnce, ...this.#gathering]) {
      if (!this.#failing.has(destination)) this.#writeTo(destination, line);
    }
  }
}
