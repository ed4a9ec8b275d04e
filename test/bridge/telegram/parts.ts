import { linesOf } from '../../../bridge/telegram/markdown/markdown.js';
import { cutLines, MESSAGE_LIMIT, type MessagePart, readable } from '../../../bridge/telegram/markdown/render.js';

/** What an answer without secrets is cut into, however many parts that makes. */
export function renderParts(text: string, limit: number = MESSAGE_LIMIT): MessagePart[] {
  return cutLines(linesOf(readable(text)), limit);
}
