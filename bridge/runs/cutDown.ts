/**
 * Checks whether a run's bridge died before the agent made its first call. Such an attempt has not failed; it never began. Its
 * session goes back to its lane, as after an orderly stop, and at most as often (`MOST_INTERRUPTIONS`), because the message
 * itself may be what kills the bridge.
 */
import { revivalSessionId } from '../../src/ids.js';
import { type AgentSession, MOST_INTERRUPTIONS } from '../../src/jobs/model.js';
import { readLastLine } from '../../src/journal/lastLine.js';
import { journalPath } from '../../src/journal/path.js';
import { JournalTail } from '../../src/journal/reader.js';

const CALLS: ReadonlySet<unknown> = new Set(['pre_tool_use', 'post_tool_use']);

/**
 * @param logsFolder the folder of the journals to read
 * @param logsId its id
 * @param session active; its run is proven dead
 * @returns whether that happened; false if the journal cannot show it, because it is in another folder or lacks lines, and if
 *   the first attempt failed: a second one has begun since, which the store has forgotten
 */
export function wasCutDown(logsFolder: string, logsId: string | null, session: AgentSession): boolean {
  const { run, session_id, interruptions } = session;
  if (run === null || interruptions >= MOST_INTERRUPTIONS) return false;
  if (run.journal_torn === true || run.logs_id === undefined || run.logs_id !== logsId) return false;
  if (hasSecondBegun(logsFolder, session)) return false;
  const journal = new JournalTail(journalPath(logsFolder, session_id));
  for (let more = true; more; ) {
    const batch = journal.readBatch();
    more = batch.more;
    for (const { event, timestamp } of batch.records) {
      if (CALLS.has(event) && !(Date.parse(String(timestamp)) < run.started_at)) return false;
    }
  }
  return journal.diagnostics.refused === null && journal.diagnostics.oversized_lines === 0;
}

/**
 * @param logsFolder the folder of the journals to read
 * @param session active
 * @returns whether a second attempt has begun since this run did. The store has then forgotten that the first one failed
 */
export function hasSecondBegun(logsFolder: string, { attempt, session_id, run }: AgentSession): boolean {
  if (attempt !== 1 || run === null) return false;
  const line = readLastLine(journalPath(logsFolder, revivalSessionId(session_id)));
  return line !== null && Date.parse(String(line.timestamp)) >= run.started_at;
}
