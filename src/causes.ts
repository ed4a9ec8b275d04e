/**
 * Finds the errors behind an error. Node reports a connection that failed on every address of a host as an `AggregateError`
 * without words whose `errors` say it. `fetch` and the libraries nest the real error in `cause` or `error`, or keep its code.
 */
import { errorCode } from './errno.js';

/** Deeper than libraries nest; a guard against circles. */
const DEEPEST = 6;
/** A library's words that end without the words of the error that it wraps. */
const CUT_OFF = /[:,;(]\s*$/;
/** System calls that come before the first byte of a request. */
const CONNECTING: readonly unknown[] = ['connect', 'getaddrinfo'];
/** Codes of a connection that was never made. */
const NEVER_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_).*)$/;
/** Codes that a connection may also end with. They say that it was never made if the error has no words but `connect`, or none. */
const MAYBE_CONNECTED = ['ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL'];

/** @returns whether it is an error; those of Node's own are not `instanceof Error` in every realm */
export function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
}

/** @returns the errors at the bottom, without those that only pass them on. Never empty */
export function rootCauses(thrown: unknown, depth = DEEPEST): unknown[] {
  const nested = depth === 0 ? [] : nestedIn(thrown);
  return nested.length === 0 ? [thrown] : nested.flatMap((each) => rootCauses(each, depth - 1));
}

/** @returns the words of an error; where it has none, or they break off, the words or codes of its causes */
export function wordsOf(error: Error): string {
  if (error.message !== '' && !CUT_OFF.test(error.message)) return error.message;
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
  return cause.message === '' || CUT_OFF.test(cause.message) || cause.message.includes(`connect ${code}`);
}

function nestedIn(thrown: unknown): unknown[] {
  if (!isError(thrown)) return [];
  // grammY's HttpError has its cause in `error`.
  const { errors, error, cause = error } = thrown as { errors?: unknown; error?: unknown; cause?: unknown };
  const all = [...(Array.isArray(errors) ? errors : []), cause];
  return all.filter((each) => isError(each) && each !== thrown);
}
