/** Where issues are kept: a repository on GitHub, or a folder. */
import { WatchkeeperError } from '../../../src/errors.js';

export const WATCHDOG_LABEL = 'watchdog';

export function twinComment(keptNumber: number): string {
  return `Filed twice for the same at once: #${keptNumber} goes on, this one is closed.`;
}

export interface IssueSummary {
  readonly number: number;
  /** For people. */
  readonly url: string;
  readonly state: 'open' | 'closed';
  /** `not_planned` covers every reason for which people do not want it again; null while it is open. */
  readonly closedAs: 'completed' | 'not_planned' | null;
  /** UTC epoch milliseconds; null while it is open. */
  readonly closedAt: number | null;
  readonly body: string;
  /** Whether its author is the user of our token; issues by others cannot be relied on. */
  readonly isOwn: boolean;
}

/**
 * What the report needs. Nothing here retries: the caller decides, by the kind of the error. Every method throws a {@link
 * SinkError} if it fails, and ends within the time limit of its requests or when `signal` aborts.
 */
export interface IssueSink {
  /** Whether people outside the project may read the issues. */
  visibility(signal: AbortSignal): Promise<'public' | 'private'>;
  /** All own issues with our label, newest first. Fails rather than leaving some out. */
  list(state: 'open' | 'all', signal: AbortSignal): Promise<IssueSummary[]>;
  /** @returns null if the issue was deleted */
  get(number: number, signal: AbortSignal): Promise<IssueSummary | null>;
  /** One POST. A missing label does not prevent the issue. */
  create(title: string, body: string, signal: AbortSignal): Promise<IssueSummary>;
  update(number: number, body: string, signal: AbortSignal): Promise<void>;
  comment(number: number, body: string, signal: AbortSignal): Promise<void>;
  /** Closes it as completed. */
  close(number: number, signal: AbortSignal): Promise<void>;
  reopen(number: number, signal: AbortSignal): Promise<void>;
  /** Closes one of two issues that were filed for the same fault at once, with a comment that names the other. */
  closeTwin(number: number, keptNumber: number, signal: AbortSignal): Promise<void>;
}

/**
 * - `refused`: the answer was no; nothing was written, and the same request gets the same answer until people change something.
 * - `not_reached`: nothing was written, or writing it again does no harm.
 * - `ambiguous`: it may have been written, the answer was lost.
 * - `limited`: too many requests; nothing was written.
 */
export type SinkErrorKind = 'refused' | 'not_reached' | 'ambiguous' | 'limited';

interface SinkErrorOptions {
  readonly cause?: unknown;
  readonly retryAfterMs?: number | null;
  readonly status?: number;
}

export class SinkError extends WatchkeeperError {
  readonly code = 'issue_sink';
  readonly kind: SinkErrorKind;
  readonly retryable: boolean;
  /** For `limited`, if the answer contained it. */
  readonly retryAfterMs: number | null;
  /** The HTTP status, if there was an answer. */
  readonly status: number | null;

  constructor(kind: SinkErrorKind, message: string, options: SinkErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.kind = kind;
    this.retryable = kind !== 'refused';
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.status = options.status ?? null;
  }
}
