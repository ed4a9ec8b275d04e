/** Words of others on the demo's page, and its voice on a terminal. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { Narrator } from './narrator.js';
import { chatHtml } from './page/chats.js';
import { formattedHtml } from './page/formatted.js';
import { Links } from './page/html.js';
import { issueHtml } from './page/issues.js';

const HOSTILE = `<script>alert("1")</script> & <img src=x onerror='x'>`;
const ISSUE = {
  number: 7,
  url: 'http://127.0.0.1:4711/example/fleet/issues/7',
  title: HOSTILE,
  labels: [HOSTILE],
  state: 'closed' as const,
  stateReason: 'completed',
  author: 'bot',
};
const LINKS = new Links([ISSUE]);

describe('text of others', () => {
  test('stays plain text in chats', () => {
    const message = {
      messageId: 2,
      kind: 'text' as const,
      who: 'person 1',
      name: HOSTILE,
      byBot: false,
      threadId: null,
      replyTo: 2,
      text: HOSTILE,
      entities: [{ type: 'pre', offset: 0, length: 8, language: HOSTILE }],
      silent: false,
      formerTexts: [{ text: `${HOSTILE} before`, entities: [], until: 1 }],
      reactions: [{ userId: 1, emoji: HOSTILE }],
      buttons: [],
      sentAt: 0,
      editedAt: 1,
      file: null,
    };
    const html = chatHtml({ chatId: 1, title: HOSTILE, forum: false, topics: [], messages: [message] }, LINKS);
    expect(html).not.toMatch(/<script|<img/);
    expect(html.match(/&lt;img/g)?.length).toBeGreaterThan(4);
  });

  test('of a message that was edited stands once: its last wording, with the earlier ones folded away below it', () => {
    const working = (text: string, until: number) => ({ text, entities: [], until });
    const message = {
      ...{ messageId: 2, kind: 'text' as const, who: 'bot', name: 'bot', byBot: true, threadId: null, replyTo: null },
      ...{
        text: 'Done in 9 s.',
        entities: [],
        silent: true,
        reactions: [],
        buttons: [],
        sentAt: 0,
        editedAt: 9,
        file: null,
      },
      formerTexts: [working('Started.', 1), working('Bash: make', 5), working('Bash: make test', 9)],
    };
    const html = chatHtml({ chatId: 1, title: 'a', forum: false, topics: [], messages: [message] }, LINKS);
    const [shown = '', folded = ''] = html.split('<details class="former">');
    expect(shown).toContain('Done in 9 s.');
    expect(html).not.toContain('<details class="former" open');
    for (const text of ['Started.', 'Bash: make', 'Bash: make test']) {
      expect(shown).not.toContain(text);
      expect(folded).toContain(text);
    }
    expect(html.match(/<article/g)).toHaveLength(1);
  });

  test('stays plain text in issues, whose HTML comments are hidden and whose folds open', () => {
    const body = `<!-- marker -->\n\n${HOSTILE}\n\n<details>\n<summary>more</summary>\n\n[a](javascript:x) ![b](http://x.org/y.png)\n\n</details>`;
    const html = issueHtml({ ...ISSUE, body, comments: [{ author: HOSTILE, body: HOSTILE }] }, LINKS);
    expect(html).not.toMatch(/<script|<img|marker|href="javascript/);
    expect(html).toContain('<details>\n<summary>more</summary>');
    expect(html).toContain('closed as completed');
  });
});

describe('a text of Telegram', () => {
  test('has nested entities, and no links in code', () => {
    const text = 'ab cd http://x.org http://x.org';
    const entities = [
      { type: 'bold', offset: 0, length: 5 },
      { type: 'italic', offset: 3, length: 2 },
      { type: 'code', offset: 6, length: 12 },
    ];
    expect(formattedHtml(text, entities, LINKS)).toBe(
      '<b>ab <i>cd</i></b> <code>http://x.org</code> <a href="http://x.org">http://x.org</a>',
    );
  });

  test('has a block on its own lines', () => {
    const entities = [{ type: 'pre', offset: 2, length: 1, language: 'sh' }];
    expect(formattedHtml('a\nb\n\nc', entities, LINKS)).toBe(
      'a\n<div class="block"><span class="language">sh</span><pre>b</pre></div>\nc',
    );
  });

  test('links to an issue of the page, and to no server that is gone', () => {
    expect(formattedHtml(`Issue: ${ISSUE.url}.`, [], LINKS)).toBe(`Issue: <a href="#issue-7">${ISSUE.url}</a>.`);
    expect(formattedHtml('http://127.0.0.1:1/ http://localhost/', [], LINKS)).not.toContain('href');
  });
});

test.each([
  [true, 3],
  [false, 0],
])('the narrator on a stage with colours: %s', (colours, painted) => {
  const said: string[] = [];
  const narrator = new Narrator({ write: (text) => void said.push(text), colours, width: 40 });
  narrator.tell('A sentence that is longer than one line of this stage.', 'trouble');
  // The time, and each of the two lines.
  expect(said.join('').split('\u001b[0m')).toHaveLength(painted + 1);
  const lines = stripVTControlCharacters(said.join('')).trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines.every((line) => line.length <= 40)).toBe(true);
});
