/** Every failure between us and the Bot API, as one error whose `kind` says what may have happened. */
import { HttpError } from 'grammy';
import type { ApiError } from 'grammy/types';
import { WatchkeeperError, wasNeverConnected, wordsOf } from '../../src/errors.js';
import { HOUR, MINUTE, SECOND } from '../../src/time.js';

/**
 * - `refused`: the API said no, and would again until a person changes something (400, 403).
 * - `unauthorized`: the bot itself is refused, whatever it asks (401, and 404 for a malformed token).
 * - `limited`: not now (429).
 * - `not_reached`: no request went out; certainly nothing happened.
 * - `unknown`: the request may have had its effect (timeout, reset, 5xx).
 */
type ChatErrorKind = 'refused' | 'unauthorized' | 'limited' | 'not_reached' | 'unknown';

interface ChatFailure {
  readonly kind: ChatErrorKind;
  readonly status?: number;
  readonly description: string;
  readonly retryAfterMs?: number;
  readonly migrateToChatId?: string | null;
}

/** Has no cause: grammY's errors carry the token in the errors that they nest. */
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

  /** How long to wait before the next try, in milliseconds; null if the number of tries decides. */
  get pauseMs(): number | null {
    if (this.kind === 'limited') return Math.min(this.retryAfterMs ?? 0, LONGEST_PAUSE_MS);
    return this.kind === 'unauthorized' ? UNAUTHORIZED_PAUSE_MS : null;
  }
}

/** @returns the failure of the API; any other error is a bug and is rethrown */
export function asChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  throw error;
}

const WITHOUT_HINT_MS = 5 * SECOND;
/** A `retry_after` can be hours; after this we ask again. */
const LONGEST_PAUSE_MS = HOUR;
/** A bot whose token is refused needs its operator. */
const UNAUTHORIZED_PAUSE_MS = MINUTE;

/** The API did not answer. @param token scrubbed from every word that is kept */
export function noAnswer(method: string, thrown: unknown, token: string): ChatError {
  const cause = thrown instanceof HttpError ? thrown.error : thrown;
  const description = withoutToken(cause instanceof Error ? wordsOf(cause) : String(cause), token);
  return new ChatError(method, { kind: wasNeverConnected(cause) ? 'not_reached' : 'unknown', description });
}

/** The API said no; the parameters are those of {@link noAnswer}. */
export function refusal(method: string, answer: ApiError, token: string): ChatError {
  const { error_code: status, parameters = {} } = answer;
  const failure = { status, description: `${status} ${withoutToken(answer.description, token)}` };
  if (status === 429) {
    const retryAfterMs = parameters.retry_after === undefined ? WITHOUT_HINT_MS : parameters.retry_after * SECOND;
    return new ChatError(method, { ...failure, kind: 'limited', retryAfterMs });
  }
  if (status >= 500) return new ChatError(method, { ...failure, kind: 'unknown' });
  if (status === 401 || status === 404) return new ChatError(method, { ...failure, kind: 'unauthorized' });
  const moved = parameters.migrate_to_chat_id;
  const migrateToChatId = moved === undefined ? null : String(moved);
  return new ChatError(method, { ...failure, kind: 'refused', migrateToChatId });
}

function withoutToken(text: string, token: string): string {
  return text.replaceAll(token, '[redacted:bot_token]').replaceAll(encodeURI(token), '…');
}

/** A trouble that keeps messages from being taken in. */
export interface Complaint {
  readonly about: string;
  readonly words: string;
  readonly err?: unknown;
  /** Milliseconds; null if the number of failures decides. */
  readonly pauseMs: number | null;
}

/** @returns words for the operator, and a pause */
export function complaintAbout({ kind, status, description, pauseMs }: ChatError): Complaint {
  if (status === 409) {
    const words = `another program fetches this bot's messages (${description}): only one bridge may run per bot token; stop the other one, or remove its webhook`;
    return { about: 'another poller', words, pauseMs };
  }
  if (kind === 'unauthorized') {
    const words = `Telegram refuses the bot token (${description}): check TELEGRAM_BOT_TOKEN; no message can be read until then`;
    return { about: kind, words, pauseMs };
  }
  const trouble = kind === 'limited' ? 'Telegram asks to wait' : 'Telegram cannot be asked for messages';
  return { about: kind, words: `${trouble}: ${description}`, pauseMs };
}
