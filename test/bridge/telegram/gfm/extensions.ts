/** The constructs of the GitHub Flavored Markdown Spec's extensions, in its order, with texts of our own. */
import type { Example } from './examples.js';

const link = (address: string, shown = address) => `<a href="${address}">${shown}</a>`;
const cells = (tag: string, row: readonly string[]) =>
  `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;

function table(head: readonly string[], ...rows: readonly (readonly string[])[]): string {
  const body = rows.length === 0 ? '' : `<tbody>${rows.map((row) => cells('td', row)).join('')}</tbody>`;
  return `<table><thead>${cells('th', head)}</thead>${body}</table>`;
}

const HEAD = ['file', 'state'];
const FIRST = ['api.ts', 'red'];
const TABLES: readonly (readonly [string, string])[] = [
  ['| file | state |\n| --- | --- |\n| api.ts | red |\n', table(HEAD, FIRST)],
  ['| file | state |\n:-: | -----:\napi.ts | red\n', table(HEAD, FIRST)],
  [
    '| a\\|b |\n| --- |\n| c `\\|` d |\n| e **\\|** f |\n',
    table(['a|b'], ['c <code>|</code> d'], ['e <strong>|</strong> f']),
  ],
  [
    '| file | state |\n| --- | --- |\n| api.ts | red |\n> noted\n',
    `${table(HEAD, FIRST)}<blockquote><p>noted</p></blockquote>`,
  ],
  [
    '| file | state |\n| --- | --- |\n| api.ts | red |\nrest\n\nlast\n',
    `${table(HEAD, FIRST, ['rest', ''])}<p>last</p>`,
  ],
  ['| file | state |\n| --- |\n| api.ts |\n', '<p>| file | state |\n| --- |\n| api.ts |</p>'],
  ['| file | state |\n| --- | --- |\n| only |\n| api.ts | red | dropped |\n', table(HEAD, ['only', ''], FIRST)],
  ['| file | state |\n| --- | --- |\n', table(HEAD)],
];

const OPEN = '<input disabled="" type="checkbox">';
const DONE = '<input checked="" disabled="" type="checkbox">';
const TASKS: readonly (readonly [string, string])[] = [
  ['- [ ] test\n- [x] build\n', `<ul><li>${OPEN} test</li><li>${DONE} build</li></ul>`],
  [
    '- [x] build\n  - [ ] arm\n  - [x] amd\n- [ ] test\n',
    `<ul><li>${DONE} build<ul><li>${OPEN} arm</li><li>${DONE} amd</li></ul></li><li>${OPEN} test</li></ul>`,
  ],
];

const STRUCK: readonly (readonly [string, string])[] = [
  ['~~Red~~ Green ~at last~.\n', '<p><del>Red</del> Green <del>at last</del>.</p>'],
  ['It ~~ends\n\nin another~~ paragraph.\n', '<p>It ~~ends</p><p>in another~~ paragraph.</p>'],
];

const WIKI = 'www.wiki.test/find?of=Tree+(graph)';
const HTTP_WIKI = `http://${WIKI}`;
const ADDRESSES: readonly (readonly [string, string])[] = [
  ['www.docs.test\n', `<p>${link('http://www.docs.test', 'www.docs.test')}</p>`],
  [
    'Read www.docs.test/start before you begin.\n',
    `<p>Read ${link('http://www.docs.test/start', 'www.docs.test/start')} before you begin.</p>`,
  ],
  [
    'Read www.docs.test.\n\nRead www.docs.test/x.y.\n',
    `<p>Read ${link('http://www.docs.test', 'www.docs.test')}.</p><p>Read ${link('http://www.docs.test/x.y', 'www.docs.test/x.y')}.</p>`,
  ],
  [
    `${WIKI}\n\n${WIKI}))\n\n(${WIKI})\n\n(${WIKI}\n`,
    ['', '))', ')', '']
      .map((after, index) => `<p>${index > 1 ? '(' : ''}${link(HTTP_WIKI, WIKI)}${after}</p>`)
      .join(''),
  ],
  [
    'www.wiki.test/find?of=(graph))+tree\n',
    `<p>${link('http://www.wiki.test/find?of=(graph))+tree', 'www.wiki.test/find?of=(graph))+tree')}</p>`,
  ],
  [
    'www.wiki.test/find?of=tree&by=age\n\nwww.wiki.test/find?of=tree&by;\n',
    `<p>${link('http://www.wiki.test/find?of=tree&amp;by=age', 'www.wiki.test/find?of=tree&amp;by=age')}</p>` +
      `<p>${link('http://www.wiki.test/find?of=tree', 'www.wiki.test/find?of=tree')}&amp;by;</p>`,
  ],
  ['www.docs.test/st<art\n', `<p>${link('http://www.docs.test/st', 'www.docs.test/st')}&lt;art</p>`],
  [
    'http://docs.test\n\n(Read https://wiki.test/find?of=Tree+(graph))\n\nThe old files are at ftp://files.test.\n',
    `<p>${link('http://docs.test')}</p><p>(Read ${link('https://wiki.test/find?of=Tree+(graph)')})</p>` +
      `<p>The old files are at ${link('ftp://files.test')}.</p>`,
  ],
  ['ops@team.test\n', `<p>${link('mailto:ops@team.test', 'ops@team.test')}</p>`],
  [
    'ops@all+eu.test is no address, and ops+eu@all.test is one.\n',
    `<p>ops@all+eu.test is no address, and ${link('mailto:ops+eu@all.test', 'ops+eu@all.test')} is one.</p>`,
  ],
  [
    'o.p-s_x@t.m\n\no.p-s_x@t.m.\n\no.p-s_x@t.m-\n\no.p-s_x@t.m_\n',
    `<p>${link('mailto:o.p-s_x@t.m', 'o.p-s_x@t.m')}</p><p>${link('mailto:o.p-s_x@t.m', 'o.p-s_x@t.m')}.</p>` +
      '<p>o.p-s_x@t.m-</p><p>o.p-s_x@t.m_</p>',
  ],
];

const TAGS: readonly (readonly [string, string])[] = [
  [
    '<b> <title> <style> <i>\n\n<blockquote>\n  <xmp> may not be used, nor <XMP>.\n</blockquote>\n',
    '<p><b> &lt;title> &lt;style> <i></p><blockquote>\n  &lt;xmp> may not be used, nor &lt;XMP>.\n</blockquote>',
  ],
];

const of = (section: string, examples: readonly (readonly [string, string])[]): Example[] =>
  examples.map(([markdown, html]) => ({ section, markdown, html }));

export const EXTENSIONS: readonly Example[] = [
  ...of('Tables', TABLES),
  ...of('Task list items', TASKS),
  ...of('Strikethrough', STRUCK),
  ...of('Autolinks', ADDRESSES),
  ...of('Disallowed raw HTML', TAGS),
];
