/**
 * A person may take a conversation back to an earlier point. Claude Code leaves the abandoned branch in the file and continues from a
 * record above it: only `parentUuid` shows that.
 */
import type { JournalEvent } from '../../journal/schema.js';
import type { RecordPlace } from '../draft/draft.js';

/** At least so many records are remembered, at most twice as many: a person seldom goes back farther. */
const REMEMBERED_RECORDS = 1_024;
const MOST_PROMPTS = 64;

type Prompt = Extract<JournalEvent, { event: 'user_prompt' }>;

interface Begun {
  readonly event: Prompt;
  /** As of its record. */
  readonly order: number;
  readonly answers: number;
}

interface Seen {
  readonly order: number;
  /** How many messages the agent had written. The blocks of one message may stand on several branches. */
  readonly answers: number;
}

/** The prompts that were taken back. The last one is asked again if the agent only answers again. */
export interface Rewind {
  readonly prompts: number;
  readonly askedAgain: Prompt | null;
}

export class Branches {
  #seen = new Map<string, Seen>();
  #seenBefore = new Map<string, Seen>();
  #prompts: Begun[] = [];
  #order = 0;
  #answers = 0;
  #message: string | null = null;

  /**
   * @param place of a prompt, or of a message of the agent, that is not seen yet
   * @returns what was taken back before it; null if it continues the conversation where that was
   */
  rewindBefore({ parentUuid }: RecordPlace): Rewind | null {
    const from = parentUuid === null ? undefined : (this.#seen.get(parentUuid) ?? this.#seenBefore.get(parentUuid));
    if (from === undefined || from.answers === this.#answers) return null;
    const kept = this.#prompts.findLastIndex(({ order }) => order <= from.order);
    const last = this.#prompts[kept];
    // The agent has not answered this prompt on the branch that continues.
    const isUnanswered = last !== undefined && last.answers === from.answers;
    const prompts = this.#prompts.length - kept - (isUnanswered ? 0 : 1);
    if (prompts === 0) return null;
    this.#prompts = this.#prompts.slice(0, kept + 1);
    return { prompts, askedAgain: isUnanswered ? last.event : null };
  }

  see({ uuid, message }: RecordPlace): void {
    if (message !== null && message !== this.#message) {
      this.#answers += 1;
      this.#message = message;
    }
    this.#order += 1;
    this.#seen.set(uuid, { order: this.#order, answers: this.#answers });
    // Dropping the oldest one each time would take as long as all the rest.
    if (this.#seen.size < REMEMBERED_RECORDS) return;
    this.#seenBefore = this.#seen;
    this.#seen = new Map();
  }

  /** A turn begins with the prompt, which was seen last. */
  begins(event: Prompt): void {
    this.#prompts.push({ event, order: this.#order, answers: this.#answers });
    if (this.#prompts.length > MOST_PROMPTS) this.#prompts.shift();
  }
}
