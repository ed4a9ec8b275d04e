/** Where log lines go: the terminal, and a file that is rotated by size. */
import { closeSync, fstatSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LineAppender } from '../files/lineAppender.js';
import { openToAppendSync, PRIVATE_FOLDER } from '../files/privateFiles.js';
import { parseObject } from '../json.js';
import type { LogDestination } from './logger.js';
import { oneLine } from './visibleText.js';

/** The part of `process.stdout` that is used. */
export interface TerminalStream {
  readonly isTTY?: boolean;
  write(text: string): boolean;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** @returns a destination that writes readable lines to a terminal and JSON to everything else */
export function terminalDestination(stream: TerminalStream): LogDestination {
  let broken: Error | null = null;
  // Without a listener a closed pipe (`watchkeeper bridge | head`) would end the process.
  stream.on('error', (error) => {
    broken = error;
  });
  return {
    name: 'the terminal',
    write(line) {
      if (broken) throw broken;
      stream.write(stream.isTTY ? readableLine(line) : line);
    },
  };
}

/** Fields that the readable line has shown already, or that mean nothing to a person. */
const OMITTED = new Set(['level', 'time', 'pid', 'msg', 'err']);

/** @returns `10:00:00.000 warn  msg  field=value  err: message`, always a single line */
export function readableLine(line: string): string {
  const record = parseObject<Record<string, unknown>>(line);
  if (record === null) return line;
  const time = String(record.time ?? '').slice(11, 23);
  const message = String(record.msg ?? '');
  const parts = [`${time} ${String(record.level ?? '').padEnd(5)} ${oneLine(message)}`];
  for (const [name, value] of Object.entries(record)) {
    if (!OMITTED.has(name) && !isShown(value, message))
      parts.push(`${oneLine(name)}=${oneLine(typeof value === 'string' ? value : JSON.stringify(value))}`);
  }
  const error = errorWords(record.err);
  if (error !== '' && error !== record.msg) parts.push(`err: ${oneLine(error)}`);
  return `${parts.join('  ')}\n`;
}

/** Whether the sentence contains the name or id already, or there is none. The file keeps them all. */
function isShown(value: unknown, message: string): boolean {
  return value === null || (typeof value === 'string' && message.includes(value));
}

function errorWords(error: unknown): string {
  if (typeof error === 'string') return error;
  if (typeof error !== 'object' || error === null) return '';
  const { message, type, code, cause } = error as Record<string, unknown>;
  const own = `${message || type || 'error'}${code === undefined ? '' : ` (${code})`}`;
  const behind = errorWords(cause);
  return behind === '' ? own : `${own}: ${behind}`;
}

export interface FileLimits {
  /** The file is rotated before a write would make it larger. */
  readonly maxBytes: number;
  /** How many rotated files are kept, at least 1: `bridge.log.1` is the youngest. */
  readonly keep: number;
}

const DEFAULT_FILE_LIMITS: FileLimits = { maxBytes: 10 * 1024 * 1024, keep: 5 };

/**
 * A destination that appends to a file. Several processes may share it: if another one has rotated, moved or deleted it, it is
 * opened again. (Two that rotate in the same instant may rotate twice, which loses no line.)
 */
export class LogFile implements LogDestination {
  readonly name: string;
  readonly gathers = true;
  readonly #limits: FileLimits;
  readonly #lines = new LineAppender({ isShared: true });
  #opened: { readonly descriptor: number; readonly ino: number; readonly dev: number } | null = null;

  /** @param path its folder is created at the first line */
  constructor(path: string, limits = DEFAULT_FILE_LIMITS) {
    this.name = path;
    this.#limits = limits;
  }

  write(lines: string): void {
    const size = this.#openHere();
    if (size > 0 && size + Buffer.byteLength(lines) > this.#limits.maxBytes) this.#rotate();
    this.#lines.append(lines);
  }

  /** Makes sure that the open file is the one at the path. @returns its size in bytes */
  #openHere(): number {
    if (this.#opened !== null) {
      const there = statSync(this.name, { throwIfNoEntry: false });
      if (there?.ino === this.#opened.ino && there.dev === this.#opened.dev) return there.size;
      closeSync(this.#opened.descriptor);
      this.#opened = null;
    }
    mkdirSync(dirname(this.name), { recursive: true, mode: PRIVATE_FOLDER });
    const descriptor = openToAppendSync(this.name);
    const { ino, dev, size } = fstatSync(descriptor);
    this.#opened = { descriptor, ino, dev };
    this.#lines.use(this.name, descriptor);
    return size;
  }

  #rotate(): void {
    // The remaining text is whole.
    this.#lines.append('');
    try {
      for (let number = this.#limits.keep; number > 1; number -= 1) {
        renameIfThere(`${this.name}.${number - 1}`, `${this.name}.${number}`);
      }
      renameIfThere(this.name, `${this.name}.1`);
    } catch {
      // The folder allows no rename: a log that is too large is better than none.
      return;
    }
    this.#openHere();
  }
}

function renameIfThere(from: string, to: string): void {
  if (statSync(from, { throwIfNoEntry: false })) renameSync(from, to);
}
