/**
 * Which message shows a session's progress, kept on disk next to its journal. A Redis that is restored to an older state forgets
 * it. Without the file, the last line of that message would never be written, and it would show work for ever.
 */
import { dirname, join } from 'node:path';
import { replaceBelowLogs } from '../../../src/files/durableFile.js';
import { READ_NO_LINK, readPlainFileSync } from '../../../src/files/plainFile.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { journalPath } from '../../../src/journal/path.js';
import { parseObject } from '../../../src/json.js';
import type { Logger } from '../../../src/log/logger.js';

interface Remembered {
  readonly chat_id: string;
  readonly message_id: string;
}

const FILE = 'progress.json';
const LONGEST_BYTES = 1_024;

export class ProgressMemory {
  readonly #logsFolder: string;
  readonly #logger: Logger;

  constructor(logsFolder: string, logger: Logger) {
    this.#logsFolder = logsFolder;
    this.#logger = logger;
  }

  /** Never throws: without it only a store that forgets leaves a line behind. */
  async remember({ session_id, request }: AgentSession, messageId: string): Promise<void> {
    const remembered: Remembered = { chat_id: request.chat_id, message_id: messageId };
    const text = `${JSON.stringify({ v: 1, ...remembered })}\n`;
    await replaceBelowLogs(this.#pathOf(session_id), text).catch((err: unknown) =>
      this.#logger.debug({ err, session_id }, 'its progress message is known only to the store'),
    );
  }

  /** @returns the message of the session, or of its first attempt, in the chat where it is now; null if none is known */
  messageOf({ session_id, revival_of, request }: AgentSession): string | null {
    for (const id of [session_id, revival_of]) {
      const found = id === null ? null : this.#read(id);
      if (found?.chat_id === request.chat_id) return found.message_id;
    }
    return null;
  }

  #read(sessionId: string): Remembered | null {
    try {
      const text = readPlainFileSync(this.#pathOf(sessionId), LONGEST_BYTES, { flags: READ_NO_LINK });
      const { chat_id, message_id } = parseObject<Remembered>(text) ?? {};
      return typeof chat_id === 'string' && typeof message_id === 'string' ? { chat_id, message_id } : null;
    } catch {
      // It was never written, or is none of ours.
      return null;
    }
  }

  #pathOf(sessionId: string): string {
    return join(dirname(journalPath(this.#logsFolder, sessionId)), FILE);
  }
}
