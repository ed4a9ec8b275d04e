/**
 * A text that is longer than a message may be. Telegram's clients cut it, as a person pastes it, into messages that follow each
 * other within a second; nothing marks them as one. Run each by itself, an agent would work on a text that ends in the middle of
 * a word, and an order at its end would reach only the last run.
 */
import type { Update } from 'grammy/types';
import { type Clock, SECOND } from '../../../src/time.js';
import { parseCommand } from '../../intake/commands/commandText.js';
import { joinedAt } from './entities.js';
import { type Bot, type Incoming, type IncomingText, readUpdate, requestOf } from './incoming.js';

/** Where Telegram ends a message, in UTF-16 units. */
const LONGEST_PIECE = 4_096;
/** The clients look for the end of a line or a word before that. */
export const LEAST_PIECE = 3_500;
/** Telegram dates messages in whole seconds. */
const MOST_BETWEEN_MS = SECOND;
const NEXT_PIECE_MS = 1.5 * SECOND;
/** Telegram returns at once while something is not confirmed. */
const NEXT_LOOK_MS = SECOND / 4;

export interface Paste {
  readonly whole: IncomingText;
  readonly pieces: readonly Update[];
  /** False if a further piece may come. */
  readonly isComplete: boolean;
}

export class NextPiece {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #wait: { readonly after: number; readonly until: number } | null = null;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** How long to pause before the next look, in milliseconds; 0 if nothing is waited for. */
  get pauseMs(): number {
    return this.#wait === null ? 0 : Math.max(Math.min(this.#wait.until - this.#clock.monotonic(), NEXT_LOOK_MS), 0);
  }

  /** @returns whether there is still time for the piece after the update; asked for the first time, the wait begins */
  mayCome(after: number): boolean {
    const now = this.#clock.monotonic();
    if (this.#wait?.after !== after) this.#wait = { after, until: now + NEXT_PIECE_MS };
    return now < this.#wait.until;
  }

  forget(): void {
    this.#wait = null;
  }
}

/** @returns the paste whose first piece is the message; null if it is no piece of one */
export function pasteIn(first: Incoming, later: readonly Update[], bot: Bot): Paste | null {
  if (!isText(first) || first.length < LEAST_PIECE || isOtherCommand(first)) return null;
  const pieces: Update[] = [];
  let whole = first;
  let last = first;
  for (const update of later) {
    if (last.length < LEAST_PIECE) break;
    const next = readOrNull(update, bot);
    if (next === null || !('message' in next) || !isFromSamePlace(next, first)) continue;
    if (!isText(next) || !follows(next, last, first)) return { whole, pieces, isComplete: true };
    whole = joined(whole, last, next);
    last = next;
    pieces.push(update);
  }
  return { whole, pieces, isComplete: last.length < LEAST_PIECE };
}

/** @returns null for an update that is malformed: it will be rejected when its turn comes */
export function readOrNull(update: Update, bot: Bot): Incoming | null {
  try {
    return readUpdate(update, bot);
  } catch {
    return null;
  }
}

function isText(incoming: Incoming | null): incoming is IncomingText {
  return incoming?.kind === 'text';
}

/** `/ask` is followed by a request; the other commands by a word at most. */
function isOtherCommand(incoming: IncomingText): boolean {
  return isCommand(incoming) && !/^\/ask\b/i.test(incoming.typed);
}

function isCommand({ typed }: IncomingText): boolean {
  return parseCommand(typed, null) !== null;
}

function isFromSamePlace(next: Extract<Incoming, { message: unknown }>, { message }: IncomingText): boolean {
  const { chatId, threadId, sender } = next.message;
  return chatId === message.chatId && threadId === message.threadId && sender.id === message.sender.id;
}

function follows(next: IncomingText, last: IncomingText, first: IncomingText): boolean {
  const betweenMs = (next.message.writtenAt ?? 0) - (last.message.writtenAt ?? 0);
  const { replyTo } = next.message;
  const answersTheSame = replyTo === null || replyTo === first.message.replyTo;
  return betweenMs <= MOST_BETWEEN_MS && next.relay === first.relay && answersTheSame && !isCommand(next);
}

/** A full message was cut within its line; from a shorter one the client has removed the blanks at the cut. */
function joined(whole: IncomingText, last: IncomingText, next: IncomingText): IncomingText {
  const { message } = whole;
  const said = joinedAt(whole.said, last.length === LONGEST_PIECE ? '' : '\n', next.said);
  // The pieces of an answer to one message may each come with its words.
  const notes = [...new Set([...whole.notes, ...next.notes])];
  const pieces = [...(message.pieces ?? []), next.message.messageId];
  const isAddressed = whole.isAddressed || next.isAddressed;
  return { ...whole, said, notes, message: { ...message, text: requestOf(said, notes), pieces }, isAddressed };
}
