/**
 * The parts of a final message in a chat: text messages, and from three of them on also the whole text as a file, which is
 * easier to keep and to search.
 */
import type { Redact } from '../../src/log/redact.js';
import { type MessagePart, renderClean } from './render.js';

export type AnswerPart = MessagePart | AnswerFile;

export interface AnswerFile {
  readonly fileName: string;
  readonly content: string;
}

const FILE_FROM_MESSAGES = 3;

/**
 * @param text Markdown, secrets included
 * @param project null if unknown
 * @returns the messages, and after them the file
 */
export function answerParts(text: string, redact: Redact, project: string | null): readonly AnswerPart[] {
  const { parts, source } = renderClean(text, redact);
  if (parts.length < FILE_FROM_MESSAGES) return parts;
  return [...parts, { fileName: project === null ? 'answer.md' : `${project}-answer.md`, content: source }];
}

export function isFile(part: AnswerPart): part is AnswerFile {
  return 'fileName' in part;
}
