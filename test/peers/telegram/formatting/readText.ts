/** From the parameters of a sending method to the text that a person sees. */
import { badRequest } from '../apiError.js';
import type { MethodParameters } from '../parameters.js';
import { type FormattedText, FormattingError } from './formattedText.js';
import { parseHtml } from './html.js';
import { parseMarkdownV2 } from './markdownV2.js';

/**
 * UTF-16 code units after the parse mode was applied. The real server is a little kinder to characters outside the basic
 * plane, which it counts once; who stays below this limit is safe with both.
 */
export const LONGEST_TEXT = 4_096;
export const LONGEST_CAPTION = 1_024;
/** Found by trying it: the server leaves out further ones without a word. */
const MOST_ENTITIES = 100;

/**
 * @param field `text` or `caption`; its formatting follows `parse_mode`
 * @returns the trimmed text
 * @throws ApiError where the parse mode's rules are broken
 */
export function readText(parameters: MethodParameters, field: 'text' | 'caption'): FormattedText {
  const { text, entities } = parse(parameters.text(field), parameters.text('parse_mode'));
  const lead = text.length - text.trimStart().length;
  const trimmed = text.trim();
  const shifted = entities
    .map((entity) => {
      const offset = Math.max(entity.offset - lead, 0);
      const end = Math.min(entity.offset - lead + entity.length, trimmed.length);
      return { ...entity, offset, length: end - offset };
    })
    .filter((entity) => entity.length > 0);
  return { text: trimmed, entities: shifted.slice(0, MOST_ENTITIES) };
}

function parse(source: string, parseMode: string): FormattedText {
  try {
    switch (parseMode.toLowerCase()) {
      case '':
        return { text: source, entities: [] };
      case 'html':
        return parseHtml(source);
      case 'markdownv2':
        return parseMarkdownV2(source);
      default:
        // The real server still knows the older "Markdown"; this one does not pretend to.
        throw badRequest('unsupported parse_mode');
    }
  } catch (thrown) {
    if (thrown instanceof FormattingError) throw badRequest(`can't parse entities: ${thrown.message}`);
    throw thrown;
  }
}
