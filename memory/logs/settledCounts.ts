/**
 * A log may end within a line. A writer that is at work leaves it so for an instant, a crash or a full disk for good.
 */
import { fstatSync } from 'node:fs';
import { errorCode } from '../../src/errors.js';
import { READ_NO_LINK, withFileSync } from '../../src/files/plainFile.js';
import { readAt } from '../../src/files/readAt.js';
import { SECOND, systemClock } from '../../src/time.js';
import type { Log } from './log.js';
import { unusable } from './logFile.js';
import type { LogCounts } from './reader.js';

/** Each line is one write, which takes much less. */
const WRITING_MS = SECOND;
const LINE_END = 0x0a;

/**
 * Waits a second if a log that ends within a line was written to just now.
 * @param log read before
 * @returns its counts; a last line that will stay incomplete is one of the unreadable lines
 * @throws UnreachableError if it cannot be looked at
 */
export async function settledCounts({ counts, path }: Pick<Log<unknown>, 'counts' | 'path'>): Promise<LogCounts> {
  // By the clock that the file system goes by.
  const isBeingWritten = (writtenAt: number) => Math.abs(systemClock.now() - writtenAt) < WRITING_MS;
  for (;;) {
    const writtenAt = tornAt(path);
    if (writtenAt === null) return counts;
    if (!isBeingWritten(writtenAt)) return { ...counts, lines: counts.lines + 1, unreadable: counts.unreadable + 1 };
    await systemClock.sleep(WRITING_MS);
  }
}

/** @returns when the log was last written to, UTC epoch milliseconds; null if it ends with a line end, or has been moved */
function tornAt(path: string): number | null {
  try {
    return withFileSync(path, READ_NO_LINK, (descriptor) => {
      const { size, mtimeMs } = fstatSync(descriptor);
      const isTorn = size > 0 && readAt(descriptor, size - 1, 1)[0] !== LINE_END;
      return isTorn ? mtimeMs : null;
    });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw unusable(path, error);
  }
}
