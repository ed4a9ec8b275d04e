/** What people see in the end: the last state of each message in each chat, and what it was before. */
import type { TranscriptEntry } from '../peers/telegram/transcript.js';
import { kindOf } from './ends.js';
import { isUnknownProgressLine, type Loss } from './losses.js';
import type { Asked } from './records.js';
import { sessionOf } from './stakes.js';

/** A message of the bot that answers a person's message. */
export interface SeenMessage {
  readonly id: number | null;
  /** Each text that it had, in order. */
  readonly texts: readonly string[];
  /** When it was sent; UTC epoch milliseconds. */
  readonly sentAt: number;
  /** When it got its last text; UTC epoch milliseconds. */
  readonly editedAt: number;
  readonly isDeleted: boolean;
}

const CLOSING_LINE = /^(?:Done|Ended without an answer|Stopped)\b/;
const LONGEST_SHOWN = 60;

/** @returns the bot's messages in answer to this one, in order */
function repliesTo(
  transcript: readonly TranscriptEntry[],
  { chat, message }: Pick<Asked, 'chat' | 'message'>,
): SeenMessage[] {
  const seen = new Map<number | null, { texts: string[]; sentAt: number; editedAt: number; isDeleted: boolean }>();
  for (const entry of transcript) {
    if (entry.chat !== chat || entry.who !== 'bot') continue;
    const known = seen.get(entry.message_id);
    const at = Date.parse(entry.time);
    if (entry.what === 'message' && entry.reply_to === message) {
      seen.set(entry.message_id, { texts: [entry.text], sentAt: at, editedAt: at, isDeleted: false });
    } else if (entry.what === 'edit' && known !== undefined) {
      known.texts.push(entry.text);
      known.editedAt = at;
    } else if (entry.what === 'delete' && known !== undefined) known.isDeleted = true;
  }
  return [...seen].map(([id, message]) => ({ id, ...message }));
}

/**
 * A final text stands to the end; one message has one final text; no ended message keeps a line that says that it is being
 * worked on.
 * @param losses what was taken from the product in this history
 */
export function seenViolations(
  transcript: readonly TranscriptEntry[],
  asked: readonly Asked[],
  losses: readonly Loss[],
): string[] {
  return asked.flatMap((each) => {
    const session = sessionOf(each);
    const replies = repliesTo(transcript, each);
    const shown = replies.filter(({ isDeleted }) => !isDeleted).map((reply) => ({ reply, text: last(reply) }));
    const wasEnded = replies.some(({ texts }) => texts.some((text) => kindOf(text) !== null));
    if (!wasEnded) return [];
    const standing = new Set(shown.filter(({ text }) => kindOf(text) !== null).map(({ text }) => text));
    const working = shown.filter(
      ({ reply, text }) => kindOf(text) === null && !CLOSING_LINE.test(text) && !isUnknownProgressLine(reply, losses),
    );
    return [
      ...replies.flatMap((reply) => editedAway(session, reply)),
      ...(standing.size === 0 ? [`${session}: no final text stands in the end`] : []),
      ...(standing.size > 1
        ? [`${session}: ${standing.size} final texts stand in the end: ${[...standing].map(short).join(' | ')}`]
        : []),
      ...working.map(({ text }) => `${session}: has ended, and still shows "${short(text)}"`),
    ];
  });
}

function editedAway(session: string, { texts }: SeenMessage): string[] {
  const first = texts.findIndex((text) => kindOf(text) !== null);
  const final = texts[first];
  const later = first === -1 ? undefined : texts.slice(first).find((text) => text !== final);
  if (final === undefined || later === undefined) return [];
  return [`${session}: its final text "${short(final)}" was edited into "${short(later)}"`];
}

function last({ texts }: SeenMessage): string {
  return texts.at(-1) ?? '';
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line;
}
