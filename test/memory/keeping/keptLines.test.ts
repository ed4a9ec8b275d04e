/** However long paths and ids of conversations are, no line of the worklog is too long. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { keepSession } from '../../../memory/keeping/keep.js';
import { keptLines } from '../../../memory/keeping/keptLines.js';
import { verifySession } from '../../../memory/keeping/verify.js';
import { LONGEST_LINE_BYTES, LONGEST_TEXT, stampLine, textOfLine } from '../../../memory/logs/line.js';
import { packageRoot } from '../../../src/host/program.js';
import { createRedactor } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const TRANSCRIPT = join(packageRoot(), 'test/fixtures/transcripts/claude/interrupted.jsonl');

let scene: MemoryScene;
let programs: string;
let id: string;

beforeEach(() => {
  scene = memoryScene();
  programs = join(scene.directory, '..', 'person');
  const memory = open();
  id = memory.lifecycle.begin(memory.workspace, { purpose: 'x', fields: {}, plan: [], concurrent: false }).id;
});

const open = () => scene.open({ HOME: programs });

/** @returns the lines that say what was kept */
async function keep(): Promise<{ goes_on?: boolean; sources: unknown[]; digests: unknown[] }[]> {
  const memory = open();
  const { folder } = memory.which(id);
  expect(await keepSession(memory, memory.which(id), Number.POSITIVE_INFINITY)).toMatchObject({ kept: 'written' });
  expect(verifySession(open(), open().which(id)).filter(({ ok }) => !ok)).toEqual([]);
  const lines = readFileSync(join(folder, 'worklog.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'kept');
}

test('of 200 files with long paths, every digest is kept', async () => {
  const folder = ['packages', 'a'.repeat(60), 'b'.repeat(60), 'c'.repeat(60)].join('/');
  const paths = Array.from({ length: 200 }, (_, index) => `${folder}/${'component'.repeat(5)}${index}.tsx`);
  mkdirSync(join(scene.directory, folder), { recursive: true });
  for (const path of paths) writeFileSync(join(scene.directory, path), path);
  const memory = open();
  memory.which(id).log.write(() => paths.map((path) => worklogKind.line('file', { path, to: 'done' })), memory.stamp);
  const lines = await keep();
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.map(({ goes_on }) => goes_on === true)).toEqual(lines.map((_, index) => index > 0));
  const { digests, kept } = open().which(id).log.state;
  expect([...digests.keys()]).toEqual(paths);
  expect(kept?.failure).toBeNull();
});

test('of 200 conversations with long ids, every source is kept, and what was kept is known the next time', async () => {
  const project = join(programs, '.claude/projects/x');
  mkdirSync(project, { recursive: true });
  const ids = Array.from({ length: 200 }, (_, index) => `${'c'.repeat(240)}${index}`);
  for (const conversation of ids) cpSync(TRANSCRIPT, join(project, `${conversation}.jsonl`));
  const memory = open();
  const lineOf = (conversation: string) =>
    worklogKind.line('conversation', {
      ...{ provider: 'claude', conversation, source: 'bind', since: null },
      transcript: join(project, `${conversation}.jsonl`),
    });
  memory.which(id).log.write(() => ids.map(lineOf), memory.stamp);
  const lines = await keep();
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.flatMap(({ sources }) => sources)).toMatchObject(ids.map((conversation) => ({ conversation })));
  expect(open().which(id).log.state.kept?.copy).not.toBeNull();
  const again = open();
  expect(await keepSession(again, again.which(id), Number.POSITIVE_INFINITY)).toMatchObject({ kept: 'unchanged' });
}, 60_000);

test('a line stays short enough when secrets in it are replaced by longer words, and when its texts grow in JSON', () => {
  const stamp = { clock: systemClock, redact: createRedactor(['hunter']), origin: 'watchkeeper' } as const;
  const digest = 'd'.repeat(64);
  for (const path of ['hunter/'.repeat(30), '\u0001'.repeat(LONGEST_TEXT)]) {
    const digests = Array.from({ length: 300 }, () => ({ path, digest }));
    const lines = keptLines(null, digests, true);
    expect(lines.flatMap((line) => line.digests)).toHaveLength(300);
    for (const line of lines)
      expect(Buffer.byteLength(textOfLine(stampLine(line, stamp)))).toBeLessThanOrEqual(LONGEST_LINE_BYTES);
  }
});

test('a session of which nothing is listed has one line', () => {
  expect(keptLines(null, [], false)).toEqual([
    { event: 'kept', copy: null, complete: false, last_activity: null, sources: [], digests: [] },
  ]);
});
