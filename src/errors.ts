import { isError, wordsOf } from './causes.js';

/** Few errors, disjoint meanings. The message says to a tired operator what to do next; callers decide by `retryable` alone. */
export abstract class WatchkeeperError extends Error {
  abstract readonly code: string;
  abstract readonly retryable: boolean;
  /** @param message a line, or several. Each stays one, whatever names and words of others are in it */
  constructor(message: string | readonly string[], options?: ErrorOptions) {
    super(
      [message]
        .flat()
        .map((line) => line.replaceAll('\n', '\\n'))
        .join('\n'),
      options,
    );
  }
  override get name(): string {
    return this.constructor.name;
  }
}

/** The typed words or the configuration cannot be used; nothing was changed. The command line exits with 2. */
export class UsageError extends WatchkeeperError {
  readonly code = 'usage';
  readonly retryable = false;
}

/** A required server did not answer. The command line exits with 3. */
export class UnreachableError extends WatchkeeperError {
  readonly code = 'unreachable';
  readonly retryable = true;
}

/** Another process changed the record first: read it again and decide again. */
export class ConflictError extends WatchkeeperError {
  readonly code = 'conflict';
  readonly retryable = true;
}

/** This process has lost the right to write: a newer holder of the lease exists. */
export class FencedError extends WatchkeeperError {
  readonly code = 'fenced';
  readonly retryable = false;
}

/** This version cannot read a stored record. */
export class CorruptRecordError extends WatchkeeperError {
  readonly code = 'corrupt_record';
  readonly retryable = false;
}

/** For the `catch` of a read: unreadable records are set aside elsewhere. @throws every other error */
export function unreadable(error: unknown): 'unreadable' {
  if (error instanceof CorruptRecordError) return 'unreadable';
  throw error;
}

/** @returns the message and those of its causes, in one line; a cause that the message says itself is not repeated */
export function describeError(thrown: unknown): string {
  if (!isError(thrown)) return String(thrown);
  const message = wordsOf(thrown).replace(/\s+/g, ' ');
  const cause = thrown.cause === undefined ? '' : describeError(thrown.cause).replace(/\s+/g, ' ');
  return message.includes(cause) ? message : `${message}: ${cause}`;
}
