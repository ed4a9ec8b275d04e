/** Other people's text, in a page that people and language models read: short, fenced, without effect. */
import { redactShapes } from '../../src/log/redact.js';
import { shorten } from '../../src/log/shorten.js';
import { code, fenced, prose } from '../incident/issue/defuse.js';
import { issueNumber } from './dayFacts.js';

const LONGEST_NAME = 60;
/** Session ids have up to 160. */
const LONGEST_ID = 160;
const LONGEST_QUOTE = 400;
const MOST_LINES = 4;
const ADDRESS = /^(?:https?|file):\/\/[\w.~:/?&=%@+,;-]{1,400}$/;

/** @returns a name that should be short, as one line of Markdown */
export function name(text: string): string {
  return prose(shorten(redactShapes(text), LONGEST_NAME));
}

/** @returns an id or another exact word in a code span that also works within a table */
export function exact(text: string): string {
  return code(shorten(redactShapes(text), LONGEST_ID).replaceAll('|', ' '));
}

/**
 * @param texts each becomes some lines of a fenced block
 * @param indent before each line, so that the block stays in its list item
 * @returns the lines of the block; none if there is no text
 */
export function quoted(texts: readonly string[], indent: string): string[] {
  const lines = texts
    .flatMap((text) => shorten(redactShapes(text), LONGEST_QUOTE).split('\n'))
    .filter((line) => line.trim() !== '');
  if (lines.length === 0) return [];
  const shown = lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), '…'] : lines;
  const block = fenced(shown).split('\n');
  return block.map((line) => `${indent}${line}`);
}

/** @returns a link to the issue; a local issue is linked relative to the reviews' folder; no link for a strange address */
export function issueLink(url: string): string {
  const number = issueNumber(url);
  if (number === null || !ADDRESS.test(url)) return exact(url);
  return `[#${number}](${url.startsWith('file:') ? `../issues/${number}.md` : url})`;
}
