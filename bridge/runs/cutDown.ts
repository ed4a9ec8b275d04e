/**
 * Whether the bridge of a run went before its agent made a first call. Such an attempt has not failed, it has not begun: its
 * session is put back, as by an orderly stop, and as seldom (`MOST_INTERRUPTIONS`), for a message may be what ends the bridge.
 */
import { revivalSessionId } from '../../src/ids.js';
import { type AgentSession, MOST_INTERRUPTIONS } from '../../src/jobs/model.js';
import { readLastLine } from '../../src/journal/lastLine.js';
import { journalPath } from '../../src/journal/path.js';
import { JournalTail } from '../../src/journal/reader.js';

const CALLS: ReadonlySet<unknown> = new Set(['pre_tool_use', 'post_tool_use']);

/**
 * @param logsFolder whose journals are read
 * @param logsId its id
 * @param session active; its run is proven dead
 * @returns false where its journal cannot tell, too: it is another folder's, or lacks lines; and where a second attempt has
 *   begun since, which the store has forgotten: the first one failed
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
 * @param logsFolder whose journals are read
 * @param session active
 * @returns whether its second attempt has begun since its run did, which the store has forgotten: the first one failed
 */
export function hasSecondBegun(logsFolder: string, { attempt, session_id, run }: AgentSession): boolean {
  if (attempt !== 1 || run === null) return false;
  const line = readLastLine(journalPath(logsFolder, revivalSessionId(session_id)));
  return line !== null && Date.parse(String(line.timestamp)) >= run.started_at;
}
