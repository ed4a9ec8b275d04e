/** `parse_mode: HTML` (https://core.telegram.org/bots/api#html-style). */
import { byteOffset, type FormattedText, FormattingError, inOrder, type TextEntity } from './formattedText.js';

interface OpenTag {
  readonly name: string;
  readonly entity: { readonly type: string; readonly url?: string; readonly language?: string } | null;
  /** UTF-16 offset in the resulting text. */
  readonly start: number;
}

const ENTITY_OF_TAG: Readonly<Record<string, string>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  span: 'spoiler',
  'tg-spoiler': 'spoiler',
  'tg-emoji': 'custom_emoji',
  a: 'text_link',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
};

const TAG_NAME = /<([^\s>]*)/y;
const ATTRIBUTES = /((?:\s+[a-zA-Z-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[a-zA-Z0-9.-]+))?)*)\s*>/y;
const END_TAG = /<\/([a-zA-Z0-9-]*)\s*>/y;
const CHARACTER_REFERENCE = /&(?:(lt|gt|amp|quot)|#(?:x([0-9a-f]{1,6})|([0-9]{1,7})));?/iy;
const NAMED_REFERENCES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** @throws FormattingError where tags are unknown, unclosed or crossed */
export function parseHtml(source: string): FormattedText {
  const open: OpenTag[] = [];
  const entities: TextEntity[] = [];
  let text = '';
  let at = 0;
  while (at < source.length) {
    if (source.startsWith('</', at)) {
      const { end, entity } = closeTag(source, at, open, text.length);
      if (entity) entities.push(entity);
      at = end;
    } else if (source[at] === '<') {
      const { end, tag } = openTag(source, at, text.length);
      open.push(tag);
      at = end;
    } else {
      const { end, character } = readCharacter(source, at);
      text += character;
      at = end;
    }
  }
  const unclosed = open.at(-1);
  if (unclosed) throw new FormattingError(`Can't find end tag corresponding to start tag "${unclosed.name}"`);
  return { text, entities: joinCodeBlocks(inOrder(entities)) };
}

function openTag(source: string, at: number, start: number): { end: number; tag: OpenTag } {
  const nameFound = matchAt(TAG_NAME, source, at);
  const name = nameFound?.[1]?.toLowerCase() ?? '';
  const afterName = at + (nameFound?.[0].length ?? 1);
  if (afterName >= source.length)
    throw new FormattingError(`Unclosed start tag at byte offset ${byteOffset(source, at)}`);
  const type = Object.hasOwn(ENTITY_OF_TAG, name) ? ENTITY_OF_TAG[name] : undefined;
  if (type === undefined) {
    throw new FormattingError(`Unsupported start tag "${name}" at byte offset ${byteOffset(source, at)}`);
  }
  const attributesFound = matchAt(ATTRIBUTES, source, afterName);
  if (!attributesFound) {
    throw new FormattingError(`Unclosed start tag "${name}" at byte offset ${byteOffset(source, at)}`);
  }
  const attributes = attributesFound[1] ?? '';
  if (name === 'span' && attribute(attributes, 'class') !== 'tg-spoiler') {
    throw new FormattingError(`Tag "span" must have class "tg-spoiler" at byte offset ${byteOffset(source, at)}`);
  }
  return { end: afterName + attributesFound[0].length, tag: { name, start, entity: entityOf(name, type, attributes) } };
}

function entityOf(name: string, type: string, attributes: string): OpenTag['entity'] {
  if (name === 'a') {
    const url = attribute(attributes, 'href');
    return url === null ? null : { type, url };
  }
  if (name === 'blockquote' && /\sexpandable/.test(attributes)) return { type: 'expandable_blockquote' };
  const language = name === 'code' ? attribute(attributes, 'class')?.replace(/^language-/, '') : undefined;
  return language ? { type, language } : { type };
}

function closeTag(
  source: string,
  at: number,
  open: OpenTag[],
  textLength: number,
): { end: number; entity: TextEntity | null } {
  const tag = open.pop();
  if (!tag) throw new FormattingError(`Unexpected end tag at byte offset ${byteOffset(source, at)}`);
  const found = matchAt(END_TAG, source, at);
  if (!found) throw new FormattingError(`Unclosed end tag at byte offset ${byteOffset(source, at)}`);
  const name = (found[1] ?? '').toLowerCase();
  if (name !== '' && name !== tag.name) {
    throw new FormattingError(
      `Unmatched end tag at byte offset ${byteOffset(source, at)}, expected "</${tag.name}>", found "</${name}>"`,
    );
  }
  const entity = tag.entity && { ...tag.entity, offset: tag.start, length: textLength - tag.start };
  return { end: at + found[0].length, entity };
}

/** A `code` that fills its `pre` gives it its language and goes. */
function joinCodeBlocks(entities: readonly TextEntity[]): TextEntity[] {
  const fills = (pre: TextEntity, code: TextEntity) =>
    pre.type === 'pre' && code.language !== undefined && pre.offset === code.offset && pre.length === code.length;
  return entities
    .filter((entity) => !entities.some((pre) => fills(pre, entity)))
    .map((entity) => {
      const language = entities.find((code) => fills(entity, code))?.language;
      return language === undefined ? entity : { ...entity, language };
    })
    .map(({ language, ...entity }) => (entity.type === 'pre' && language ? { ...entity, language } : entity));
}

/** Four names and numbers are decoded; any other `&` stays as it is. */
function readCharacter(source: string, at: number): { end: number; character: string } {
  const found = source[at] === '&' ? matchAt(CHARACTER_REFERENCE, source, at) : null;
  if (!found) return { end: at + 1, character: source.charAt(at) };
  const end = at + found[0].length;
  const named = NAMED_REFERENCES[found[1]?.toLowerCase() ?? ''];
  if (named !== undefined) return { end, character: named };
  const code = found[2] === undefined ? Number(found[3]) : Number.parseInt(found[2], 16);
  return code > 0 && code <= 0x10ffff
    ? { end, character: String.fromCodePoint(code) }
    : { end, character: source.slice(at, end) };
}

function attribute(attributes: string, name: string): string | null {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(attributes);
  return found?.[1] ?? found?.[2] ?? found?.[3] ?? null;
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}
