/** When a session was worked on last, to find those that rest. No transcript is read: its last change is no earlier than its content. */
import { seenFile } from '../../src/files/seenFile.js';
import { transcriptAt } from '../../src/transcripts/companions.js';
import type { Worklog } from '../fold/worklog.js';
import { transcriptOf } from '../observed/programFolders.js';
import type { Memory } from '../sessions/memory.js';

/** @returns an instant that is not before its last activity, UTC epoch milliseconds; null if nothing is known */
export function lastSeen({ programs }: Pick<Memory, 'programs'>, state: Worklog): number | null {
  const { last_activity, created_at, acknowledged_at, kept, lifecycle, conversations } = state;
  // After the end, its conversation may continue in another session.
  const own = programs === null || lifecycle === 'ended' ? [] : conversations.filter((one) => one.moved_at === null);
  const written = own.flatMap((conversation) => {
    const path = programs === null ? null : transcriptOf(conversation, programs);
    const files = path === null ? null : transcriptAt(path);
    return files === null ? [] : [files.path, ...files.companions].map((file) => seenFile(file)?.mtimeMs ?? 0);
  });
  const known = [last_activity ?? created_at ?? 0, acknowledged_at ?? 0, kept?.last_activity ?? 0, ...written];
  return known.reduce((latest, at) => Math.max(latest, at)) || null;
}
