// covers: src/log/markdown.ts
import { describe, expect, test } from '@jest/globals';
import MarkdownIt from 'markdown-it';
import { foreignMarkdown, inCode, inMarkdown } from '../../../src/log/markdown.js';
import { seeded } from '../../bridge/telegram/seeded.js';

describe('a line', () => {
  test.each([
    ['Fix the login', 'Fix the login'],
    ['<script>alert(1)</script> a < b & c', '\\<script>alert(1)\\</script> a < b & c'],
    ['&commat;bob', '\\&commat;bob'],
    ['Thanks @bob, fixes #12 (GH-9)', 'Thanks `@bob`, fixes `#12` (`GH-9`)'],
    ['fixes owner/repo#1, see https://e.example/x.', 'fixes `owner/repo#1`, see `https://e.example/x`.'],
    ['Revert 1a2b3c4d5e of www.e.example', 'Revert `1a2b3c4d5e` of `www.e.example`'],
    ['# Heading | pipe', '\\# Heading \\| pipe'],
    ['> quoted', '\\> quoted'],
    ['1. first', '1\\. first'],
    ['- item', '\\- item'],
    ['[x] task', '\\[x] task'],
    ['--json of a-b', '--json of a-b'],
    ['*.ts and **bold** ~~gone~~', '\\*.ts and \\*\\*bold\\*\\* \\~\\~gone\\~\\~'],
    ['__init__ and a_b_c', '\\_\\_init\\_\\_ and a_b_c'],
    ['[text](javascript:x) a[0]', '[text\\](javascript:x) a[0]'],
    ['Use `foo` and `` a`b ``', 'Use `foo` and `` a`b ``'],
    ['a lone ` @bob', 'a lone \\` `@bob`'],
    ['\\` @bob \\d C:\\', '\\\\\\` `@bob` \\d C:\\\\'],
    ['@bob`x`', '`@bob` `x`'],
    ['two\nlines', 'two\\nlines'],
    ['a \u202e\u200b@bob', 'a `\\u202e\\u200b@bob`'],
  ])('of words of others shows them: %j', (text, shown) => {
    expect(inMarkdown(text)).toBe(shown);
    // Rendered, it is a paragraph with the words as they were; of markup, it has code alone.
    const html = new MarkdownIt({ html: true, linkify: true }).render(shown);
    expect(html.match(/<\/?[a-z]\w*/g)?.filter((tag) => !/^<\/?(?:p|code)$/.test(tag))).toEqual([]);
  });

  test('of code ends where it ends', () => {
    expect(inCode('a.ts')).toBe('`a.ts`');
    expect(inCode('a`b``c\n<x>')).toBe('``` a`b``c\\n<x> ```');
    expect(inCode('')).toBe('');
  });
});

describe('Markdown of an agent', () => {
  const shown = (...lines: string[]) => foreignMarkdown(lines.join('\n'));

  test('keeps its lists, its emphasis and its code', () => {
    const lines = [
      'Done:',
      '',
      '- **one** `<a>`',
      '  1. *two*',
      '- [ ] three',
      '',
      '```ts',
      '<T>(@x) #1',
      '```',
      'End',
    ];
    expect(shown(...lines)).toEqual(lines);
  });

  test('forges no section, and ends no block but its own', () => {
    expect(shown('# A', '## Open', '> # B', '- ## C', '#### D')).toEqual([
      '### A',
      '### Open',
      '> ### B',
      '- ### C',
      '#### D',
    ]);
    expect(shown('Open', '----', 'B', '==')).toEqual(['Open', '\\----', 'B', '\\==']);
    expect(shown('```', '## x', '~~~')).toEqual(['```', '## x', '~~~', '```']);
    expect(shown('text', '    ```', '@bob', '   `````', '@bob')).toEqual(['text', '```', '@bob', '```', '`@bob`']);
  });

  test('of brackets that close nothing is read at once', () => {
    const begun = performance.now();
    for (const piece of ['[a](', '![', '[`']) foreignMarkdown(piece.repeat(2_000));
    expect(performance.now() - begun).toBeLessThan(4_000);
  });

  test('notifies nobody, links nothing, hides nothing', () => {
    expect(shown('**@bob** closes #3 <details> &num;4 \\` @ann')).toEqual([
      '**`@bob`** closes `#3` \\<details> \\&num;4 \\` `@ann`',
    ]);
    expect(shown('[docs](https://a.example/b "t"), ![](http://c.example/p.png), [`f.ts`](src/f.ts#L3)')).toEqual([
      'docs (`https://a.example/b`),  (`http://c.example/p.png`), `f.ts` (src/f.ts#L3)',
    ]);
    expect(shown('`a[0](b)` [a]: x', 'a\u001b[31m')).toEqual(['`a[0](b)` [a\\]: x', 'a\\u001b[31m']);
  });
});

describe('whatever is put together', () => {
  const PIECES = [
    ...['`', '``', '```', '~~~', '\\', '@bob', '#12', 'https://', 'www.x.y', '<b>', '<!--', '&num;', '![', '[x]', ']'],
    ...[
      '(a.md)',
      '(http://a.b/c)',
      '(',
      ')',
      '*',
      '_',
      '|',
      '"',
      ':',
      '\n',
      ' ',
      '    ',
      '- ',
      '> ',
      '# ',
      '1. ',
      '---',
      'a',
    ],
  ];
  const rendering = new MarkdownIt({ html: true, linkify: true });
  const next = seeded(7);
  const made = Array.from({ length: 3_000 }, () =>
    Array.from({ length: 9 }, () => PIECES[Math.floor(next() * PIECES.length)]).join(''),
  );
  const outsideCode = (document: string) =>
    rendering.render(`${document}\n\n## End\n`).replace(/<code[ >][\s\S]*?<\/code>/g, '');

  test.each([
    ['a line', (text: string) => `- ${inMarkdown(text)}\n- ${inCode(text)}`, 'ul|li|pre'],
    [
      'Markdown',
      (text: string) => foreignMarkdown(text).join('\n'),
      'ul|ol|li|em|strong|s|br|blockquote|h[3-6]|hr|pre',
    ],
  ])('%s has no tag, no mention and no reference outside of code, and ends where it ends', (_, write, tags) => {
    const foreign = new RegExp(`<(?!/?(?:p|${tags})\\b)[a-z!/][^>]*>|@bob|#12|://|www`, 'i');
    const faults = made.filter((text) => {
      const [html = '', rest] = outsideCode(write(text)).split('<h2>End</h2>');
      return rest === undefined || foreign.test(html);
    });
    expect(faults).toEqual([]);
  });
});

test.each([
  ['backslashes', '\\'],
  ['pieces of code', 'a`b'],
  ['links that begin', '[`'],
])('the time grows with the length of a line, not with its square: %s', (_, piece) => {
  const [short, long] = [20_000, 200_000].map((length) => {
    const text = piece.repeat(length / piece.length);
    const before = process.cpuUsage();
    foreignMarkdown(text);
    inMarkdown(text);
    const { user, system } = process.cpuUsage(before);
    // Hundredths of a second are too short to measure.
    return Math.max(user + system, 30_000);
  });
  expect(Number(long) / Number(short)).toBeLessThan(50);
});
