/** The present directory of a conversation: its agent may have left the place where its program was started. */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { READ_NO_LINK, withFileSync } from '../../src/files/plainFile.js';
import { readFromEnd } from '../../src/files/readAt.js';
import { parseRecord } from '../../src/journal/record.js';
import type { Conversation } from '../fold/worklog.js';
import { transcriptOf } from '../observed/programFolders.js';
import type { Memory } from '../sessions/memory.js';

/** Never reads more of a transcript. */
const READ_BYTES = { first: 64 * 1024, most: 4 * 1024 * 1024 };

/** @returns the last directory of the caller's conversation that its transcript names, or else its hook; null if there is none now */
export function presentDirectory(
  memory: Pick<Memory, 'conversation' | 'bindings' | 'look' | 'programs'>,
): string | null {
  const { conversation: bound, programs } = memory;
  const id = bound === null ? null : memory.bindings.sessionOf(bound);
  const { conversations = [] } = (id === null ? null : memory.look(id))?.log.state ?? {};
  const own = conversations.findLast(
    (one) => one.provider === bound?.provider && one.id === bound.conversation && one.moved_at === null,
  );
  if (own === undefined) return null;
  const directory = (programs === null ? null : lastDirectory(own, programs)) ?? own.cwd;
  return directory !== null && existsSync(directory) ? directory : null;
}

/** @returns the last directory that the transcript of a conversation names; null if it names none, or cannot be read */
export function lastDirectory(conversation: Conversation, programs: NonNullable<Memory['programs']>): string | null {
  const path = transcriptOf(conversation, programs);
  if (path === null) return null;
  try {
    return withFileSync(path, READ_NO_LINK, (descriptor) =>
      readFromEnd(descriptor, READ_BYTES, (end) => directoryIn(end.toString('utf8'))),
    );
  } catch {
    // It may have moved, or may not be readable: the hook's word stays.
    return null;
  }
}

/** Claude Code names it in every record, Codex in those that begin a turn. */
function directoryIn(text: string): string | null {
  for (const line of text.split('\n').reverse()) {
    if (!line.includes('"cwd"')) continue;
    const { cwd, payload } = parseRecord(line) ?? {};
    const found = [cwd, Object(payload).cwd].find((value) => typeof value === 'string' && isAbsolute(value));
    if (typeof found === 'string') return found;
  }
  return null;
}
