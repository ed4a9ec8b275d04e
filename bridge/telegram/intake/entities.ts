/**
 * Telegram's entities, which it keeps next to a text: the addresses behind words, code, quotes. Its clients take out the marks
 * that a person has typed (`__init__.py` arrives as `init.py` with an italic part), so they are put back here.
 */
import * as z from 'zod';
import { withoutEnd } from '../../../src/withoutEnd.js';

export const entitySchema = z.looseObject({
  type: z.string(),
  /** In UTF-16 units, as JavaScript counts. */
  offset: z.int().nonnegative(),
  length: z.int().nonnegative(),
  url: z.string().optional(),
  language: z.string().optional(),
  user: z.looseObject({ id: z.int() }).optional(),
  unix_time: z.number().optional(),
});
export type Entity = z.infer<typeof entitySchema>;

/** A part of a text, from its first UTF-16 unit to the one after its last. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

type Marks = readonly [open: string, close: string];

/** Marks that Telegram's clients turn into formatting as a person types. */
const TYPED_MARKS: Readonly<Record<string, string>> = {
  bold: '**',
  italic: '__',
  strikethrough: '~~',
  spoiler: '||',
};
const QUOTES = ['blockquote', 'expandable_blockquote'];
const CODE = ['pre', 'code'];

/** @returns the text with its entities written as Markdown, without the cuts */
export function withEntities(text: string, entities: readonly Entity[], cuts: readonly Range[] = []): string {
  const isCut = ({ offset, length }: Entity) => cuts.some(({ from, to }) => from <= offset && offset + length <= to);
  const shown = entities.filter((entity) => entity.length > 0 && rangeOf(entity).to <= text.length && !isCut(entity));
  const opened = new Map<number, string[]>();
  const closed = new Map<number, string[]>();
  // The outer ones first: they open before the inner ones, and close after them.
  for (const entity of shown.toSorted((one, other) => one.offset - other.offset || other.length - one.length)) {
    const end = entity.offset + entity.length;
    const [open, close] = marksOf(entity, text);
    opened.set(entity.offset, [...(opened.get(entity.offset) ?? []), open]);
    closed.set(end, [close, ...(closed.get(end) ?? [])]);
  }
  const quoted = shown.filter(({ type }) => QUOTES.includes(type));
  let result = '';
  for (let at = 0; at <= text.length; at += 1) {
    result += (closed.get(at) ?? []).join('');
    if (quoted.some(({ offset }) => offset === at) && result !== '' && !result.endsWith('\n')) result += '\n';
    if (isLineStart(text, at) && quoted.some((quote) => isIn(at, rangeOf(quote)))) result += '> ';
    result += (opened.get(at) ?? []).join('');
    if (at < text.length && !cuts.some((cut) => isIn(at, cut))) result += text.charAt(at);
  }
  return result.trim();

  function isLineStart(words: string, at: number): boolean {
    return words.charAt(at - 1) === '\n' || quoted.some(({ offset }) => offset === at);
  }
}

/** @returns whether a part of the text is code or an address; a name there means nothing */
function isLiteral(part: Range, entities: readonly Entity[]): boolean {
  return entities.some((entity) => [...CODE, 'url', 'email'].includes(entity.type) && isIn(part.from, rangeOf(entity)));
}

/** The text of a message as Telegram keeps it, and its parts that no agent gets. */
export interface Said {
  readonly text: string;
  readonly entities: readonly Entity[];
  readonly cuts: readonly Range[];
}

/** @returns two pieces of one text as one: formatting that ends at the cut continues in the second one */
export function joinedAt(first: Said, between: string, second: Said): Said {
  const end = first.text.length;
  const by = end + between.length;
  const entities = [...first.entities];
  for (const entity of second.entities) {
    const before =
      entity.offset > 0 ? -1 : entities.findIndex((each) => rangeOf(each).to === end && isSame(each, entity));
    const open = entities[before];
    if (open === undefined) entities.push({ ...entity, offset: entity.offset + by });
    else entities[before] = { ...open, length: by + entity.length - open.offset };
  }
  const cuts = second.cuts.map(({ from, to }) => ({ from: from + by, to: to + by }));
  return { text: `${first.text}${between}${second.text}`, entities, cuts: [...first.cuts, ...cuts] };
}

function isSame(one: Entity, other: Entity): boolean {
  return one.type === other.type && one.language === other.language && one.url === other.url;
}

function rangeOf({ offset, length }: Entity): Range {
  return { from: offset, to: offset + length };
}

function isIn(at: number, { from, to }: Range): boolean {
  return at >= from && at < to;
}

function marksOf(entity: Entity, text: string): Marks {
  const { from, to } = rangeOf(entity);
  const words = text.slice(from, to);
  switch (entity.type) {
    case 'pre':
      return fence(words, entity.language ?? '', { before: text.slice(0, from), after: text.slice(to) });
    case 'code':
      return inlineCode(words);
    case 'text_link':
      return linkTo(entity.url, words);
    case 'text_mention':
      return linkTo(entity.user === undefined ? undefined : `tg://user?id=${entity.user.id}`, words);
    case 'date_time':
      return ['', entity.unix_time === undefined ? '' : dateNote(entity.unix_time)];
    default: {
      const mark = TYPED_MARKS[entity.type] ?? '';
      return [mark, mark];
    }
  }
}

/** An address that the words show already needs no link. */
function linkTo(address: string | undefined, words: string): Marks {
  if (address === undefined || address === words) return ['', ''];
  return [
    '[',
    `](${address.replace(/[\s<>()]/g, (character) => encodeURIComponent(character).replace('(', '%28').replace(')', '%29'))})`,
  ];
}

/** Fences stand on lines of their own, and are longer than any in the code. */
function fence(code: string, language: string, { before, after }: { before: string; after: string }): Marks {
  const ticks = '`'.repeat(Math.max(3, longestTicks(code) + 1));
  const start = before === '' || before.endsWith('\n') ? '' : '\n';
  const end = after === '' || after.startsWith('\n') ? '' : '\n';
  return [`${start}${ticks}${language.replace(/[\s`]/g, '')}\n`, `${code.endsWith('\n') ? '' : '\n'}${ticks}${end}`];
}

function inlineCode(code: string): Marks {
  const longest = longestTicks(code);
  if (longest === 0) return ['`', '`'];
  const ticks = '`'.repeat(longest + 1);
  return [`${ticks} `, ` ${ticks}`];
}

function longestTicks(code: string): number {
  return Math.max(0, ...[...code.matchAll(/`+/g)].map(([ticks]) => ticks.length));
}

function dateNote(unixTime: number): string {
  const date = new Date(unixTime * 1_000);
  return Number.isNaN(date.getTime()) ? '' : ` (${date.toISOString()})`;
}

/** @returns where the text mentions the bot, in order: a name in code, or in a web address, is no mention */
export function mentionsIn(text: string, entities: readonly Entity[], bot: { id: number; username: string }): Range[] {
  const named = new RegExp(`(?<![\\w@/.])@${bot.username}(?!\\w)`, 'gi');
  const found = [...text.matchAll(named)].map(({ index, 0: name }) => ({ from: index, to: index + name.length }));
  // A person may pick the bot from the list of members: then the text shows its name, and the entity says whose it is.
  const picked = entities.filter(({ type, user }) => type === 'text_mention' && user?.id === bot.id).map(rangeOf);
  return [...found.filter((mention) => !isLiteral(mention, entities)), ...picked].sort(
    (one, other) => one.from - other.from,
  );
}

/** A mention is left out of the prompt where it begins or ends the message, or is set off by commas, with the blanks around it. */
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
      end = withoutEnd(text.slice(0, from), /[\s,]/).length;
      cuts.push({ from: end, to });
      continue;
    }
    const comma = text.slice(0, from).trimEnd().length - 1;
    if (text.charAt(comma) === ',' && text.charAt(to) === ',') cuts.push({ from: comma, to });
  }
  return cuts;
}
