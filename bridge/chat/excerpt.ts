import type { AgentSession } from '../../src/jobs/model.js';
import type { Redact } from '../../src/log/redact.js';
import { cutText } from '../../src/log/shorten.js';
import { withoutInvisible } from '../../src/log/visibleText.js';

const SHOWN_TEXT_LENGTH = 60;

/** @returns the first words of a message, in quotation marks, by which its author knows it */
export function excerptOf({ request: { message_text } }: AgentSession, redact: Redact): string {
  const words = withoutInvisible(redact(message_text)).replace(/\s+/g, ' ').trim();
  return `"${words.length > SHOWN_TEXT_LENGTH ? `${cutText(words, SHOWN_TEXT_LENGTH)}…` : words}"`;
}
