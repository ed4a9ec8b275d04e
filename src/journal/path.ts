import { join } from 'node:path';
import { requireSessionId } from '../ids.js';

/** The journal's name within a session's folder; a name that is usual for such files. */
export const JOURNAL_NAME = 'tool_use.jsonl';

/**
 * @param logsFolder the logs folder (`WATCHKEEPER_LOGS`)
 * @returns `{logsFolder}/sessions/{sessionId}/tool_use.jsonl`
 * @throws UsageError if the id cannot name a folder
 */
export function journalPath(logsFolder: string, sessionId: string): string {
  return join(logsFolder, 'sessions', requireSessionId(sessionId), JOURNAL_NAME);
}
