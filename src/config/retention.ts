/** How long, and how much of, what was written is kept. */
import type { z } from 'zod';
import { DAY } from '../time.js';
import { wholeNumberText } from './numbers.js';

export interface Retention {
  /** Ended sessions with their journals, and closed incidents; afterwards critical events move to the archive. */
  readonly keptMs: number;
  /** Archived events, daily reviews, and issue files that were closed as completed. */
  readonly archiveMs: number;
  /** If the archive of events is larger, its oldest files are removed early. */
  readonly archiveBytes: number;
  /** A log is rotated before it exceeds this. */
  readonly logBytes: number;
}

export type RetentionName =
  | 'RETENTION_DAYS'
  | 'RETENTION_ARCHIVE_DAYS'
  | 'RETENTION_ARCHIVE_BYTES'
  | 'RETENTION_LOG_BYTES';

const MEBIBYTE = 1024 * 1024;
const DEFAULT_DAYS = 30;
const DEFAULT_ARCHIVE_DAYS = 365;
const DEFAULT_ARCHIVE_BYTES = 1024 * MEBIBYTE;
const DEFAULT_LOG_BYTES = 10 * MEBIBYTE;
/** A log that is rotated with every line is useless. */
const LEAST_LOG_BYTES = 64 * 1024;

/** @param optional reads a variable by its schema; undefined if it is not set */
export function readRetention(
  optional: (name: RetentionName, schema: z.ZodType<number>) => number | undefined,
): Retention {
  return {
    keptMs: (optional('RETENTION_DAYS', wholeNumberText('days')) ?? DEFAULT_DAYS) * DAY,
    archiveMs: (optional('RETENTION_ARCHIVE_DAYS', wholeNumberText('days')) ?? DEFAULT_ARCHIVE_DAYS) * DAY,
    archiveBytes: optional('RETENTION_ARCHIVE_BYTES', wholeNumberText('bytes')) ?? DEFAULT_ARCHIVE_BYTES,
    logBytes: optional('RETENTION_LOG_BYTES', wholeNumberText('bytes', LEAST_LOG_BYTES)) ?? DEFAULT_LOG_BYTES,
  };
}
