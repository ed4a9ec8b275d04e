/** Which message a journal's last run worked for. A chat may restart its message numbers, and then an old journal has its name. */
import { isoTime } from '../time.js';
import { readLastLine } from './lastLine.js';
import { JournalTail } from './reader.js';

/**
 * A clock that was set back dates a line before the acceptance of its message. The start of the run then says which message it
 * was; a journal of an earlier version does not.
 * @param path a journal; it need not exist
 * @param acceptedAt when the message was accepted, epoch milliseconds
 * @param since its lines are not older than this unless the clock was set back, epoch milliseconds
 * @returns whether its last run worked for that message
 * @throws UnreachableError if it cannot be read; the file system's error if the reason is in this process, not in the file
 */
export function isOfMessage(path: string, acceptedAt: number, since = acceptedAt): boolean {
  const line = readLastLine(path);
  if (line === null) return false;
  return Date.parse(String(line.timestamp)) >= since || lastRunIsFor(path) === isoTime(acceptedAt);
}

function lastRunIsFor(path: string): unknown {
  const journal = new JournalTail(path);
  let acceptedAt: unknown;
  for (let more = true; more; ) {
    const batch = journal.readBatch();
    more = batch.more;
    for (const record of batch.records) if (record.event === 'run_start') acceptedAt = record.accepted_at;
  }
  return acceptedAt;
}
