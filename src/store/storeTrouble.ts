import { WatchkeeperError } from '../errors.js';

/** ioredis' words for a connection that is not there; it has no codes for them. */
const CONNECTION_WORDS =
  /Connection is closed|Stream isn't writeable|Command timed out|\b(?:ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT)\b/;
/** Replies by which Redis says that it cannot serve anybody now. */
const SERVER_WORDS =
  /\b(?:LOADING|READONLY|OOM|MISCONF|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|BUSY|TRYAGAIN|NOAUTH|WRONGPASS|NOPERM)\b/;
const CONNECTION_ERRORS = ['MaxRetriesPerRequestError', 'AbortError', 'InterruptError', 'ClusterAllFailedError'];

/**
 * @param thrown what a call of the store threw
 * @returns whether the store is at fault and the same call may succeed later; false where it would fail again
 */
export function isStoreTrouble(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if (thrown instanceof WatchkeeperError) return thrown.retryable;
  if (CONNECTION_ERRORS.includes(thrown.name)) return true;
  return thrown.name === 'ReplyError' ? SERVER_WORDS.test(thrown.message) : CONNECTION_WORDS.test(thrown.message);
}
