/**
 * Whether a message is for the bot. In a group people talk with each other, too: only a message that mentions the bot or answers
 * it is meant for it. A name in code, or in a web address, is no mention.
 */
import { type Entity, isLiteral, type Range, rangeOf } from './entities.js';

/** @returns where the text mentions the bot, in order */
export function mentionsIn(text: string, entities: readonly Entity[], bot: { id: number; username: string }): Range[] {
  const named = new RegExp(`(?<![\\w@/.])@${bot.username}(?!\\w)`, 'gi');
  const found = [...text.matchAll(named)].map(({ index, 0: name }) => ({ from: index, to: index + name.length }));
  // A person may pick the bot from the list of members: then the text shows its name, and the entity says whose it is.
  const picked = entities.filter(({ type, user }) => type === 'text_mention' && user?.id === bot.id).map(rangeOf);
  return [...found.filter((mention) => !isLiteral(mention, entities)), ...picked].sort(
    (one, other) => one.from - other.from,
  );
}

/**
 * A mention is an address where it begins or ends a message, or is set off by commas. Within a sentence, as in "why did @bot
 * fail?", it is one of its words, and stays.
 * @returns the part to leave out of the prompt, with the blanks and commas around it
 */
export function addressesIn(text: string, mentions: readonly Range[]): Range[] {
  const cuts: Range[] = [];
  let start = 0;
  for (const { from, to } of mentions) {
    if (text.slice(start, from).trim() !== '') break;
    const after = /^[\s,:]*/.exec(text.slice(to))?.[0] ?? '';
    if (after === '' && to < text.length) break;
    start = to + after.length;
    cuts.push({ from, to: start });
  }
  let end = text.length;
  for (const { from, to } of mentions.toReversed()) {
    if (from < start) break;
    if (/^[\s.!]*$/.test(text.slice(to, end))) {
      const before = /[\s,]*$/.exec(text.slice(0, from))?.[0] ?? '';
      end = from - before.length;
      cuts.push({ from: end, to });
    } else if (/,\s*$/.test(text.slice(0, from)) && text.charAt(to) === ',') {
      const before = /,\s*$/.exec(text.slice(0, from))?.[0] ?? '';
      cuts.push({ from: from - before.length, to });
    }
  }
  return cuts;
}
