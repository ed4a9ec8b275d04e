/** Where issues are kept: a repository on GitHub, or a folder. */
import { WatchkeeperError } from '../../../src/errors.js';

export const WATCHDOG_LABEL = 'watchdog';

export interface IssueSummary {
  readonly number: number;
  /** For people. */
  readonly url: string;
  readonly state: 'open' | 'closed';
  /** `not_planned` covers every reason for which people do not want it again; null while it is open. */
  readonly closedAs: 'completed' | 'not_planned' | null;
  /** UTC epoch milliseconds; null while it is open. */
  readonly closedAt: number | null;
  readonly title: string;
  readonly body: string;
  /** Whether its author is the user of our token; issues by others cannot be relied on. */
  readonly isOwn: boolean;
}

/** Where a report is filed. Every method ends in time, and throws a {@link SinkError}: the caller decides by its kind. */
export interface IssueSink {
  /** Whether people outside the project may read the issues. */
  visibility(): Promise<'public' | 'private'>;
  /** All own issues with our label, open or closed, newest first. Fails rather than leaving some out. */
  list(): Promise<IssueSummary[]>;
  get(number: number): Promise<IssueSummary | null>;
  /** One POST. A missing label does not prevent the issue. */
  create(title: string, body: string): Promise<IssueSummary>;
  /** @param title the present one stays without it */
  update(number: number, body: string, title?: string): Promise<void>;
  comment(number: number, body: string): Promise<void>;
  close(number: number, as: 'completed' | 'not_planned'): Promise<void>;
  reopen(number: number): Promise<void>;
}

/**
 * - `refused`: the answer was no; nothing was written, and the same request gets the same answer until people change something.
 * - `not_reached`: nothing was written, or writing it again does no harm.
 * - `ambiguous`: it may have been written, the answer was lost.
 * - `limited`: too many requests; nothing was written.
 */
export type SinkErrorKind = 'refused' | 'not_reached' | 'ambiguous' | 'limited';

export class SinkError extends WatchkeeperError {
  readonly code = 'issue_sink';
  readonly kind: SinkErrorKind;
  readonly retryable: boolean;
  /** For `limited`, if the answer contained it. */
  readonly retryAfterMs: number | null;
  readonly status: number | null;

  constructor(
    kind: SinkErrorKind,
    message: string,
    { retryAfterMs, status, ...cause }: { cause?: unknown; retryAfterMs?: number | null; status?: number } = {},
  ) {
    super(message, cause);
    this.kind = kind;
    this.retryable = kind !== 'refused';
    this.retryAfterMs = retryAfterMs ?? null;
    this.status = status ?? null;
  }
}
