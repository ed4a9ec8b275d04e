/** How a message ended, as the people in its chat read it. */
import type { TranscriptEntry } from '../peers/telegram/transcript.js';
import type { Asked } from './records.js';

export type EndKind = 'answer' | 'failure' | 'cancelled';

export interface End {
  readonly kind: EndKind;
  /** The whole text; an answer names its session and its run. */
  readonly text: string;
  readonly what: 'message' | 'edit';
  /** UTC epoch milliseconds. */
  readonly at: number;
}

/** @returns every send and edit of a final text in answer to this message, in order */
export function endsOf(
  transcript: readonly TranscriptEntry[],
  { chat, message }: Pick<Asked, 'chat' | 'message'>,
): End[] {
  const replies = new Set<number | null>();
  const ends: End[] = [];
  for (const entry of transcript) {
    if (entry.chat !== chat || entry.who !== 'bot') continue;
    if (entry.what === 'message' && entry.reply_to === message) replies.add(entry.message_id);
    if ((entry.what !== 'message' && entry.what !== 'edit') || !replies.has(entry.message_id)) continue;
    const kind = kindOf(entry.text);
    if (kind !== null) ends.push({ kind, text: entry.text, what: entry.what, at: Date.parse(entry.time) });
  }
  return ends;
}

/** @returns how a message ended whose final text this is; null for any other text */
export function kindOf(text: string): EndKind | null {
  if (text.startsWith('answer of ')) return 'answer';
  if (text.startsWith("Sorry, I ran into an issue and couldn't recover.")) return 'failure';
  return text.startsWith('Cancelled at your request') ? 'cancelled' : null;
}
