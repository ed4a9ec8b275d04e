/** Puts one part of a final message into the chat, and notes that on disk: before the send, and after it. */
import type { OutboxEntry } from '../../src/jobs/model.js';
import { SECOND } from '../../src/time.js';
import type { FinalText } from '../chat/sendLine.js';
import type { SendMemory } from '../chat/sendMemory.js';
import { type AnswerPart, isFile } from './answerParts.js';
import type { Outcome, PartSender } from './partSender.js';

export interface PartToPlace {
  readonly entry: OutboxEntry;
  readonly text: FinalText;
  readonly part: AnswerPart;
  /** The part may already be in the chat. */
  readonly inDoubt: boolean;
  /** Whether the message may follow its chat to another id. */
  readonly mayMove: boolean;
}

/** Another process is sending it at this moment. */
const ELSEWHERE_RETRY_MS = 5 * SECOND;
const FILE_IN_DOUBT: Outcome = { kind: 'left_out', reason: 'a send of it was broken off, and may have brought it' };

export class PartPlacer {
  private readonly sender: PartSender;
  private readonly memory: SendMemory;

  constructor(sender: PartSender, memory: SendMemory) {
    this.sender = sender;
    this.memory = memory;
  }

  /** @returns what it means for the delivery; never throws for Telegram or the disk */
  async place(wanted: PartToPlace): Promise<Outcome> {
    const { entry, text } = wanted;
    const outcome = await this.put(wanted);
    if (isSettled(outcome)) await this.memory.arrived(text, entry.parts_done);
    return outcome;
  }

  private async put({ entry, text, part, inDoubt, mayMove }: PartToPlace): Promise<Outcome> {
    if (entry.edit_into !== null && !isFile(part)) return this.sender.edit(entry, entry.edit_into, part, mayMove);
    const claim = inDoubt ? 'in_doubt' : await this.memory.claim(text, entry.parts_done);
    if (claim === 'in_doubt') return isFile(part) ? FILE_IN_DOUBT : this.sender.findPlace(entry, mayMove);
    if (claim === 'elsewhere') {
      const reason = 'another process is sending it';
      return { kind: 'later', patch: {}, inDoubt: false, delayMs: ELSEWHERE_RETRY_MS, reason };
    }
    const outcome = isFile(part)
      ? await this.sender.sendFile(entry, part, mayMove)
      : await this.sender.send(entry, part, mayMove);
    if (!isSettled(outcome) && !outcome.inDoubt) await this.memory.withdraw(text, entry.parts_done);
    return outcome;
  }
}

function isSettled(outcome: Outcome): outcome is Extract<Outcome, { kind: 'placed' | 'left_out' }> {
  return outcome.kind === 'placed' || outcome.kind === 'left_out';
}
