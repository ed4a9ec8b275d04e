import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { handoffIn, handoffMarkdown } from '../../../memory/exchange/handoffMarkdown.js';
import { documentOf } from '../../../memory/handoffs/document.js';
import type { Handoff } from '../../../memory/handoffs/handoffs.js';
import { redactShapes } from '../../../src/log/redact.js';

const DOCUMENT = documentOf(
  {
    title: 'Fix: the "login"',
    goal: 'People log in.\n\nWith one click.',
    done: ['found the cause'],
    learnings: ['tokens live 1 h\nsee auth.ts:12 <details>', '- a dash'],
    files: ['src/auth.ts'],
    state: '# not a title\n## half done\n<!-- `<T>` a < b\n```\n## in code\n```',
    next: ['write tests', 'ask Ann'],
    references: ['docs/plan.md'],
    tags: ['auth'],
  },
  redactShapes,
);
const STAMPS = {
  session_id: 's',
  root: '/w',
  memory: null,
  workspace: 'ws',
  repository: null,
  branch: null,
  dirty_digest: null,
  dirty: 0,
};
const HANDOFF: Handoff = {
  id: 'ho_1',
  state: {
    answer: null,
    end: null,
    digests: new Map(),
    offer: { ...STAMPS, document: DOCUMENT, digest: 'd', conversations: [], head: 'abc', at: 0, origin: 'agent' },
  },
};

describe('Markdown', () => {
  test('has its facts in front, for a parser of YAML', () => {
    const text = handoffMarkdown(HANDOFF);
    const [, front = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
    expect(parse(front)).toEqual({
      ...{ date: '1970-01-01T00:00:00.000Z', status: 'offered', topic: 'Fix: the "login"', tags: ['auth'] },
      ...{ git_commit: 'abc', references: ['docs/plan.md'] },
    });
  });

  test('leads back to the same document: no text of it forges a section, or hides the next one', () => {
    const text = handoffMarkdown(HANDOFF);
    expect(documentOf(handoffIn(text), redactShapes)).toEqual(DOCUMENT);
    expect(text.match(/^#.*/gm)).toEqual([
      ...['# Fix: the "login"', '## Goal', '## Done', '## Learnings', '## Files', '## State'],
      ...['## in code', '## Next steps'],
    ]);
    expect(text).toContain('\\# not a title\n\\## half done\n\\<!-- `<T>` a < b\n');
    expect(text).toContain('- tokens live 1 h\n  see auth.ts:12 \\<details>\n');
  });

  test.each<[string, string[], string | null]>([
    ['in other marks', ['~~~\n```\n# x\n~~~'], null],
    ['in more marks', ['````\n```\n# x\n````'], null],
    ['with a blank before it', ['text\n  ```\n# x\n  ```'], null],
    ['in an item of its list', ['- ```\n  # x\n  ```\n- end'], null],
    ['that begins an item', ['```sh\n# x\n```', 'the second'], null],
    ['that does not end', ['```\n# x', 'the second'], '   ```'],
  ])('code %s hides no section behind it, and forges none', (_, texts, end) => {
    const [state = ''] = texts;
    const document = documentOf({ ...DOCUMENT, state, done: texts, next: ['the last'] }, redactShapes);
    const offered = { ...HANDOFF, state: { ...HANDOFF.state, offer: { ...HANDOFF.state.offer, document } } };
    const whole = (text: string) => (end === null || text !== state ? text : `${text}\n${end}`);
    const back = documentOf(handoffIn(handoffMarkdown(offered)), redactShapes);
    expect(back).toEqual({ ...document, state: whole(state), done: document.done.map(whole) });
  });

  test('of others is read by the names of its sections', () => {
    const text = `---
date: 2026-01-02
topic: Search
references: [a.md]
---
# Handoff: something
Read this first.
## Task(s)
Make it fast.
## Learnings
* caches are cold
* [x] done already
## Artifacts
1. src/a.ts
2) src/b.ts
## Action Items & Next Steps
First paragraph
## Risks:
The key expires on Friday.
# Another title
y
`;
    expect(handoffIn(text)).toEqual({
      title: 'Search',
      goal: 'Make it fast.',
      learnings: ['caches are cold', 'done already'],
      files: ['src/a.ts', 'src/b.ts'],
      next: ['First paragraph'],
      references: ['a.md'],
      notes: 'Read this first.\n\nRisks:\nThe key expires on Friday.\n\nAnother title\ny',
      tags: [],
    });
    expect(handoffIn('\ufeff---\ntitle: Named so here\n---\n# Handoff')).toMatchObject({ title: 'Named so here' });
    expect(handoffIn('# A title ##\n## Next ##\n- b')).toMatchObject({ title: 'A title', next: ['b'] });
    expect(() => handoffIn('---\na: [\n---\n')).toThrow('no YAML');
  });
});

test('code in an item stays one piece', () => {
  const text = ['## Learnings', '- configure it:', '```yaml', '- name: a', '- name: b', '```', '- ask Ann'].join('\n');
  const learnings = ['configure it:\n```yaml\n- name: a\n- name: b\n```', 'ask Ann'];
  expect(handoffIn(text)).toMatchObject({ learnings });
});

test('nothing in it is obeyed by a terminal, and what shows nothing is nothing', () => {
  const given = { title: 'T', learnings: ['a\u001b[31m \u202eb', '\u200b'], next: ['\u0007go'], goal: '\u200b\u0000' };
  const document = documentOf(given, redactShapes);
  expect(document).toMatchObject({ goal: null, learnings: ['a\u001b[31m \u202eb'] });
  const { offer } = HANDOFF.state;
  if (offer === null) throw new Error('no offer');
  const text = handoffMarkdown({ ...HANDOFF, state: { ...HANDOFF.state, offer: { ...offer, document } } });
  expect(text).toContain('- a\\u001b[31m \\u202eb\n');
  expect(text).toContain('- \\u0007go\n');
  expect(() => documentOf({ ...given, learnings: ['\u200b'] }, redactShapes)).toThrow('lacks learnings');
});
