import { basename, dirname, join, sep } from 'node:path';
import { requireSessionId } from '../ids.js';

/** The journal's name within a session's folder; a name that is usual for such files. */
const JOURNAL_NAME = 'tool_use.jsonl';
/** The suffix of journals, and of other programs' transcripts. */
export const JOURNAL_SUFFIX = '.jsonl';

/** @returns `{logsFolder}/sessions/{sessionId}/tool_use.jsonl` @throws UsageError if the id cannot name a folder */
export function journalPath(logsFolder: string, sessionId: string): string {
  if (lastLogs?.folder !== logsFolder) lastLogs = { folder: logsFolder, sessions: join(logsFolder, 'sessions') };
  return `${lastLogs.sessions}${sep}${requireSessionId(sessionId)}${sep}${JOURNAL_NAME}`;
}

/** A process nearly always has one logs folder, and asks for several journals in it with each message. */
let lastLogs: { readonly folder: string; readonly sessions: string } | null = null;

/** @returns the name of a file of lines if none of them names its session: a session's journal is named after its folder */
export function journalName(path: string): string {
  return basename(path) === JOURNAL_NAME ? basename(dirname(path)) : basename(path, JOURNAL_SUFFIX);
}
