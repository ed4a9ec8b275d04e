/** A message's text as Telegram's clients show it. */
import type { TextEntity } from '../../peers/telegram/formatting/formattedText.js';
import { escapeHtml, type Links } from './html.js';

const TAGS: Readonly<Record<string, string>> = {
  bold: 'b',
  italic: 'i',
  underline: 'u',
  strikethrough: 's',
  code: 'code',
  blockquote: 'blockquote',
  expandable_blockquote: 'blockquote',
  bot_command: 'b',
};
const AS_WRITTEN = ['code', 'pre'];
const BLOCKS = ['pre', 'blockquote', 'expandable_blockquote'];

/**
 * @param entities by offset, outer before inner, each within the one around it
 * @returns HTML
 */
export function formattedHtml(text: string, entities: readonly TextEntity[], links: Links): string {
  return inside(text, { from: 0, to: text.length }, entities, links, false);
}

function inside(
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
  entities: readonly TextEntity[],
  links: Links,
  isCode: boolean,
): string {
  const plain = (begin: number, end: number) =>
    isCode ? escapeHtml(text.slice(begin, end)) : links.inText(text.slice(begin, end));
  let html = '';
  let at = from;
  for (const [index, entity] of entities.entries()) {
    const end = entity.offset + entity.length;
    // What lies within an entity before has been written with it.
    if (entity.offset < at || end > to) continue;
    const within = entities.slice(index + 1).filter((inner) => inner.offset + inner.length <= end);
    const isAsWritten = isCode || AS_WRITTEN.includes(entity.type);
    const content = inside(text, { from: entity.offset, to: end }, within, links, isAsWritten);
    html += plain(at, entity.offset) + wrapped(entity, content, links);
    // The end of a block is the end of its line.
    at = BLOCKS.includes(entity.type) && text[end] === '\n' ? Math.min(end + 1, to) : end;
  }
  return html + plain(at, to);
}

function wrapped({ type, url, language }: TextEntity, content: string, links: Links): string {
  if (type === 'text_link') return links.anchor(url ?? '', content);
  if (type === 'pre') {
    const label = language === undefined ? '' : `<span class="language">${escapeHtml(language)}</span>`;
    return `<div class="block">${label}<pre>${content}</pre></div>`;
  }
  const tag = TAGS[type];
  return tag === undefined ? content : `<${tag}>${content}</${tag}>`;
}
