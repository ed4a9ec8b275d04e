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

/** As {@link unreadable}, for a reader to whom such a record is as good as none. */
export function nullIfUnreadable(error: unknown): null {
  unreadable(error);
  return null;
}

/** @returns the message and those of its causes, in one line; a cause that the message says itself is not repeated */
export function describeError(thrown: unknown): string {
  if (!isError(thrown)) return String(thrown);
  const message = wordsOf(thrown).replace(/\s+/g, ' ');
  const cause = thrown.cause === undefined ? '' : describeError(thrown.cause).replace(/\s+/g, ' ');
  return message.includes(cause) ? message : `${message}: ${cause}`;
}

/** Deeper than libraries nest; a guard against circles. */
const DEEPEST = 6;
/** A library's words that end without the words of the error that it wraps. */
const CUT_OFF = /[:,;(]$/;
/** System calls that come before the first byte of a request. */
const CONNECTING: readonly unknown[] = ['connect', 'getaddrinfo'];
/** Codes of a connection that was never made. */
const NEVER_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_).*)$/;
/** Codes that a connection may also end with. They say that it was never made if the error has no words but `connect`, or none. */
const MAYBE_CONNECTED = ['ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL'];

/** @returns whether it is an error; those of Node's own are not `instanceof Error` in every realm */
function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
}

/** @returns the errors at the bottom, without those that only pass them on. Never empty */
export function rootCauses(thrown: unknown, depth = DEEPEST): unknown[] {
  const nested = depth === 0 ? [] : nestedIn(thrown);
  return nested.length === 0 ? [thrown] : nested.flatMap((each) => rootCauses(each, depth - 1));
}

/**
 * Node reports a connection that failed on every address as an `AggregateError` without words, whose `errors` have them; libraries
 * nest the real error in `cause` or `error`, or keep its code.
 * @returns the words of an error; where it has none, or they break off, the words or codes of its causes
 */
export function wordsOf(error: Error): string {
  if (error.message !== '' && !CUT_OFF.test(error.message.trimEnd())) return error.message;
  const causes = rootCauses(error).map(
    (cause) => (isError(cause) && cause !== error && cause.message) || errorCode(cause),
  );
  const known = [...new Set([...causes, ...(causes.some(Boolean) ? [] : [errorCode(error)])])]
    .filter(Boolean)
    .join('; ');
  if (known === '') return error.message || error.name;
  return error.message === '' ? known : `${error.message.trimEnd()} ${known}`;
}

/** @returns whether it is certain that no connection was made, on any address: then nothing was sent */
export function wasNeverConnected(thrown: unknown): boolean {
  return rootCauses(thrown).every(isFailedConnect);
}

function isFailedConnect(cause: unknown): boolean {
  if (!isError(cause)) return false;
  const code = errorCode(cause);
  if (CONNECTING.includes((cause as { syscall?: unknown }).syscall) || NEVER_CONNECTED.test(code)) return true;
  if (!MAYBE_CONNECTED.includes(code)) return false;
  return cause.message === '' || CUT_OFF.test(cause.message.trimEnd()) || cause.message.includes(`connect ${code}`);
}

function nestedIn(thrown: unknown): unknown[] {
  if (!isError(thrown)) return [];
  // grammY's HttpError has its cause in `error`.
  const { errors, error, cause = error } = thrown as { errors?: unknown; error?: unknown; cause?: unknown };
  const all = [...(Array.isArray(errors) ? errors : []), cause];
  return all.filter((each) => isError(each) && each !== thrown);
}

/** @returns the system's code (`ENOENT`) or an empty text; Node's errors are not `instanceof Error` in every realm */
export function errorCode(thrown: unknown): string {
  const hasCode = typeof thrown === 'object' && thrown !== null && 'code' in thrown;
  return hasCode && typeof thrown.code === 'string' ? thrown.code : '';
}

const OWN_TROUBLES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

/** @returns whether the question was not even asked, because other code took all descriptors or memory: it says nothing about what was asked */
export function isOwnTrouble(thrown: unknown): boolean {
  return OWN_TROUBLES.has(errorCode(thrown));
}

/** For `catch`: @returns null for the error of a missing file @throws every other error */
export function nullIfAbsent(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}
