import { describe, expect, test } from '@jest/globals';
import MarkdownIt from 'markdown-it';
import { MESSAGE_LIMIT, type MessagePart, renderClean } from '../../../../bridge/telegram/markdown/render.js';
import { addStrikethrough } from '../../../../bridge/telegram/markdown/strikethrough.js';
import { redactShapes } from '../../../../src/log/redact.js';
import { renderParts } from '../parts.js';
import { seeded } from '../seeded.js';

/** Only what it strikes through is our own: test/bridge/telegram/gfm.test.ts holds that against the specification. */
const reference = new MarkdownIt();
addStrikethrough(reference);

describe('a short text', () => {
  test('is one part: Markdown as HTML, and its plain text as the fallback', () => {
    expect(renderParts('**Done.** See `a<b` & [the log](https://x.test/?a=1&b=2).')).toEqual([
      {
        plain: 'Done. See a<b & the log.',
        html: '<b>Done.</b> See <code>a&lt;b</code> &amp; <a href="https://x.test/?a=1&amp;b=2">the log</a>.',
      },
    ]);
  });

  test('keeps its code as code, with the language, whatever is in it', () => {
    const [part] = renderParts('Look:\n```ts\nif (a < b) **c**;\n\n```\nend');
    expect(part?.html).toBe('Look:\n\n<pre><code class="language-ts">if (a &lt; b) **c**;\n</code></pre>\n\nend');
  });

  test.each(['', '  \n\n ', '\u200b\u00ad', '\u2800'])('without visible text (%j) says so', (text) => {
    expect(renderParts(text)[0]?.plain).toBe('(The answer holds no visible text.)');
  });

  test('contains no invisible characters', () => {
    const hidden = [...'obey me'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
    expect(renderParts(`an${hidden} ans\u200bwer\u202e 👨‍👩‍👧`)).toEqual([
      { plain: 'an answer 👨‍👩‍👧', html: 'an answer 👨‍👩‍👧' },
    ]);
  });

  test('with half a character gets a replacement character', () => {
    expect(renderParts('a\ud800b')[0]?.plain).toBe('a\uFFFDb');
  });
});

/** @returns the HTML of a text that is one part */
function htmlOf(text: string): string {
  const [part, ...others] = renderParts(text);
  expect(others).toEqual([]);
  return part?.html ?? '';
}

describe('the label of a link', () => {
  // rule: words-of-others-have-no-effect
  test.each([
    ['bank.example', 'https://evil.example/bank.example', 'https://evil.example/bank.example'],
    ['https://bank.example/login', 'https://evil.example/', 'https://evil.example/'],
    ['log in at www.bank.example now', 'https://evil.example/', 'https://evil.example/'],
    ['bank.example', 'https://bank.example.evil.example/', 'https://bank.example.evil.example/'],
    ['bank.example', 'https://bank.example@evil.example/', 'https://bank.example@evil.example/'],
    ['**bank**.example', 'https://evil.example/', 'https://evil.example/'],
    ['github.com/a/b', 'https://github.com/a/c', 'https://github.com/a/c'],
  ])('that shows another address than its target is replaced by the target: %s for %s', (label, url, shown) => {
    expect(htmlOf(`[${label}](${url})`)).toBe(`<a href="${url}">${shown}</a>`);
  });

  test.each([
    ['the log', 'https://x.test/1'],
    ['x.test', 'https://www.x.test/1'],
    ['https://x.test/1', 'https://x.test/1'],
    ['https://x.test/1', 'https://x.test/1#part'],
    ['README.md', 'https://x.test/tree/README.md'],
    ['version 1.2.3', 'https://x.test/1'],
  ])('that shows its target, or no address, stays: %s for %s', (label, url) => {
    expect(htmlOf(`[${label}](${url})`)).toBe(`<a href="${url}">${label}</a>`);
  });
});

// rule: answers-are-rendered-as-markdown
test.each([
  ['a link that is used again and again', `[a]: https://x.test/${'y'.repeat(1_900)}\n\n${'[a] '.repeat(5_000)}`],
  ['deep lists', `${'- '.repeat(40)}a\n${'x\n'.repeat(10_000)}`],
])('%s does not flood the chat: it is sent as it was written', (_, text) => {
  const { parts } = renderClean(text, redactShapes);
  expect(parts.length).toBeLessThanOrEqual(Math.ceil(text.length / MESSAGE_LIMIT) + 2);
  expect(wordsOf(parts.map(({ plain }) => plain).join(''))).toBe(wordsOf(text));
});

// rule: answers-are-rendered-as-markdown
test.each(['- ', '> ', '1. ', '- > '])('text within any number of %j is kept', (sign) => {
  for (const depth of [10, 24, 25, 26, 48, 49, 50, 51, 97, 98, 99, 100, 101, 5_000]) {
    expect(renderParts(`${sign.repeat(depth)}the words\n\nthe end`).at(-1)?.plain).toMatch(/the words\n\nthe end$/);
  }
});

test('a link that contained a secret is still a link', () => {
  const [part] = renderClean('**See** [the login](https://u:pass-word-1@x.test/)', redactShapes).parts;
  expect(part?.html).toBe('<b>See</b> <a href="https://u:%5Bredacted:password%5D@x.test/">the login</a>');
});

test('a private key in several lines is removed whole, although only the rendered text shows that it is one', () => {
  const key = '-----BEGIN **RSA** PRIVATE KEY-----\\\nMIIEpAIBAAKCAQEA1234abcd\\\n-----END **RSA** PRIVATE KEY-----';
  const { parts } = renderClean(`Here:\n\n${key}\n\nthe end`, redactShapes);
  expect(parts.map(({ plain }) => plain)).toEqual(['Here:\n\n[redacted:private_key]\n\nthe end']);
  expect(JSON.stringify(parts)).not.toContain('MIIE');
});

describe('inline Markdown', () => {
  test.each([
    ['snake_case_name and `__init__`', 'snake_case_name and <code>__init__</code>'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['*soft* and _soft_', '<i>soft</i> and <i>soft</i>'],
    ['***both*** and ~~gone~~', '<b><i>both</i></b> and <s>gone</s>'],
    ['~one~ ~~two ~2~~ ~~~three~~~ ~un~~equal', '<s>one</s> <s>two ~2</s> ~~~three~~~ ~un~~equal'],
    ['5~10 s or 20~30 s, in ~/a or ~/b', '5~10 s or 20~30 s, in ~/a or ~/b'],
    ['**use `x` now**', '<b>use </b><code>x</code><b> now</b>'],
    ['[bad](javascript:alert(1))', '[bad](javascript:alert(1))'],
    ['[the file](src/a%20b.ts:12)', 'the file (src/a b.ts:12)'],
    ['[`src/a.ts`](src/a.ts)', '<code>src/a.ts</code>'],
    ['[`run`](https://x.test/1)', '<a href="https://x.test/1">run</a>'],
    ['[quote](<https://x.test/"onclick>)', '<a href="https://x.test/%22onclick">quote</a>'],
    ['![a picture](https://x.test/1.png)', '<a href="https://x.test/1.png">a picture</a>'],
    ['<https://x.test/1>', '<a href="https://x.test/1">https://x.test/1</a>'],
    ['<b>not mine</b>', '&lt;b&gt;not mine&lt;/b&gt;'],
    ['**never closed', '**never closed'],
    ['`**a**`', '<code>**a**</code>'],
    ['`` a`b `` `', '<code>a`b</code> `'],
    ['one<br>two<br/>three', 'one\ntwo\nthree'],
    ['no \\<br> and no &lt;br&gt;', 'no &lt;br&gt; and no &lt;br&gt;'],
    ['[<https://x.test/1>](src/a.ts)', 'https://x.test/1 (src/a.ts)'],
    ['![one [two](src/a.ts)](https://x.test/1.png)', '<a href="https://x.test/1.png">one two</a>'],
    ['<https://x.test/?q=[a]>', '<a href="https://x.test/?q=%5Ba%5D">https://x.test/?q=[a]</a>'],
    ['AT&amp;T \\*not soft\\*', 'AT&amp;T *not soft*'],
  ])('%s', (source, html) => {
    expect(htmlOf(source)).toBe(html);
  });
});

describe('blocks', () => {
  test.each([
    ['a heading', '# One\n\ntext\n## Two *soft*\nmore', '<b>One</b>\n\ntext\n\n<b>Two </b><b><i>soft</i></b>\n\nmore'],
    ['lines of a paragraph', 'one\ntwo  \nthree\n\nfour', 'one\ntwo\nthree\n\nfour'],
    ['a list', 'Look:\n- one\n- **two**\n  more\n\nend', 'Look:\n\n• one\n• <b>two</b>\n  more\n\nend'],
    ['a numbered list', '3. three\n4. four\n   - below\n     - deeper', '3. three\n4. four\n   • below\n     • deeper'],
    ['a loose list', '- one\n\n- two\n\n  more', '• one\n\n• two\n\n  more'],
    ['tasks', '- [ ] to do\n- [x] done\n- [X] *also*\n- [y] none', '☐ to do\n☑ done\n☑ <i>also</i>\n• [y] none'],
    ['an empty item', '-\n- two', '• \n• two'],
    ['a rule', 'one\n\n---\n\ntwo', 'one\n\n———\n\ntwo'],
    [
      'a quote',
      'He said:\n\n> one\n> **two**\n>\n> three\n\nend',
      'He said:\n\n<blockquote>one\n<b>two</b>\n\nthree</blockquote>\n\nend',
    ],
    ['a quote within a quote', '> one\n> > two\n>\n> three', '<blockquote>one\n\n&gt; two\n\nthree</blockquote>'],
    ['a list within a quote', '> - one\n> - two', '<blockquote>• one\n• two</blockquote>'],
    [
      'code within a quote, which ends it',
      '> one\n>\n> ```\n> x\n> ```\n> two',
      '<blockquote>one\n</blockquote>\n<pre>x</pre>\n<blockquote>\ntwo</blockquote>',
    ],
    [
      'code within an item',
      '- one\n\n  ```sh\n  make\n  ```\n- two',
      '• one\n\n<pre><code class="language-sh">make</code></pre>\n\n• two',
    ],
    ['code without an end', '```\nx', '<pre>x</pre>'],
    ['code that is indented', 'a\n\n    x < y\n', 'a\n\n<pre>x &lt; y</pre>'],
    [
      'HTML as it was written',
      '<details>\n<summary>More</summary>',
      '&lt;details&gt;\n&lt;summary&gt;More&lt;/summary&gt;',
    ],
  ])('%s', (_, source, html) => {
    expect(htmlOf(source)).toBe(html);
  });

  // rule: answers-are-rendered-as-markdown
  test('a table is aligned in columns, whatever its cells contain', () => {
    const table = ['| Name | Count | 漢字 |', '|:--|--:|:-:|', '| `a` | 1 | **b** |', '| long | 1000 | c &#124; d |'];
    expect(htmlOf(table.join('\n'))).toBe(
      ['<pre>Name │ Count │ 漢字', '─────┼───────┼──────', 'a    │     1 │   b', 'long │  1000 │ c | d</pre>'].join(
        '\n',
      ),
    );
  });
});

test('characters that are shown as one picture take two columns of a table, whatever they are made of', () => {
  const signs = ['ab', '漢', '✅', '⚠️', '🇩🇪', '👨‍👩‍👧', '1️⃣', '👍🏽'];
  const table = ['| a | b |', '|---|---|', ...signs.map((sign) => `| ${sign} | x |`)];
  expect(htmlOf(table.join('\n'))).toBe(`<pre>a  │ b\n───┼──\n${signs.map((sign) => `${sign} │ x`).join('\n')}</pre>`);
});

// rule: answers-are-rendered-as-markdown
test('one long cell of a table does not fill messages with spaces', () => {
  const table = (length: number, rows: number) =>
    `| ${'x'.repeat(length)} | b |\n|---|--:|\n${'| a | 10 |\n| long | 9 |\n'.repeat(rows)}`;
  // The others keep their columns.
  const [, ...lines] = htmlOf(table(300, 2)).split('\n');
  expect(lines.map((line) => line.indexOf('│')).slice(1)).toEqual([61, 61, 61, 61]);
  for (const [length, rows] of [
    [1_000, 25],
    [4_000, 1_000],
  ] as const) {
    const text = table(length, rows);
    expect(renderParts(text).length).toBeLessThanOrEqual(2 + text.length / 1_000);
  }
});

describe('a long text', () => {
  test('is split after paragraphs, lines or words, in this order of preference', () => {
    const paragraph = 'word '.repeat(14).trim();
    const parts = renderParts(`${paragraph}\n\n${paragraph}\n${paragraph}`, 142);
    expect(parts.map((part) => part.plain.trim())).toEqual([paragraph, `${paragraph}\n${paragraph}`]);
    expect(renderParts(`${'a'.repeat(90)} ${'b'.repeat(60)}`, 100).map((part) => part.plain.trim())).toEqual([
      'a'.repeat(90),
      'b'.repeat(60),
    ]);
  });

  // rule: answers-are-rendered-as-markdown
  test.each(['## The next one', '**The next one**', 'The next one:'])(
    'keeps %j with the text it introduces',
    (line) => {
      const paragraph = 'word '.repeat(12).trim();
      const parts = renderParts(`${paragraph}\n\n${line}\n\n${paragraph}`, 120);
      expect(parts.map(({ plain }) => plain)).toEqual([paragraph, expect.stringMatching(/^The next one:?\n\nword/)]);
    },
  );

  test('closes and reopens a code block that is split', () => {
    const parts = renderParts(`\`\`\`js\n${'let a = 1;\n'.repeat(30)}\`\`\`\ndone`, 200);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts.slice(0, -1)) {
      expect(part.plain).toMatch(/^(let a = 1;\n?)+$/);
      expect(part.html).toMatch(/^<pre><code class="language-js">(let a = 1;\n?)+<\/code><\/pre>$/);
    }
    expect(parts.at(-1)?.plain).toMatch(/\n\ndone$/);
  });

  // rule: answers-are-rendered-as-markdown
  test('has at most 100 styles per part: Telegram drops the rest', () => {
    for (const [text, styles] of [
      ['`a` '.repeat(250), 250],
      ['- ***a***\n'.repeat(130), 260],
      ['> `b`\n\n'.repeat(130), 130],
    ] as const) {
      const counts = renderParts(text).map(({ html }) => html.match(/<\/(?:b|i|code)>/g)?.length ?? 0);
      expect(Math.max(...counts)).toBeLessThanOrEqual(100);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(styles);
    }
  });

  test('counts a block as one style, however many lines it has', () => {
    for (const text of [`\`\`\`\n${'x\n'.repeat(3_000)}\`\`\``, '> x\n'.repeat(3_000)]) {
      expect(renderParts(text)[0]?.plain.length).toBeGreaterThan(MESSAGE_LIMIT - 100);
    }
  });

  test('never splits an emoji', () => {
    for (let length = 90; length < 110; length += 1) {
      for (const part of renderParts('x'.repeat(length) + '🦑'.repeat(40), 100)) {
        expect(part.plain).not.toMatch(/\p{Surrogate}/u);
        expect(part.html).not.toMatch(/\p{Surrogate}/u);
      }
    }
  });

  test.each(['👨‍👩‍👧‍👦', '👍🏽', '🇩🇪', '🏳️‍🌈', '1️⃣', 'e\u0301', 'क्षि'])(
    'never splits %s, which is shown as one character',
    (sign) => {
      for (let length = 0; length < 12; length += 1) {
        const words = 'x'.repeat(length) + sign.repeat(200);
        for (const text of [
          words,
          `**${words}**`,
          `**x${'x'.repeat(length)}**${sign.repeat(200)}`,
          `\`${words}\``,
          `\`\`\`\n${words}\n\`\`\``,
        ]) {
          const others = renderParts(text, 100).map(({ plain }) => plain.replace(/^x+/, '').replaceAll(sign, ''));
          expect(others.join('')).toBe('');
          expect(others.length).toBeGreaterThan(1);
        }
      }
    },
  );

  test('of one character that is longer than a part is complete', () => {
    const sign = `e${'\u0301'.repeat(300)}`;
    expect(
      renderParts(sign, 100)
        .map(({ plain }) => plain)
        .join(''),
    ).toBe(sign);
  });

  // rule: answers-are-rendered-as-markdown
  test.each([
    ['stars', (count: number) => '**'.repeat(count / 2)],
    ['backticks', (count: number) => '`'.repeat(count)],
    ['signs of HTML', (count: number) => '<'.repeat(count)],
    ['styles', (count: number) => '`a` '.repeat(count / 4)],
    ['code', (count: number) => `\`\`\`\n${'&'.repeat(count / 3)}`],
  ])('of a million characters in one line is rendered quickly: %s', (_, textOf) => {
    const eighth = cpuMsOf(() => renderParts(textOf(125_000)));
    let parts: MessagePart[] = [];
    const whole = cpuMsOf(() => {
      parts = renderParts(textOf(1_000_000));
    });
    expect(parts.every((part) => part.html.length <= MESSAGE_LIMIT)).toBe(true);
    // Eight times as long, if it grows with the length; 64 times, if with its square.
    expect(whole).toBeLessThan(24 * Math.max(eighth, 50));
  });

  // rule: answers-are-rendered-as-markdown
  test.each([100, 137, 400, MESSAGE_LIMIT])('keeps every character, whatever it is made of (limit %i)', (limit) => {
    const random = seeded(limit);
    for (let round = 0; round < 120; round += 1) {
      const text = randomMarkdown(random, limit * 3);
      const parts = renderParts(text, limit);
      expect(parts.flatMap((part) => faultsOf(part, limit))).toEqual([]);
      const said = wordsOf(parts.map((part) => part.plain).join('\n'));
      const meant = wordsOf(textOfHtml(reference.render(text)));
      if (meant !== '') expect(said).toBe(meant);
      expect(wordsOf(textOfHtml(parts.map((part) => part.html).join('\n')))).toBe(said);
    }
  });
});

/** Without white space, and without the signs that stand for what a page shows in another way. */
function wordsOf(text: string): string {
  return text.replace(/[\s•☐☑│─┼—>]|\[[ xX]\]|\d+\./g, '');
}

function textOfHtml(html: string): string {
  const signs: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };
  return html.replace(/<[^>]*>/g, '').replace(/&(?:lt|gt|quot|amp);/g, (sign) => signs[sign] ?? sign);
}

/** (`expect` for each part would take longer than all the rest.) */
function faultsOf({ plain, html }: MessagePart, limit: number): string[] {
  const faults = {
    'too long': plain.length > limit || html.length > limit,
    'half a sign': /\p{Surrogate}/u.test(`${plain}${html}`),
    empty: plain.trim() === '',
    'not balanced': !isBalanced(html),
  };
  return Object.entries(faults).flatMap(([fault, is]) => (is ? [`${fault}: ${html}`] : []));
}

function isBalanced(html: string): boolean {
  const open: string[] = [];
  for (const [, closing, tag = ''] of html.matchAll(/<(\/?)([a-z]+)[^>]*>/g)) {
    if (closing !== '/') open.push(tag);
    else if (open.pop() !== tag) return false;
  }
  const text = html.replace(/<\/?(b|i|s|code|pre|a|blockquote)( (class="language-\w+"|href="[^"<>]*"))?>/g, '');
  return open.length === 0 && !/[<>]/.test(text) && !/&(?!(amp|lt|gt);)/.test(html);
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
  '~~gone~~',
  '\n> quoted',
  '\n> > twice',
  '\n# Head\n',
  '\n- item',
  '\n1. first',
  '\n- [x] done',
  '\n\n| a | b |\n|---|--:|\n| 1 | `2` |\n\n',
  '\n\n---\n\n',
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

/** @returns the processor time that it takes, in milliseconds: what else the machine does counts little */
function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
