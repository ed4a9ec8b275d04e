/** Every failure between us and the Bot API, as one error whose `kind` says what may have happened. */
import { GrammyError, HttpError } from 'grammy';
import { WatchkeeperError } from '../../src/errors.js';
import { SECOND } from '../../src/time.js';

/**
 * - `refused`: the API said no, and would again (400, 403).
 * - `unauthorized`: the bot itself is refused, whatever it asks (401, and 404 for a malformed token).
 * - `limited`: not now (429).
 * - `not_reached`: no request went out; certainly nothing happened.
 * - `unknown`: the request may have had its effect (timeout, reset, 5xx).
 */
export type ChatErrorKind = 'refused' | 'unauthorized' | 'limited' | 'not_reached' | 'unknown';

interface ChatFailure {
  readonly kind: ChatErrorKind;
  readonly status?: number;
  readonly description: string;
  readonly retryAfterMs?: number;
  readonly migrateToChatId?: string;
}

/** Has no cause: grammY's errors carry the token in what they nest. */
export class ChatError extends WatchkeeperError {
  readonly code = 'chat';
  readonly kind: ChatErrorKind;
  /** The API's `error_code`; null if the API did not answer. */
  readonly status: number | null;
  /** The API's own words, or the network's. */
  readonly description: string;
  /** Milliseconds; null unless `limited`. */
  readonly retryAfterMs: number | null;
  readonly migrateToChatId: string | null;

  constructor(method: string, failure: ChatFailure) {
    super(`Telegram ${method}: ${failure.description}`);
    this.kind = failure.kind;
    this.status = failure.status ?? null;
    this.description = failure.description;
    this.retryAfterMs = failure.retryAfterMs ?? null;
    this.migrateToChatId = failure.migrateToChatId ?? null;
  }

  get retryable(): boolean {
    return this.kind !== 'refused';
  }
}

/** Node's codes for a connection that was never made. Others, such as ECONNRESET, say nothing about the request. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];
/** The same, if the words say that it happened while connecting. */
const FAILED_CONNECT = /\bconnect (?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)\b/;
const WITHOUT_HINT_MS = 5 * SECOND;

/**
 * @param method the API's method, for the message
 * @param thrown what grammY threw
 * @param token scrubbed from every word that is kept
 */
export function classify(method: string, thrown: unknown, token: string): ChatError {
  const scrub = (text: string) => text.replaceAll(token, '[redacted:bot_token]').replaceAll(encodeURI(token), '…');
  if (thrown instanceof GrammyError) return classifyAnswer(method, thrown, scrub(thrown.description));
  const cause = thrown instanceof HttpError ? thrown.error : thrown;
  const description = scrub(cause instanceof Error ? cause.message : String(cause));
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const isNotReached = NOT_CONNECTED.includes(code) || FAILED_CONNECT.test(description);
  return new ChatError(method, { kind: isNotReached ? 'not_reached' : 'unknown', description });
}

function classifyAnswer(method: string, error: GrammyError, words: string): ChatError {
  const { error_code: status, parameters } = error;
  const description = `${status} ${words}`;
  if (status === 429) {
    const retryAfterMs = parameters.retry_after === undefined ? WITHOUT_HINT_MS : parameters.retry_after * SECOND;
    return new ChatError(method, { kind: 'limited', status, description, retryAfterMs });
  }
  if (status >= 500) return new ChatError(method, { kind: 'unknown', status, description });
  if (status === 401 || status === 404) return new ChatError(method, { kind: 'unauthorized', status, description });
  const migrated = parameters.migrate_to_chat_id;
  return new ChatError(method, {
    kind: 'refused',
    status,
    description,
    ...(migrated !== undefined && { migrateToChatId: String(migrated) }),
  });
}
