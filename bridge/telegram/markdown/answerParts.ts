/**
 * A final text as the parts to send: messages and, if there would be many, a file. A chat is not flooded: it gets the beginning
 * and the end of a long text with the file, and only the file if it is no text. Pure, like `render.ts`: part number n is always
 * the same.
 */
import { counted } from '../../../src/counted.js';
import type { Redact } from '../../../src/log/redact.js';
import { cutText } from '../../../src/log/shorten.js';
import { MESSAGE_LIMIT, type MessagePart, renderClean } from './render.js';
import { escapeHtml } from './styledText.js';

/** From this many messages on, a text also comes as a file, which is easier to keep and to search. */
const FILE_FROM_MESSAGES = 3;
/** Above this, the chat gets the beginning and the end. Telegram allows twenty messages a minute in a group. */
const MOST_MESSAGES = 5;
/** Control characters, and the replacement for bytes that are no UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f\ufffd]/g;
/** Share of such characters from which on a text is none. Words in any script have next to none. */
const MOST_OF_IT = 0.05;
const SAMPLE = 20_000;
const BYTES_PER_KILOBYTE = 1_000;

export interface AnswerFile {
  readonly fileName: string;
  readonly content: string;
}

/** `isFallback`: of a long text, only sent if its file could not be. */
type AnswerMessage = MessagePart & { readonly isFallback?: true };
export type AnswerPart = AnswerMessage | AnswerFile;

export function isFile(part: AnswerPart): part is AnswerFile {
  return 'fileName' in part;
}

/** @returns how many messages the text has if its file arrives */
export function messagesIn(parts: readonly AnswerPart[]): number {
  return parts.filter((part) => !isFile(part) && part.isFallback !== true).length;
}

/** @returns how many parts need nothing more: once a file has arrived, its fallback is not needed */
export function partsDone(parts: readonly AnswerPart[], done: number, hasArrived: boolean): number {
  const last = parts[done - 1];
  return hasArrived && last !== undefined && isFile(last) ? parts.length : done;
}

/** @returns the messages of a final text, after them its file, and after that what replaces the file */
export function answerParts(text: string, redact: Redact, project: string | null): readonly AnswerPart[] {
  const { parts, source } = renderClean(text, redact);
  const named = (ending: string) => ({ fileName: project === null ? ending : `${project}-${ending}`, content: source });
  if (isNoText(text)) {
    const wasCut = text.startsWith('[…]');
    // Each character that stands for a byte was one.
    const size = `${wasCut ? 'over ' : ''}${Math.max(1, Math.round(text.length / BYTES_PER_KILOBYTE))} KB`;
    return [inWords(`The answer is ${size} that are no text. They come as a file.`), named('answer.txt')];
  }
  if (parts.length < FILE_FROM_MESSAGES) return parts;
  const file = named('answer.md');
  const [first, ...others] = parts;
  const last = others.pop();
  if (parts.length <= MOST_MESSAGES || first === undefined || last === undefined) return [...parts, file];
  const left = inWords(
    `[… ${counted(others.length, 'message')} are left out here. The whole answer is in the file below.]`,
  );
  return [first, left, last, file, ...others.map((part) => ({ ...part, isFallback: true as const }))];
}

/** An answer that cannot be a reply names the message, if there is room. @param about such as `your message` */
export function asNoReply(parts: readonly AnswerPart[], about: string, excerpt: string): readonly AnswerPart[] {
  const [first, ...others] = parts;
  if (first === undefined || isFile(first)) return parts;
  const [before, after] = [`About ${about}, `, ':\n\n'];
  const html = `${before}<code>${escapeHtml(excerpt)}</code>${after}${first.html}`;
  if (html.length > MESSAGE_LIMIT) return parts;
  return [{ ...first, html, plain: `${before}${excerpt}${after}${first.plain}` }, ...others];
}

function isNoText(text: string): boolean {
  const sample = cutText(text, SAMPLE);
  return (sample.match(NO_TEXT)?.length ?? 0) > MOST_OF_IT * sample.length;
}

function inWords(words: string): MessagePart {
  return { html: words, plain: words };
}
