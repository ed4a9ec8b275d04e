/** Each rule of the design has a test, and each test that names a rule names one that there is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/host/program.js';
import { RULES_FILE, readTags, renderRules, rulesIn, tagsIn } from './rules.js';

const ROOT = packageRoot();
const rules = rulesIn(read(RULES_FILE));
const tags = readTags(ROOT);

describe('the rules of the design', () => {
  test('are written one per line, with a folder and a sentence each', () => {
    const lines = read(RULES_FILE)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('## '));
    expect(rules).toHaveLength(lines.length);
    expect(rules.length).toBeGreaterThan(100);
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    expect(rules.filter(({ room, sentence }) => room === '' || !sentence.endsWith('.'))).toEqual([]);
  });

  test('have at least one test each', () => {
    const proven = new Set(tags.map(({ rule }) => rule));
    expect(rules.map(({ id }) => id).filter((id) => !proven.has(id))).toEqual([]);
  });

  test('are named by each tag, directly above a test', () => {
    const known = new Set(rules.map(({ id }) => id));
    expect(tags.filter(({ rule, title }) => !known.has(rule) || title === null)).toEqual([]);
  });
});

test('the page of the rules has each rule in its room, with the tests that prove it', () => {
  const made = rulesIn('## src/a\none-is-kept: One is kept.\n## src/b\nno-other: No other is.\n');
  const page = renderRules(made, [
    { rule: 'one-is-kept', file: 'test/a.test.ts', title: 'keeps one' },
    { rule: 'one-is-kept', file: 'test/b.test.ts', title: 'keeps it' },
  ]);
  expect(page.split('\n').slice(4)).toEqual([
    '## src/a',
    '',
    '- **One is kept.** `one-is-kept`',
    '  - `test/a.test.ts` › "keeps one"',
    '  - `test/b.test.ts` › "keeps it"',
    '',
    '## src/b',
    '',
    '- **No other is.** `no-other`',
    '',
  ]);
});

test.each([
  ["test('a title', () => {});", 'a title'],
  ["test(\n  'below', async () => {});", 'below'],
  ["describeWithRedis('a group', () => {", 'a group'],
  [`test("a program's end", () => {});`, "a program's end"],
  ["test.each([['row', 1], ['x', 2]])('%s counts', () => {});", '%s counts'],
  ["test.each([\n  ['row', make()],\n] as const)(\n  'of %s', () => {});", 'of %s'],
  ["const value = call('no test');", null],
])('the test below a tag is found: %j', (source, title) => {
  expect(tagsIn('test/a.test.ts', `  // rule: one\n  // rule: two\n${source}`)).toEqual([
    { rule: 'one', file: 'test/a.test.ts', title },
    { rule: 'two', file: 'test/a.test.ts', title },
  ]);
});

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
