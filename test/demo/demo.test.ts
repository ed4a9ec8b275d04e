/** `watchkeeper demo` as a stranger runs it, once for all that is asked of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { compiledProgram } from '../../src/host/program.js';
import { comparable, fencedBelow, linesNotIn } from '../docs/excerpt.js';
import { canScan } from '../e2e/processScan.js';
import { testFolder } from '../harness/folder.js';
import { STORIES } from './cast.js';
import { CLAIMS } from './claims.js';

/** More than the demo gives itself. */
const LONGEST_MS = 180_000;
const README = readFileSync('README.md', 'utf8');
const EVENTS = readFileSync('docs/events.md', 'utf8');

(canScan() ? describe : describe.skip)('the demo', () => {
  let folder = '';
  let said = '';
  let code: number | null = null;
  let page = '';

  beforeAll(async () => {
    const where = testFolder();
    const program = spawn(process.execPath, [compiledProgram('bridge/cli/main'), 'demo'], { cwd: where });
    const exit = once(program, 'exit');
    said = await text(program.stdout);
    [code] = await exit;
    folder = join(where, 'demo-output');
    page = readFileSync(join(folder, 'index.html'), 'utf8');
  }, LONGEST_MS);

  // rule: the-demo-proves-its-claims
  test('ends well, and every claim holds', () => {
    expect([code, said]).toEqual([0, expect.stringContaining('Every claim holds.')]);
    expect(said.match(/^ {3}holds /gm)).toHaveLength(CLAIMS.length);
  });

  test('prints no colours into a pipe, and names no server that is gone when it ends', () => {
    expect(said).not.toContain('\u001b');
    expect(said).not.toContain('127.0.0.1');
  });

  test('plays one act after the other', () => {
    const asked = Object.values(STORIES).map((story) => said.indexOf(`"${story.asked}"`));
    expect(asked).toEqual([...asked].sort((a, b) => a - b));
    expect(said.match(/^Act \d+/gm)).toEqual([1, 2, 3, 4, 5, 6].map((number) => `Act ${number}`));
  });

  // rule: the-demo-proves-its-claims
  test('is quoted in the README word for word', () => {
    const excerpt = fencedBelow(README, '## See it work', '```text');
    expect(comparable(excerpt).length).toBeGreaterThan(8);
    expect(linesNotIn(said, excerpt)).toEqual([]);
  });

  test('has the daily review that docs/events.md quotes', () => {
    const excerpt = fencedBelow(EVENTS, '## The daily review', '````markdown');
    const reviews = join(folder, 'logs', 'daydream');
    const written = readdirSync(reviews).map((file) => readFileSync(join(reviews, file), 'utf8'));
    expect(comparable(excerpt).length).toBeGreaterThan(8);
    expect(linesNotIn(written.join('\n'), excerpt)).toEqual([]);
  });

  // rule: the-demo-proves-its-claims
  test('leaves a page that loads nothing, and whose links all work', () => {
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\bsrc=|url\(|@import/);
    const targets = [...page.matchAll(/href="([^"]*)"/g)].map(([, target = '']) => target);
    const isThere = (target: string) =>
      target.startsWith('#') ? page.includes(`id="${target.slice(1)}"`) : existsSync(join(folder, target));
    expect(targets.length).toBeGreaterThan(30);
    expect(targets.filter((target) => !isThere(target))).toEqual([]);
  });

  test('shows on its page every answer, the failure, the original wordings, and each issue', () => {
    const { issues } = JSON.parse(readFileSync(join(folder, 'github-state.json'), 'utf8'));
    for (const { answer } of Object.values(STORIES)) expect(page).toContain(answer);
    expect(page).toContain('Sorry, I ran into an issue and couldn&#39;t recover.');
    expect(page).toContain('The first attempt failed.');
    expect(issues.length).toBeGreaterThan(1);
    for (const { title } of issues) expect(page).toContain(title);
  });
});
