import { join } from 'node:path';
import { requireSessionId } from '../ids.js';

/** The journal's name within a session's folder; the field's own name for such a file. */
export const JOURNAL_NAME = 'tool_use.jsonl';

/**
 * @param logsFolder the logs folder (`WATCHKEEPER_LOGS`)
 * @returns `{logsFolder}/sessions/{sessionId}/tool_use.jsonl`
 * @throws UsageError where the id cannot name a folder
 */
export function journalPath(logsFolder: string, sessionId: string): string {
  return join(logsFolder, 'sessions', requireSessionId(sessionId), JOURNAL_NAME);
}
