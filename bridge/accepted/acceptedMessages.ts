/**
 * Notes on disk which messages were accepted, which progress message each has, and which of them have their final message in
 * the chat, and the last line in their progress message. The others are open. A bridge that starts with an empty Redis learns from it which chats wait for an answer.
 *
 * A disk that refuses a line delays no message. The next round of a bridge (`bridge/runs/acceptedRounds.ts`) writes missing
 * lines.
 */
import { join } from 'node:path';
import type { Settings } from '../../src/config/settings.js';
import { describeError } from '../../src/errors.js';
import { firstAttemptId } from '../../src/ids.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { AcceptedMessage } from '../../src/jobs/transitions.js';
import type { Logger } from '../../src/log/logger.js';
import { type Clock, giveWay, HOUR } from '../../src/time.js';
import { AcceptedFiles } from './acceptedFiles.js';
import { acceptedText, endedText, type OpenMessage, type Origin, originOf, readAcceptedLine } from './acceptedLine.js';

const FOLDER = 'accepted';
/** Shorter than a record stays after its end, so that what was seen open for the last time then is certainly still stored. */
const BEGIN_AGAIN_MS = 6 * HOUR;

export interface AcceptedMessagesParts {
  readonly settings: Pick<Settings, 'logsFolder' | 'redisUrl' | 'telegram'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class AcceptedMessages {
  readonly origin: Origin;
  readonly #parts: AcceptedMessagesParts;
  readonly #folder: string;
  readonly #files: AcceptedFiles;
  /** By the id of the first attempt, the oldest first. */
  readonly #open = new Map<string, OpenMessage>();
  /** Lines that share the next write. */
  #unwritten = '';
  #begunAt: number | null = null;
  #isInTrouble = false;

  constructor(parts: AcceptedMessagesParts) {
    this.#parts = parts;
    this.origin = originOf(parts.settings);
    this.#folder = join(parts.settings.logsFolder, FOLDER);
    this.#files = new AcceptedFiles(this.#folder);
  }

  /** @returns the same way into the store, which also notes each message that it accepts */
  noting<Draft, Fence>(accept: (draft: Draft, fence: Fence) => Promise<AcceptedMessage>): typeof accept {
    return async (draft, fence) => {
      const accepted = await accept(draft, fence);
      // If the answer to an earlier try was lost, this one is the first to learn that the message was accepted.
      if (accepted.isNew || accepted.session.status === 'pending') this.note(accepted.session);
      return accepted;
    };
  }

  /** The store has accepted the message, or has it still. */
  note(session: AgentSession): void {
    this.#write(acceptedText({ session, ...this.origin, seenAt: this.#parts.clock.now() }));
  }

  /** The final message of the session's message needs no further delivery, and its progress message has its last line. */
  ended(sessionId: string): void {
    this.#write(endedText(sessionId, this.#parts.clock.now()));
  }

  /** Writes all notes at once. A process that is about to end calls it. Never throws. */
  flush(): void {
    const lines = this.#unwritten;
    this.#unwritten = '';
    if (lines === '') return;
    try {
      this.#files.append(lines);
      this.#isInTrouble = false;
    } catch (error) {
      this.#complain(error, 'written');
    }
  }

  /** @returns the open messages, the oldest first; if the disk cannot be read, those that were read before */
  async open(): Promise<OpenMessage[]> {
    this.flush();
    try {
      for (const text of await this.#files.unread()) this.#fold(text);
    } catch (error) {
      this.#complain(error, 'read');
    }
    return [...this.#open.values()];
  }

  /**
   * Begins a new file now and then, and if the last one was taken away, with the open messages among those that the store has. Only for
   * the bridge. Never throws.
   */
  async beginAgain(present: readonly OpenMessage[]): Promise<void> {
    const now = this.#parts.clock.now();
    const isDue = this.#begunAt === null || Math.abs(now - this.#begunAt) >= BEGIN_AGAIN_MS;
    try {
      if (!isDue && !this.#files.mustBeginAgain) return;
      const seen = new Set(present);
      const lines = [...this.#open.values()].map((message) =>
        acceptedText(seen.has(message) ? { ...message, ...this.origin, seenAt: now } : message),
      );
      await this.#files.begin(lines.join(''));
      this.#begunAt = now;
    } catch (error) {
      this.#complain(error, 'written');
    }
  }

  close(): void {
    this.flush();
    this.#files.close();
  }

  #write(line: string): void {
    if (this.#unwritten === '') void giveWay().then(() => this.flush());
    this.#unwritten += line;
  }

  #fold(text: string): void {
    const line = readAcceptedLine(text);
    if (line === null) return;
    if (line.did === 'accepted') {
      const { message } = line;
      this.#open.set(message.session.session_id, message);
      return;
    }
    this.#open.delete(firstAttemptId(line.sessionId));
  }

  /** Once, until it ends. */
  #complain(err: unknown, what: string): void {
    if (this.#isInTrouble) return;
    this.#isInTrouble = true;
    const why = describeError(err);
    this.#parts.logger.warn({ err }, `the register of accepted messages in ${this.#folder} cannot be ${what} (${why})`);
  }
}
