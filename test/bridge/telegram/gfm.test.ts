/**
 * What the GitHub Flavored Markdown Spec gives examples of, each as an answer: taken by the server, and read as the HTML beside it
 * is read, but for the differences that docs/internals/delivery.md lists.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import MarkdownIt from 'markdown-it';
import { TelegramApi } from '../../../bridge/telegram/api.js';
import { MESSAGE_LIMIT, type MessagePart } from '../../../bridge/telegram/markdown/render.js';
import { addStrikethrough } from '../../../bridge/telegram/markdown/strikethrough.js';
import { packageRoot } from '../../../src/host/program.js';
import { systemClock } from '../../../src/time.js';
import type { TextEntity } from '../../peers/telegram/formatting/formattedText.js';
import { parseHtml } from '../../peers/telegram/formatting/html.js';
import { startTelegramPeer, type TelegramPeer } from '../../peers/telegram/telegramPeer.js';
import { EXAMPLES } from './gfm/examples.js';
import { collapsed, type Difference, type Reference, referenceOf } from './gfm/reference.js';
import { renderParts } from './parts.js';
import { seeded } from './seeded.js';

const CHAT = 1;
const NOTHING_TO_SEE = '(The answer holds no visible text.)';
const PAGE = join(packageRoot(), 'docs/internals/delivery.md');

const withTags = new MarkdownIt({ html: true });
const withoutTags = new MarkdownIt({ html: false });
for (const each of [withTags, withoutTags]) addStrikethrough(each);

let peer: TelegramPeer;
let api: TelegramApi;

beforeAll(async () => {
  peer = await startTelegramPeer();
  peer.openChat(CHAT);
  api = new TelegramApi({ token: peer.token, apiRoot: peer.url }, systemClock);
});

afterAll(() => peer.stop());

describe('the examples of the specification', () => {
  test('are all here', () => {
    expect(EXAMPLES).toHaveLength(673);
  });

  // rule: answers-are-rendered-as-markdown
  test('are accepted by the server, and parsed there as in the specification', async () => {
    const faults: unknown[] = [];
    for (const { section, markdown, html } of EXAMPLES) {
      const { lines, code } = referenceFor(markdown, html);
      const sent = await sentParts(renderParts(markdown));
      const read = linesOf(sent.map(({ text }) => text).join('\n'));
      const meant = lines.length === 0 ? [NOTHING_TO_SEE] : lines;
      if (JSON.stringify(read) !== JSON.stringify(meant)) faults.push({ section, markdown, read, meant });
      const blocks = sent.flatMap(({ text, entities }) => codeIn(text, entities));
      const meantCode = code.map((block) => block.trim()).filter((block) => block !== '');
      if (JSON.stringify(blocks) !== JSON.stringify(meantCode)) faults.push({ section, markdown, blocks, meantCode });
      if (sent.some(({ entities }) => !isOrderly(entities))) faults.push({ section, markdown, sent });
    }
    expect(faults).toEqual([]);
  });

  // rule: answers-are-rendered-as-markdown
  test('differ as listed in docs/internals/delivery.md, in the counts given there', () => {
    const counted: Partial<Record<Difference, number>> = {};
    for (const { markdown, html } of EXAMPLES) {
      for (const name of referenceFor(markdown, html).differences) counted[name] = (counted[name] ?? 0) + 1;
    }
    const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| ([a-z ]+) \| [^|]+ \| (\d+) \|$/gm);
    expect(Object.fromEntries([...rows].map(([, name, count]) => [name, Number(count)]))).toEqual(counted);
  });
});

describe('examples in random order, within each other', () => {
  // rule: answers-are-rendered-as-markdown
  test.each([100, 137, 512, 1_000, MESSAGE_LIMIT])(
    'are cut into complete messages, and nothing is lost (limit %i)',
    (limit) => {
      const random = seeded(limit);
      for (let round = 0; round < 50; round += 1) {
        const markdown = randomDocument(random, limit * 4);
        const parts = renderParts(markdown, limit);
        expect(parts.flatMap((part) => faultsOf(part, limit))).toEqual([]);
        const whole = renderParts(markdown, Number.MAX_SAFE_INTEGER);
        expect(lettersOf(parts)).toBe(lettersOf(whole));
      }
    },
  );
});

describe('examples within each other', () => {
  // rule: answers-are-rendered-as-markdown
  test('are rendered as by a reference', () => {
    const random = seeded(7);
    for (let round = 0; round < 120; round += 1) {
      // A label that shows another address would give way to its target.
      const markdown = randomDocument(random, 2_000).replaceAll('https://x.test/', 'notes/');
      const meant = referenceOf(withoutTags.render(markdown)).lines.map(withBox);
      const read = linesOf(renderParts(markdown, Number.MAX_SAFE_INTEGER)[0]?.plain ?? '').map(withBox);
      if (meant.length > 0) expect({ markdown, read }).toEqual({ markdown, read: meant });
    }
  });
});

/** The parser's own HTML has no task boxes. */
function withBox(line: string): string {
  const box = (_: string, before: string, sign: string) => `${before}${sign === ' ' ? '☐' : '☑'}`;
  return line.replace(/^((?:(?:•|\d+\.|>) )*)(?:•|\d+\.) \[([ xX])\](?= |$)/, box);
}

/** Tags are text in an answer, and what is between them is Markdown: then the specification's HTML says nothing. */
function referenceFor(markdown: string, html: string): Reference {
  const asText = withoutTags.render(markdown);
  if (withTags.render(markdown) === asText) return referenceOf(html);
  const reference = referenceOf(asText);
  return { ...reference, differences: new Set<Difference>([...reference.differences, 'tags as text']) };
}

async function sentParts(parts: readonly MessagePart[]) {
  const sent = [];
  for (const part of parts) {
    expect(part.html.length).toBeLessThanOrEqual(MESSAGE_LIMIT);
    const id = Number(await api.sendMessage({ chatId: String(CHAT), threadId: null, replyTo: null }, part));
    const seen = peer.botMessages(CHAT).find(({ messageId }) => messageId === id);
    if (seen !== undefined) sent.push(seen);
  }
  expect(sent).toHaveLength(parts.length);
  return sent;
}

/** The rule below a table's head has any length. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').map(collapsed);
  return lines.filter((line) => line !== '').map((line) => (/^[─┼]+$/.test(line) ? '─' : line));
}

/** @returns the blocks of code; tables are none */
function codeIn(text: string, entities: readonly TextEntity[]): string[] {
  const blocks = entities.filter(({ type }) => type === 'pre');
  const codes = blocks.map(({ offset, length }) => text.slice(offset, offset + length).trim());
  return codes.filter((code) => code !== '' && !/^[─┼]+$/m.test(code));
}

/** (`expect` for each part would take longer than all the rest.) */
function faultsOf({ html, plain }: MessagePart, limit: number): string[] {
  const { text, entities } = parseHtml(html);
  const faults = {
    'another text': text !== plain,
    'too long': html.length > limit,
    'not orderly': !isOrderly(entities),
    'too many styles': entities.length > 100,
    empty: plain.trim() === '',
  };
  return Object.entries(faults).flatMap(([fault, is]) => (is ? [`${fault}: ${html}`] : []));
}

/** @returns whether the entities are nested, and code stands alone, as https://core.telegram.org/bots/api#formatting-options asks */
function isOrderly(entities: readonly TextEntity[]): boolean {
  const isAlone = ({ type }: TextEntity) => type === 'code' || type === 'pre';
  return entities.every((one, index) =>
    entities.slice(index + 1).every((other) => {
      if (other.offset >= one.offset + one.length) return true;
      const isWithin = other.offset + other.length <= one.offset + one.length;
      const isCodeInQuote = one.type === 'blockquote' && other.type === 'code';
      return isWithin && !isAlone(one) && (!isAlone(other) || isCodeInQuote) && other.type !== 'blockquote';
    }),
  );
}

const NESTINGS: readonly ((markdown: string) => string)[] = [
  (markdown) => markdown,
  (markdown) => markdown.replace(/^/gm, '> '),
  (markdown) => `- ${markdown.replace(/\n(?=.)/g, '\n  ')}`,
  (markdown) => `7. ${markdown.replace(/\n(?=.)/g, '\n   ')}`,
  (markdown) => `- [x] ${markdown.replace(/\n(?=.)/g, '\n  ')}`,
  (markdown) => `**${markdown.trim()}**\n`,
  (markdown) => `[${markdown.trim()}](https://x.test/${'a'.repeat(60)})\n`,
  (markdown) => `| a | b |\n|---|:-:|\n| ${markdown.trim().replace(/\n/g, ' ')} | 漢字 |\n`,
  (markdown) => `\`\`\`\`\`\`ts\n${markdown}\`\`\`\`\`\`\n`,
];

function randomDocument(random: () => number, length: number): string {
  const wanted = random() * length;
  let text = '';
  while (text.length < wanted) {
    let piece = EXAMPLES[Math.floor(random() * EXAMPLES.length)]?.markdown ?? '';
    while (random() < 0.4) piece = NESTINGS[Math.floor(random() * NESTINGS.length)]?.(piece) ?? piece;
    text += piece + (random() < 0.7 ? '\n' : '');
  }
  return text;
}

function lettersOf(parts: readonly MessagePart[]): string {
  return parts
    .map(({ plain }) => plain)
    .join('')
    .replace(/\s/g, '');
}
