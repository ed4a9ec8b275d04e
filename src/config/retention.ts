/** How long what was written is kept, and how much of it. */
import type { z } from 'zod';
import { DAY } from '../time.js';
import { wholeNumberText } from './numbers.js';

export interface Retention {
  /** Ended sessions with their journals and closed incidents; afterwards critical events move to the archive. */
  readonly keptMs: number;
  /** Archived events, daily reviews, and issues as files that were closed as completed. */
  readonly archiveMs: number;
  /** More than this in the archive of events, and its oldest files go before their time. */
  readonly archiveBytes: number;
  /** A log that would grow beyond it is rotated. */
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
/** A log that is rotated with every line is of no use. */
const LEAST_LOG_BYTES = 64 * 1024;

/** @param optional reads a variable by its schema; undefined where it is not set */
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
