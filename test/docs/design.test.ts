/** docs/design.md stays short enough to be read, and true. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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

  test('names every folder of the rings', () => {
    const spans = codeSpans(text);
    const missing = ['src', 'memory', 'monitoring', 'bridge'].flatMap((ring) =>
      readdirSync(join(ROOT, ring), { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !spans.includes(`${ring}/${entry.name}/`))
        .map(({ name }) => `${ring}/${name}/`),
    );
    expect(missing).toEqual([]);
  });

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

  test('leads from each of them to the next: by an import, or by a name in brackets that is in a file before and in this one', () => {
    const items = itemsBelow('## The way of a message');
    const sources = items.map((item) => readFileSync(join(ROOT, codeSpans(item)[0] ?? item), 'utf8'));
    const isLed = (item: string, index: number): boolean => {
      const [, bracket] = /\(([^()]*`[^`]+`[^()]*(?:\([^()]*)?)\)\s*$/.exec(item) ?? [];
      const from = /← (\d+)\s*$/.exec(item)?.[1] ?? index;
      if (bracket === undefined) return imports(sources[Number(from) - 1] ?? '', codeSpans(item)[0] ?? '');
      const names = codeSpans(bracket);
      const last = names.at(-1)?.replace(/^.*\./, '') ?? '';
      const known = sources.slice(0, index + 1);
      return (
        names.every((name) => known.some((source) => source.includes(name))) && (sources[index] ?? '').includes(last)
      );
    };
    expect(items.filter((item, index) => index > 0 && !isLed(item, index))).toEqual([]);
  });
});

/** By the file's name: which folder it is in, the other test knows. */
function imports(source: string, path: string): boolean {
  return source.includes(`/${basename(path, '.ts')}.js'`);
}

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
