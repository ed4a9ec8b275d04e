/**
 * Puts one part of a final message into the chat, by one call of the API, and notes that on disk: before the send, and after it.
 */
import { failpoint } from '../../../src/failpoints.js';
import type { OutboxEntry } from '../../../src/jobs/model.js';
import { MINUTE, SECOND } from '../../../src/time.js';
import type { FinalText } from '../../chat/sendLine.js';
import type { SendMemory } from '../../chat/sendMemory.js';
import type { Destination, TelegramApi, Text } from '../api.js';
import { asChatError, type ChatError } from '../chatError.js';
import { type AnswerFile, type AnswerPart, isFile } from '../markdown/answerParts.js';
import type { MessagePart } from '../markdown/render.js';

interface PartToPlace {
  readonly entry: OutboxEntry;
  readonly text: FinalText;
  readonly part: AnswerPart;
  /** The part may already be in the chat. */
  readonly inDoubt: boolean;
  /** Whether the message may follow its chat to another id. */
  readonly mayMove: boolean;
}

export type Outcome =
  | { readonly kind: 'placed'; readonly messageId: string }
  /** A file that may or may not be in the chat; nothing more is done for it. */
  | { readonly kind: 'left_out'; readonly reason: string }
  /** Something was learned: try again at once. */
  | {
      readonly kind: 'again';
      readonly patch: Partial<OutboxEntry>;
      readonly inDoubt: boolean;
      readonly reason: string | null;
    }
  | {
      readonly kind: 'later';
      readonly patch: Partial<OutboxEntry>;
      readonly inDoubt: boolean;
      /** Null if the number of tries decides. */
      readonly delayMs: number | null;
      readonly longestMs?: number;
      readonly reason: string;
      /** The chat asked for a pause of `delayMs`. */
      readonly isLimited?: true;
    }
  | { readonly kind: 'never'; readonly inDoubt: boolean; readonly reason: string };

const PLACEHOLDER = { plain: '…', html: null };
/** Each lost placeholder may be one more "…" in the chat. */
const LONGEST_PLACEHOLDER_BACKOFF_MS = 15 * MINUTE;
/** Each try costs the bot a call for a chat that may never take it back. */
const LONGEST_REFUSAL_BACKOFF_MS = 30 * MINUTE;
/** Another process is sending it at this moment. */
const ELSEWHERE_RETRY_MS = 5 * SECOND;
const FILE_IN_DOUBT: Outcome = { kind: 'left_out', reason: 'a send of it was broken off, and may have brought it' };

/** Telegram's words; there are no codes. */
const BAD_FORMATTING = /can't parse entities|text must be non-empty|message text is empty/i;
const NOT_MODIFIED = /message is not modified/i;
/** Refused for its content or its receiver. People can undo every other refusal: a right, a block, a removal, a closed topic. */
const NEVER_TAKEN = /too long|must be non-empty|is empty|can't parse|too big|user is deactivated/i;
const TOPIC_GONE = /message thread not found|TOPIC_CLOSED|TOPIC_DELETED/i;
const TARGET_GONE = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i;

export class PartSender {
  readonly #api: TelegramApi;
  readonly #memory: SendMemory;
  readonly #signal: AbortSignal;

  /** @param signal abandons the current send: its outcome is then unknown */
  constructor(api: TelegramApi, memory: SendMemory, signal: AbortSignal) {
    this.#api = api;
    this.#memory = memory;
    this.#signal = signal;
  }

  /** Never throws for Telegram or the disk. */
  async place(wanted: PartToPlace): Promise<Outcome> {
    const { entry, text } = wanted;
    const outcome = await this.#put(wanted);
    if (isSettled(outcome)) await this.#memory.arrived(text, entry.parts_done);
    return outcome;
  }

  async #put({ entry, text, part, inDoubt, mayMove }: PartToPlace): Promise<Outcome> {
    if (entry.edit_into !== null && !isFile(part)) return this.#edit(entry, entry.edit_into, part, mayMove);
    const claim = inDoubt ? 'in_doubt' : await this.#memory.claim(text, entry.parts_done);
    if (claim === 'in_doubt') return isFile(part) ? FILE_IN_DOUBT : this.#findPlace(entry, mayMove);
    if (claim === 'elsewhere') {
      const reason = 'another process is sending it';
      return { kind: 'later', patch: {}, inDoubt: false, delayMs: ELSEWHERE_RETRY_MS, reason };
    }
    const outcome = await (isFile(part) ? this.#sendFile(entry, part, mayMove) : this.#send(entry, part, mayMove));
    if (!isSettled(outcome) && !outcome.inDoubt) await this.#memory.withdraw(text, entry.parts_done);
    return outcome;
  }

  /** The one send of a part's text. Only the first part makes a sound. */
  async #send(entry: OutboxEntry, part: MessagePart, mayMove: boolean): Promise<Outcome> {
    try {
      const options = { silent: entry.parts_done > 0, signal: this.#signal };
      return await sentOnce(() =>
        this.#formattedOrPlain(part, (text) => this.#api.sendMessage(destination(entry), text, options)),
      );
    } catch (error) {
      const failure = asChatError(error);
      if (failure.kind === 'unknown') return again({}, true, failure);
      return this.#settle(entry, failure, false, mayMove);
    }
  }

  /** Never repeated if it may have arrived, and left out if it is refused: the chat has all of its text. */
  async #sendFile(entry: OutboxEntry, file: AnswerFile, mayMove: boolean): Promise<Outcome> {
    try {
      const options = { silent: true, signal: this.#signal };
      return await sentOnce(() => this.#api.sendDocument(destination(entry), file, options));
    } catch (error) {
      const failure = asChatError(error);
      const left = { kind: 'left_out', reason: failure.description } as const;
      if (failure.kind === 'unknown') return left;
      const outcome = this.#settle(entry, failure, false, mayMove);
      // A refusal that can pass is not worth holding back what the chat has already.
      return outcome.kind === 'never' || (outcome.kind === 'later' && failure.kind === 'refused') ? left : outcome;
    }
  }

  /** A part in doubt is sent by an edit: this gives it a placeholder of its own. Silent, because it may be repeated. */
  async #findPlace(entry: OutboxEntry, mayMove: boolean): Promise<Outcome> {
    try {
      failpoint('answer.placeholder.before');
      const options = { silent: true, signal: this.#signal };
      const messageId = await this.#api.sendMessage(destination(entry), PLACEHOLDER, options);
      failpoint('answer.placeholder.after');
      return again({ edit_into: messageId }, false, null);
    } catch (error) {
      const failure = asChatError(error);
      if (failure.kind === 'unknown') {
        return { ...later(failure, true), longestMs: LONGEST_PLACEHOLDER_BACKOFF_MS };
      }
      return this.#settle(entry, failure, true, mayMove);
    }
  }

  /** May be repeated as often as needed: the second time it is "not modified". */
  async #edit(entry: OutboxEntry, messageId: string, part: MessagePart, mayMove: boolean): Promise<Outcome> {
    try {
      failpoint('answer.edit.before');
      await this.#formattedOrPlain(part, (text) =>
        this.#api.editMessageText(entry.chat_id, messageId, text, this.#signal),
      );
      failpoint('answer.edit.after');
      return { kind: 'placed', messageId };
    } catch (error) {
      const failure = asChatError(error);
      if (failure.kind !== 'refused') return later(failure, false);
      if (NOT_MODIFIED.test(failure.description)) return { kind: 'placed', messageId };
      // Not at once: should every placeholder be refused, the chat must not fill with them.
      if (TARGET_GONE.test(failure.description)) {
        const lost = later(failure, true);
        return { ...lost, patch: { edit_into: null }, longestMs: LONGEST_PLACEHOLDER_BACKOFF_MS };
      }
      return this.#settle(entry, failure, true, mayMove);
    }
  }

  /** @param failure certainly had no effect */
  #settle(entry: OutboxEntry, failure: ChatError, inDoubt: boolean, mayMove: boolean): Outcome {
    if (failure.kind !== 'refused') return later(failure, inDoubt);
    // The ids of the group's messages are not valid in the supergroup that it became.
    if (failure.migrateToChatId !== null && mayMove) {
      const moved = { chat_id: failure.migrateToChatId, reply_to: null, progress_message_id: null, edit_into: null };
      return again(moved, inDoubt, failure);
    }
    // The same people read the rest of the chat, and a lost answer is worse than one outside its topic. A reply would be put
    // into the topic again.
    if (TOPIC_GONE.test(failure.description) && entry.thread_id !== null) {
      const general = { thread_id: null, reply_to: null, edit_into: null };
      return again(general, inDoubt, failure);
    }
    const isForGood = failure.migrateToChatId !== null || NEVER_TAKEN.test(failure.description);
    if (isForGood) return { kind: 'never', inDoubt, reason: failure.description };
    return { ...later(failure, inDoubt), longestMs: LONGEST_REFUSAL_BACKOFF_MS };
  }

  async #formattedOrPlain<Result>(part: MessagePart, call: (text: Text) => Promise<Result>): Promise<Result> {
    try {
      return await call(part);
    } catch (error) {
      const failure = asChatError(error);
      if (failure.kind !== 'refused' || !BAD_FORMATTING.test(failure.description)) throw failure;
      return call({ plain: part.plain, html: null });
    }
  }
}

function isSettled(outcome: Outcome): outcome is Extract<Outcome, { kind: 'placed' | 'left_out' }> {
  return outcome.kind === 'placed' || outcome.kind === 'left_out';
}

async function sentOnce(send: () => Promise<string>): Promise<Outcome> {
  failpoint('answer.send.before');
  const messageId = await send();
  failpoint('answer.send.after');
  return { kind: 'placed', messageId };
}

/** The first part answers the message; the others follow it. */
function destination(entry: OutboxEntry): Destination {
  const replyTo = entry.parts_done === 0 ? entry.reply_to : null;
  return { chatId: entry.chat_id, threadId: entry.thread_id, replyTo };
}

function again(patch: Partial<OutboxEntry>, inDoubt: boolean, failure: ChatError | null): Outcome {
  return { kind: 'again', patch, inDoubt, reason: failure?.description ?? null };
}

function later(failure: ChatError, inDoubt: boolean) {
  const { kind, pauseMs: delayMs, description: reason } = failure;
  const isLimited = kind === 'limited' ? ({ isLimited: true } as const) : {};
  return { kind: 'later', patch: {}, inDoubt, delayMs, reason, ...isLimited } as const;
}
