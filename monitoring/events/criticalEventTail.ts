/** Reads critical events from a growing file, and remembers its position. */
import type { FileHandle } from 'node:fs/promises';
import { errorCode, UnreachableError } from '../../src/errors.js';
import { linesFrom } from '../../src/files/lines.js';
import { describeFileTrouble, openPlainFile } from '../../src/files/plainFile.js';
import type { AgentName, CriticalEvent, ReachedStep } from '../../src/jobs/incidents.js';
import { parseRecord } from '../../src/journal/record.js';
import { isObject } from '../../src/json.js';

/** Remembers its last position, and starts over when the file was truncated or replaced. */
export class Tail {
  readonly #path: string;
  readonly #windowBytes: number;
  #identity = '';
  #offset = 0;

  /** @param windowBytes how much of a file to read when it is first seen, from its end */
  constructor(path: string, windowBytes = Number.POSITIVE_INFINITY) {
    this.#path = path;
    this.#windowBytes = windowBytes;
  }

  /** @returns the lines appended since the last call; `restarted` if the file is another one, or shorter than before */
  async next(): Promise<{ events: CriticalEvent[]; restarted: boolean }> {
    const found = await withFile(this.#path, async (file) => {
      const { dev, ino, birthtimeMs, size } = await file.stat();
      // A file that replaces a deleted one often gets its inode.
      const identity = `${dev}:${ino}:${birthtimeMs}`;
      const restarted = identity !== this.#identity || size < this.#offset;
      if (restarted) this.#offset = Math.max(0, size - this.#windowBytes);
      this.#identity = identity;
      return { events: size === this.#offset ? [] : await this.#read(file), restarted };
    });
    return found ?? { events: [], restarted: true };
  }

  async #read(file: FileHandle): Promise<CriticalEvent[]> {
    const events: CriticalEvent[] = [];
    for await (const { text, end, whole } of linesFrom(file, this.#offset)) {
      const event = parseEvent(text);
      // A fragment that is not an event yet may become one: it is read again.
      if (whole || event !== null) this.#offset = end;
      if (event !== null) events.push(event);
    }
    return events;
  }
}

/** @returns null if there is none @throws UnreachableError if it is not a file: a pipe would make its reader wait for ever */
export async function openEvents(path: string): Promise<FileHandle | null> {
  try {
    return await openPlainFile(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw new UnreachableError(
      `${path} cannot be read (${describeFileTrouble(error)}): the critical events must be a regular file that this user may read`,
      { cause: error },
    );
  }
}

/** @returns what `use` returns; null if there is no file @throws as {@link openEvents} */
export async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T | null> {
  const file = await openEvents(path);
  if (file === null) return null;
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** Null if there is no value, or if a line that others wrote holds something other than text. */
const PLAIN_TEXTS = ['session_id', 'project_key', 'reason', 'rule', 'action_taken', 'github_issue'] as const;

/** Events and fields of later versions pass. One strange field counts as absent, so that the events behind it are read. */
export function parseEvent(text: string): CriticalEvent | null {
  const event = parseRecord(text.replace(/^ +/, '')) as CriticalEvent | null;
  if (event === null || ![event.id, event.incident_id, event.event, event.timestamp].every(isText)) return null;
  return Number.isNaN(Date.parse(event.timestamp)) ? null : withoutStrange(event);
}

function withoutStrange(event: CriticalEvent): CriticalEvent {
  const { untrusted_excerpt: excerpt, asked, agent, step, ...rest } = event;
  const texts = Object.fromEntries(PLAIN_TEXTS.map((name) => [name, isText(event[name]) ? event[name] : null]));
  const details = isObject(event.details) ? event.details : null;
  return {
    ...rest,
    ...texts,
    details,
    final: event.final === true,
    ...(isStep(step) && { step }),
    ...(isAgent(agent) && { agent }),
    ...(isText(asked) && { asked }),
    ...(isText(excerpt) && { untrusted_excerpt: excerpt }),
  };
}

function isStep(value: unknown): value is ReachedStep {
  return isObject(value) && isText(value.title) && Number.isInteger(value.number) && Number.isInteger(value.of);
}

function isAgent(value: unknown): value is AgentName {
  return isObject(value) && isText(value.name) && (value.version === null || isText(value.version));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
