/** Each folder of a ring says what it is for, what it must not do, and where to start reading. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/host/program.js';
import { codeSpans } from './markdown.js';

const ROOT = packageRoot();
const MOST_LINES = 40;

const folders = ['src', 'memory', 'monitoring', 'bridge'].flatMap((ring) =>
  readdirSync(join(ROOT, ring), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${ring}/${name}`),
);

describe.each(folders)('%s/README.md', (folder) => {
  const path = join(ROOT, folder, 'README.md');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';

  test(`has at most ${MOST_LINES} lines, and says what the folder must not do and where to start`, () => {
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(MOST_LINES);
    expect(text).toMatch(/^It must not /m);
    expect(text).toMatch(/^Start with `/m);
  });

  test('names existing files and folders', () => {
    const named = codeSpans(text).filter((span) => /^[\w./-]+(?:\.(?:ts|md)|\/)$/.test(span));
    const places = (span: string) => [join(ROOT, folder, span), join(ROOT, span)];
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((span) => !places(span).some((place) => existsSync(place)))).toEqual([]);
  });
});
