import { WatchkeeperError, wordsOf } from './errors.js';

/** ioredis' words for a missing connection; it has no codes for them. */
const CONNECTION_WORDS =
  /Connection is closed|Stream isn't writeable|Socket timeout\.|\b(?:ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)\b|getaddrinfo|connect ENOENT/;
/** A server that keeps the connection open and does not reply. */
const TIMEOUT_WORDS = /Command timed out/;
/** Replies of a Redis that cannot serve any client now. */
const SERVER_WORDS =
  /\b(?:LOADING|READONLY|OOM|MISCONF|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|BUSY|TRYAGAIN|NOAUTH|WRONGPASS|NOPERM)\b/;
const CONNECTION_ERRORS = ['MaxRetriesPerRequestError', 'AbortError', 'InterruptError', 'ClusterAllFailedError'];

/** @returns whether the store is at fault and the same call may succeed later; false if it would fail again */
export function isStoreTrouble(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if (thrown instanceof WatchkeeperError) return thrown.retryable;
  if (CONNECTION_ERRORS.includes(thrown.name)) return true;
  if (thrown.name === 'ReplyError') return SERVER_WORDS.test(thrown.message);
  return CONNECTION_WORDS.test(wordsOf(thrown)) || isCommandTimeout(thrown);
}

/** @returns whether an error of ioredis only says that there is no connection: the connections' owner reports that once */
export function isConnectionLost(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if (CONNECTION_ERRORS.includes(thrown.name)) return true;
  const isRaw = RAW_ERRORS.includes(thrown.constructor.name) && thrown.name !== 'ReplyError';
  return isRaw && CONNECTION_WORDS.test(wordsOf(thrown));
}

/** @returns whether a command got no reply in time on an open connection */
export function isCommandTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && TIMEOUT_WORDS.test(thrown.message);
}

/** Words of a Redis that refuses its work as a whole, with a remedy for the operator. */
const REFUSALS: readonly (readonly [words: RegExp, remedy: string])[] = [
  [/\bOOM\b/, 'it is full: raise `maxmemory`, or move other data elsewhere; running work continues, messages wait'],
  [/\bREADONLY\b/, 'it is a replica and accepts no writes: set REDIS_URL to the primary'],
  [/\bMISCONF\b/, 'it cannot write to its disk: free some space there, and read its log'],
  [/\b(?:NOAUTH|WRONGPASS)\b/, 'it refuses the login: correct the password in REDIS_URL, and restart'],
  [/\bNOPERM\b/, 'its user may not do that: give it all commands on keys that begin with {wk}, and scripts'],
  [/\bLOADING\b/, 'it still reads its data'],
  [/\bBUSY\b/, 'a script keeps it busy'],
  [/\b(?:MASTERDOWN|CLUSTERDOWN|NOREPLICAS)\b/, 'check its replicas'],
];

export interface StoreRefusal {
  /** A clause for the operator: what Redis says, and what to do. */
  readonly words: string;
  /** What to do. It is the same for all refusals of one kind, whose messages name commands and scripts. */
  readonly remedy: string;
}

/** @returns why Redis, although it answers, serves no client now; null for every other error */
export function refusalIn(thrown: unknown): StoreRefusal | null {
  if (!(thrown instanceof Error) || thrown.name !== 'ReplyError') return null;
  const remedy = REFUSALS.find(([words]) => words.test(thrown.message))?.[1];
  if (remedy === undefined) return null;
  return { words: `${thrown.message.replace(/\.?(?: script: .*)?$/s, '')}: ${remedy}`, remedy };
}

/** Names of the errors that sockets throw. */
const RAW_ERRORS = ['Error', 'AggregateError'];
