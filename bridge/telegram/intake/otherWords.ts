/**
 * Words that come with a request and are not those of the person who asks: a message that it answers, a quote, a preview. They
 * stand below the request, in lines that begin with `>`, each under a note that says whose they are. The notes are ours: a name
 * or a text cannot forge one.
 */
import { withEntities } from './entities.js';
import { type AnsweredMessage, contentOf, type Message, nameOf, type Origin, type Sender } from './messageFields.js';

export interface OtherWords {
  /** For the agent in any case; empty if there are none. */
  readonly notes: readonly string[];
  /** The answered message, if it is the bot's or the sender's own: its conversation knows it already. Null if there is none. */
  readonly ownEarlier: string | null;
}

const LONGEST_NAME = 80;

/** @param answered the message that this one answers; null if it answers none, or only opens a topic */
export function otherWords(message: Message, answered: AnsweredMessage | null, botId: number): OtherWords {
  const notes: string[] = [];
  let ownEarlier: string | null = null;
  const quoted = message.quote === undefined ? null : wordsOf(message.quote);
  if (message.external_reply !== undefined) {
    const author = `${authorOf(message.external_reply.origin)} in another chat`;
    notes.push(noteOn(author, quoted, contentOf(message.external_reply)));
  } else if (answered !== null) {
    const author = answered.sender_chat ?? answered.from;
    const isBots = answered.from?.id === botId;
    const isOwn = isBots || (author !== undefined && author.id === (message.sender_chat ?? message.from)?.id);
    const whose = isBots ? 'this bot' : isOwn ? 'the same person' : personName(author);
    const note = noteOn(whose, quoted ?? wordsOf(answered), contentOf(answered), quoted !== null, isOwn);
    if (isOwn && quoted === null) ownEarlier = note;
    else notes.push(note);
  }
  if (message.reply_to_story !== undefined) notes.push('[This answers a story, which I cannot read.]');
  if (message.reply_to_checklist_task_id !== undefined) {
    notes.push(`[This is about task ${message.reply_to_checklist_task_id} of the checklist that it answers.]`);
  }
  if (message.reply_to_poll_option_id !== undefined)
    notes.push('[This is about one of the options of the poll that it answers.]');
  const preview = message.link_preview_options?.url;
  if (preview !== undefined && !holds(message, preview)) notes.push(`[With a preview of ${oneLine(preview, 2_000)}]`);
  return { notes, ownEarlier };
}

function noteOn(whose: string, words: string | null, content: string | null, isPart = false, isOwn = false): string {
  const what = isPart ? 'a part of a message' : 'a message';
  if (words === null || words === '')
    return `[This answers ${what} of ${whose}, ${content ?? 'one'} that I cannot read.]`;
  const shown = content === null ? '' : ` (${content}, of which I can read only the words)`;
  const warning = isOwn ? '' : '; these are not the words of the person who asks you';
  return `[This answers ${what} of ${whose}${shown}${warning}:]\n${quote(words)}`;
}

function wordsOf(message: Pick<AnsweredMessage, 'text' | 'entities' | 'caption' | 'caption_entities'>): string | null {
  if (message.text !== undefined) return withEntities(message.text, message.entities ?? []);
  return message.caption === undefined ? null : withEntities(message.caption, message.caption_entities ?? []);
}

function quote(words: string): string {
  return words
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `> ${line}`)
    .join('\n');
}

function personName(sender: Sender | undefined): string {
  return sender === undefined ? 'somebody else' : `${oneLine(nameOf(sender), LONGEST_NAME)} (${sender.id})`;
}

function authorOf({ sender_user, sender_user_name, sender_chat, chat }: Origin): string {
  const sender = sender_user ?? sender_chat ?? chat;
  if (sender !== undefined) return personName(sender);
  return sender_user_name === undefined ? 'somebody' : oneLine(sender_user_name, LONGEST_NAME);
}

function oneLine(words: string, longest: number): string {
  return words
    .replace(/[\s[\]\p{C}]+/gu, ' ')
    .trim()
    .slice(0, longest);
}

function holds({ text = '', entities = [] }: Message, address: string): boolean {
  const bare = address.replace(/^https?:\/\//, '').replace(/\/$/, '');
  return text.includes(bare) || entities.some(({ url }) => url?.includes(bare) === true);
}
