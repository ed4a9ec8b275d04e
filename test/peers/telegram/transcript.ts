/** Everything a person could have seen in the chats, in order, line by line. */
import type { Clock } from '../../../src/time.js';
import { isoTime } from '../../../src/time.js';
import { jsonLines } from '../jsonLines.js';

export interface TranscriptEntry {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly chat: number;
  /** The topic; null outside topics. */
  readonly thread: number | null;
  /** `bot` or `person {user id}`. */
  readonly who: string;
  readonly what:
    | 'message'
    | 'edit'
    | 'reaction'
    | 'delete'
    | 'typing'
    | 'tap'
    | 'notice'
    | 'topic_created'
    | 'topic_closed'
    | 'topic_reopened';
  readonly message_id: number | null;
  readonly reply_to: number | null;
  readonly text: string;
}

export class Transcript {
  readonly entries: TranscriptEntry[] = [];
  readonly #clock: Pick<Clock, 'now'>;
  readonly #append: (entry: TranscriptEntry) => void;

  constructor(clock: Pick<Clock, 'now'>, logFile: string | undefined) {
    this.#clock = clock;
    this.#append = jsonLines(logFile);
  }

  add(entry: Omit<TranscriptEntry, 'time'>): void {
    const timed = { time: isoTime(this.#clock.now()), ...entry };
    this.entries.push(timed);
    this.#append(timed);
  }
}
