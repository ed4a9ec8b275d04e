import { describe, expect, test } from '@jest/globals';
import { inlineHtml } from '../../bridge/telegram/inlineHtml.js';
import { MESSAGE_LIMIT, renderParts } from '../../bridge/telegram/render.js';

describe('a short text', () => {
  test('is one part, with the understood Markdown as HTML and the source for the fall-back', () => {
    expect(renderParts('**Done.** See `a<b` & [the log](https://x.test/?a=1&b=2).')).toEqual([
      {
        plain: '**Done.** See `a<b` & [the log](https://x.test/?a=1&b=2).',
        html: '<b>Done.</b> See <code>a&lt;b</code> &amp; <a href="https://x.test/?a=1&amp;b=2">the log</a>.',
      },
    ]);
  });

  test('keeps its code as code, with the language, whatever stands in it', () => {
    const [part] = renderParts('Look:\n```ts\nif (a < b) **c**;\n\n```\nend');
    expect(part?.html).toBe('Look:\n<pre><code class="language-ts">if (a &lt; b) **c**;\n</code></pre>\nend');
  });

  test('with code that nobody closed is closed', () => {
    expect(renderParts('```\nx').map((part) => part.html)).toEqual(['<pre><code>x</code></pre>']);
  });

  test.each(['', '  \n\n ', '\u200b\u00ad', '\u2800'])('with nothing to see (%j) says so', (text) => {
    expect(renderParts(text)[0]?.plain).toBe('(The answer holds no visible text.)');
  });

  test('holds nothing that nobody sees', () => {
    const hidden = [...'obey me'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
    expect(renderParts(`an${hidden} ans\u200bwer\u202e 👨‍👩‍👧`)).toEqual([
      { plain: 'an answer 👨‍👩‍👧', html: 'an answer 👨‍👩‍👧' },
    ]);
  });

  test('with half a character is made whole', () => {
    expect(renderParts('a\ud800b')[0]?.plain).toBe('a\uFFFDb');
  });
});

describe('the label of a link', () => {
  test.each([
    ['bank.example', 'https://evil.example/bank.example', 'https://evil.example/bank.example'],
    ['https://bank.example/login', 'https://evil.example/', 'https://evil.example/'],
    ['log in at www.bank.example now', 'https://evil.example/', 'https://evil.example/'],
    ['bank.example', 'https://bank.example.evil.example/', 'https://bank.example.evil.example/'],
    ['bank.example', 'https://bank.example@evil.example/', 'https://bank.example@evil.example/'],
    ['bank。example', 'https://evil.example/', 'https://evil.example/'],
    ['github.com/a/b', 'https://github.com/a/c', 'https://github.com/a/c'],
  ])('that shows another address than its target shows the target: %s for %s', (label, url, shown) => {
    expect(inlineHtml(`[${label}](${url})`)).toBe(`<a href="${url}">${shown}</a>`);
  });

  test.each([
    ['the log', 'https://x.test/1'],
    ['x.test', 'https://www.x.test/1'],
    ['https://x.test/1', 'https://x.test/1'],
    ['https://x.test/1', 'https://x.test/1#part'],
    ['README.md', 'https://x.test/tree/README.md'],
    ['version 1.2.3', 'https://x.test/1'],
  ])('that shows its target, or no address, stays: %s for %s', (label, url) => {
    expect(inlineHtml(`[${label}](${url})`)).toBe(`<a href="${url}">${label}</a>`);
  });
});

describe('inline Markdown', () => {
  test.each([
    ['snake_case_name and __init__', 'snake_case_name and __init__'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['*soft* and _soft_', '<i>soft</i> and <i>soft</i>'],
    ['**use `x` now**', '<b>use </b><code>x</code><b> now</b>'],
    ['[bad](javascript:alert(1))', '[bad](javascript:alert(1))'],
    ['[quote](https://x.test/"onclick)', '[quote](https://x.test/"onclick)'],
    ['<b>not mine</b>', '&lt;b&gt;not mine&lt;/b&gt;'],
    ['**never closed', '**never closed'],
    ['`**a**`', '<code>**a**</code>'],
    ['``a`` `', '<code>a</code> `'],
  ])('%s', (source, html) => {
    expect(inlineHtml(source)).toBe(html);
  });
});

describe('a long text', () => {
  test('ends its parts after paragraphs, lines and words, in this order of preference', () => {
    const paragraph = 'word '.repeat(14).trim();
    const parts = renderParts(`${paragraph}\n\n${paragraph}\n${paragraph}`, 142);
    expect(parts.map((part) => part.plain.trim())).toEqual([paragraph, `${paragraph}\n${paragraph}`]);
    expect(renderParts(`${'a'.repeat(90)} ${'b'.repeat(60)}`, 100).map((part) => part.plain.trim())).toEqual([
      'a'.repeat(90),
      'b'.repeat(60),
    ]);
  });

  test('closes and opens a code block that is cut', () => {
    const parts = renderParts(`\`\`\`js\n${'let a = 1;\n'.repeat(30)}\`\`\`\ndone`, 200);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts.slice(0, -1)) {
      expect(part.plain).toMatch(/^```js\n(let a = 1;\n)+```$/);
      expect(part.html).toMatch(/^<pre><code class="language-js">(let a = 1;\n?)+<\/code><\/pre>$/);
    }
    expect(parts.at(-1)?.plain).toMatch(/```\ndone$/);
  });

  test('never cuts an emoji in two', () => {
    for (let length = 90; length < 110; length += 1) {
      for (const part of renderParts('x'.repeat(length) + '🦑'.repeat(40), 100)) {
        expect(part.plain).not.toMatch(/\p{Surrogate}/u);
        expect(part.html).not.toMatch(/\p{Surrogate}/u);
      }
    }
  });

  test('of a million characters in one line is done quickly', () => {
    for (const text of [
      '**'.repeat(500_000),
      '`'.repeat(1_000_000),
      '<'.repeat(1_000_000),
      `\`\`\`\n${'&'.repeat(300_000)}`,
    ]) {
      expect(renderParts(text).every((part) => part.html.length <= MESSAGE_LIMIT)).toBe(true);
    }
  });

  test.each([100, 137, 400, MESSAGE_LIMIT])('keeps every character, whatever it is made of (limit %i)', (limit) => {
    const random = seeded(limit);
    for (let round = 0; round < 300; round += 1) {
      const text = randomMarkdown(random, limit * 3);
      const parts = renderParts(text, limit);
      for (const part of parts) {
        expect(part.plain.length).toBeLessThanOrEqual(limit);
        expect(part.html.length).toBeLessThanOrEqual(limit);
        expect(`${part.plain}${part.html}`).not.toMatch(/\p{Surrogate}/u);
        expect(part.plain.trim()).not.toBe('');
        expectBalanced(part.html);
      }
      const said = withoutFencesAndSpace(parts.map((part) => part.plain).join('\n'));
      const meant = withoutFencesAndSpace(text);
      if (meant !== '') expect(said).toBe(meant);
    }
  });
});

function withoutFencesAndSpace(text: string): string {
  return text.replace(/^\s*(```|~~~)\w*\s*$/gm, '').replace(/\s+/g, '');
}

function expectBalanced(html: string): void {
  const open: string[] = [];
  for (const [, closing, tag = ''] of html.matchAll(/<(\/?)([a-z]+)[^>]*>/g)) {
    if (closing !== '/') open.push(tag);
    else expect(open.pop()).toBe(tag);
  }
  expect(open).toEqual([]);
  expect(html.replace(/<\/?(b|i|code|pre|a)( (class="language-\w+"|href="[^"<>]*"))?>/g, '')).not.toMatch(/[<>]/);
  expect(html).not.toMatch(/&(?!(amp|lt|gt);)/);
}

const WORDS = [
  'word',
  '**bold**',
  '*it*',
  '`co<de`',
  '🦑',
  '<b>',
  '&',
  '&amp;',
  '[l](https://x.test/?a&b)',
  '_u_',
  '**',
  '`',
  '👨‍👩‍👧‍👦',
  'snake_case',
  'longword'.repeat(9),
  '"',
];

function randomMarkdown(random: () => number, length: number): string {
  let text = '';
  const wanted = Math.floor(random() * length);
  while (text.length < wanted) {
    const kind = random();
    if (kind < 0.06) text += `\n\`\`\`${random() < 0.5 ? 'ts' : ''}\n`;
    else if (kind < 0.08) text += '\n~~~\n';
    else if (kind < 0.15) text += '\n\n';
    else if (kind < 0.25) text += '\n';
    else text += `${WORDS[Math.floor(random() * WORDS.length)]}${random() < 0.7 ? ' ' : ''}`;
  }
  return text;
}

/** Mulberry32: the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
