/** docs/design.md stays short enough to be read, and true. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/host/program.js';
import { codeSpans } from './markdown.js';
import { RULES_FILE, rulesIn } from './rules.js';

const ROOT = packageRoot();
const MOST_CHARACTERS = 15_000;
const MOST_FILES = 35;

const text = readFileSync(join(ROOT, 'docs/design.md'), 'utf8');

describe('docs/design.md', () => {
  test(`has at most ${MOST_CHARACTERS} characters`, () => expect(text.length).toBeLessThanOrEqual(MOST_CHARACTERS));

  test('names ten invariants, each with rules that have tests', () => {
    const rules = new Set(rulesIn(readFileSync(join(ROOT, RULES_FILE), 'utf8')).map(({ id }) => id));
    const named = itemsBelow('## The ten invariants').map((item) => codeSpans(item));
    expect(named).toHaveLength(10);
    expect(named.filter((ids) => ids.length === 0)).toEqual([]);
    expect(named.flat().filter((id) => !rules.has(id))).toEqual([]);
  });

  test(`follows a message through at most ${MOST_FILES} files, each once`, () => {
    const files = itemsBelow('## The way of a message').map((item) => codeSpans(item)[0] ?? item);
    expect(files.length).toBeGreaterThan(20);
    expect(files.length).toBeLessThanOrEqual(MOST_FILES);
    expect(new Set(files).size).toBe(files.length);
    expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

/** @returns the items of the first numbered list below a heading, each with its further lines */
function itemsBelow(heading: string): string[] {
  const start = text.indexOf(`${heading}\n`);
  if (start < 0) throw new Error(`there is no heading ${heading}`);
  const [section = ''] = text.slice(start + heading.length).split('\n## ');
  return section
    .split(/\n(?=\d+\. )/)
    .slice(1)
    .map((item) => item.split('\n\n')[0] ?? '');
}
