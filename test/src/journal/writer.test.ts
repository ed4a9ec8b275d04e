import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/host/program.js';
import { canonicalJson, contentDigest } from '../../../src/journal/digest.js';
import { INPUT_LIMIT_BYTES, PREVIEW_LIMIT, trimEvent, trimInput } from '../../../src/journal/lineOf.js';
import { journalPath } from '../../../src/journal/path.js';
import type { JournalEvent } from '../../../src/journal/schema.js';
import { JournalWriteError, JournalWriter } from '../../../src/journal/writer.js';
import { redactShapes } from '../../../src/log/redact.js';
import { type Clock, systemClock } from '../../../src/time.js';
import { runOnSmallDisk } from '../../harness/smallDisk.js';

// covers: src/files/logsFolder.ts
// covers: src/files/privateFiles.ts

const NOW = Date.parse('2026-02-05T10:00:00.000Z');
const CLOCK: Clock = { ...systemClock, now: () => NOW };
const SECRET = 'hunter2-hunter2';
const redact = (text: string) => text.replaceAll(SECRET, '[redacted]');

let logsFolder: string;
let counter = 0;
beforeAll(() => {
  logsFolder = mkdtempSync(join(tmpdir(), 'journal-writer-'));
});
afterAll(() => rmSync(logsFolder, { recursive: true, force: true }));

function freshId(): string {
  counter += 1;
  return `tg_demo_-100_${counter}`;
}

function open(sessionId = freshId()): JournalWriter {
  return JournalWriter.open({ logsFolder, sessionId, clock: CLOCK, redact });
}

function linesOf(path: string): Record<string, unknown>[] {
  const text = readFileSync(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function write(event: JournalEvent): Record<string, unknown> {
  const writer = open();
  writer.append(event);
  writer.close();
  return linesOf(writer.path)[0] ?? {};
}

const CALL = { event: 'pre_tool_use', tool_use_id: 'c1', tool_name: 'Bash' } as const;
const RESULT = {
  event: 'post_tool_use',
  tool_use_id: 'c1',
  tool_name: 'Bash',
  is_error: false,
  outcome: 'ok',
} as const;

describe('a line', () => {
  test('has version, instant and session before the fields of the agent, and goes into its session folder', () => {
    const sessionId = freshId();
    const writer = open(sessionId);
    expect(writer.path).toBe(join(logsFolder, 'sessions', sessionId, 'tool_use.jsonl'));
    expect(writer.append({ event: 'user_prompt', origin: 'human' })).toBe(NOW);
    writer.append({ event: 'heartbeat', source: 'stream', agent_id: 'a1' });
    writer.close();
    writer.close();
    expect(readFileSync(writer.path, 'utf8').split('\n')[0]).toBe(
      `{"v":1,"timestamp":"2026-02-05T10:00:00.000Z","event":"user_prompt","session_id":"${sessionId}","origin":"human"}`,
    );
    expect(linesOf(writer.path)[1]).toMatchObject({ event: 'heartbeat', source: 'stream', agent_id: 'a1' });
  });

  test('of a call has its input redacted, and a digest of the whole input in any order of keys', () => {
    const line = write({ ...CALL, tool_input: { command: `echo ${SECRET}`, env: [{ [SECRET]: 1 }] } });
    expect(line.tool_input).toEqual({ command: 'echo [redacted]', env: [{ '[redacted]': 1 }] });
    expect(line.input_digest).toBe(contentDigest(canonicalJson({ env: [{ [SECRET]: 1 }], command: `echo ${SECRET}` })));
    expect(line.input_digest).toMatch(/^[0-9a-f]{16}$/);
  });

  test('of a call has no secret that is recognised only by its field name', () => {
    const kept = trimInput({ env: [{ db_password: 'open sesame' }], command: 'open sesame' }, redactShapes);
    expect(kept).toEqual({ env: [{ db_password: '[redacted:value]' }], command: 'open sesame' });
  });

  test('keeps a digest computed by the agent', () => {
    expect(write({ ...CALL, tool_input: 1, input_digest: '0123456789abcdef' }).input_digest).toBe('0123456789abcdef');
  });

  test('of a plan has its titles redacted and cut, and its first 200 tasks', () => {
    const item = { title: `try ${SECRET} ${'x'.repeat(2_000)}`, status: 'pending', external_id: SECRET } as const;
    const items = [{ ...item, blocked_by: [SECRET] }, ...Array(300).fill({ title: 'Look', status: 'completed' })];
    const line = write({ event: 'plan', mode: 'replace', items });
    expect(line).toMatchObject({ event: 'plan', mode: 'replace' });
    expect(line.items).toHaveLength(200);
    const [first] = line.items as Record<string, unknown>[];
    expect(first).toMatchObject({ status: 'pending', external_id: '[redacted]', blocked_by: ['[redacted]'] });
    expect(first?.title).toMatch(/^try \[redacted\] x+$/);
    expect(String(first?.title)).toHaveLength(1_024);
  });

  test('of files has their paths redacted, and the first 200 of each kind', () => {
    const many = Array.from({ length: 1_000 }, (_, place) => `src/${place}.ts`);
    const [path, clean] = [`/w/${SECRET}/a, "b"`, '/w/[redacted]/a, "b"'];
    const line = write({
      event: 'files',
      tool_use_id: 'c1',
      created: [path],
      modified: many,
      renamed: [{ from: path, to: '../c' }],
    });
    expect(line).toMatchObject({ tool_use_id: 'c1', created: [clean], renamed: [{ from: clean, to: '../c' }] });
    expect(line.modified).toEqual(many.slice(0, 200));
  });

  test('of tokens has their counts', () => {
    const usage = { event: 'usage', message_id: 'm1', input: 1, output: 2, cached: 3 } as const;
    expect(write(usage)).toMatchObject(usage);
  });

  test.each([{ event: 'user_prompt', origin: 'human' }, { event: 'assistant_message' }] as const)(
    'of a message has the first 500 characters of its text, redacted: %j',
    (message) => {
      const text = `${'x'.repeat(480)} ${SECRET} ${'y'.repeat(1_000)}`;
      expect(write({ ...message, text }).text).toBe(`${'x'.repeat(480)} [redacted] ${'y'.repeat(8)}`);
      expect(write(message)).not.toHaveProperty('text');
    },
  );

  test.each<JournalEvent>([
    { event: 'plan', mode: 'merge', items: [{ title: SECRET.repeat(99), status: 'pending' }] },
    { event: 'files', read: [SECRET.repeat(99)] },
    { event: 'assistant_message', text: SECRET.repeat(99) },
  ])('that was trimmed before stays the same: $event', (event) => {
    const once = trimEvent(event, redact);
    expect(trimEvent(once, redact)).toEqual(once);
  });

  test('of a result has a preview of 2,000 whole characters, and the digest of everything', () => {
    const output = `${'a'.repeat(PREVIEW_LIMIT - 1)}😀 and more`;
    const line = write({ ...RESULT, tool_output_preview: output });
    expect(line.tool_output_preview).toBe('a'.repeat(PREVIEW_LIMIT - 1));
    expect(line.output_digest).toBe(contentDigest(output));
  });

  test('leaks no part of a secret at the cut', () => {
    const line = write({ ...RESULT, tool_output_preview: `${'a'.repeat(PREVIEW_LIMIT - 5)}${SECRET}` });
    expect(line.tool_output_preview).not.toContain('hunter');
  });

  test('cuts and redacts names and reasons too', () => {
    expect(write({ event: 'turn_end', reason: `${SECRET}${'x'.repeat(10_000)}` }).reason).toMatch(
      /^\[redacted\]x{1,250}$/,
    );
  });
});

describe('an input that is too long', () => {
  test.each([
    ['one long text', { command: 'x'.repeat(100_000), timeout: 5 }],
    ['many texts', Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`k${index}`, 'ä'.repeat(300)]))],
    ['many numbers', Array.from({ length: 50_000 }, (_, index) => index)],
    ['texts that double when escaped', '\u0001"\\'.repeat(20_000)],
    ['deep nesting', JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as unknown],
    ['nothing', undefined],
  ])('%s', (_name, input) => {
    const json = JSON.stringify(trimInput(input, redact)) ?? '';
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(INPUT_LIMIT_BYTES);
  });

  test('keeps its shape if cutting texts is enough', () => {
    const line = write({ ...CALL, tool_input: { command: `gh run view ${'x'.repeat(100_000)}`, timeout: 5 } });
    expect(line.tool_input).toMatchObject({ command: expect.stringMatching(/^gh run view x+…$/), timeout: 5 });
  });
});

describe('the file', () => {
  test('has no torn line in its middle: a fragment left by a killed writer is blanked', () => {
    const sessionId = freshId();
    const first = open(sessionId);
    first.append({ event: 'user_prompt', origin: 'human' });
    first.close();
    appendFileSync(first.path, '{"v":1,"timest');
    const second = open(sessionId);
    second.append({ event: 'session_start', source: 'resume' });
    second.append({ event: 'compaction' });
    second.close();
    expect(linesOf(first.path).map(({ event }) => event)).toEqual(['user_prompt', 'session_start', 'compaction']);
  });

  test('keeps a last line that lacks only its line feed', () => {
    const sessionId = freshId();
    const first = open(sessionId);
    first.append({ event: 'compaction' });
    first.close();
    truncateSync(first.path, statSync(first.path).size - 1);
    const second = open(sessionId);
    second.append({ event: 'user_prompt', origin: 'human' });
    second.close();
    expect(linesOf(first.path).map(({ event }) => event)).toEqual(['compaction', 'user_prompt']);
  });

  test('is not created outside the logs folder', () => {
    for (const sessionId of ['../evil', 'a/b', 'a:b', 'a\nb', '😀', ''])
      expect(() => open(sessionId)).toThrow('session id');
    const sessionId = freshId();
    const path = journalPath(logsFolder, sessionId);
    mkdirSync(join(path, '..'), { recursive: true });
    const outside = join(logsFolder, 'outside');
    symlinkSync(outside, path);
    expect(() => open(sessionId)).toThrow(JournalWriteError);
    expect(existsSync(outside)).toBe(false);
  });

  // rule: nothing-is-written-through-a-link
  test('is not written through a hard link: the other file stays', () => {
    const sessionId = freshId();
    const first = open(sessionId);
    first.append({ event: 'compaction' });
    first.close();
    linkSync(first.path, join(logsFolder, 'victim'));
    const before = readFileSync(first.path, 'utf8');
    expect(() => open(sessionId)).toThrow(/has 2 names \(hard links\)/);
    expect(readFileSync(first.path, 'utf8')).toBe(before);
  });

  test.each([
    ['a link to a folder', (place: string, outside: string) => symlinkSync(outside, place)],
    ['a link to nothing', (place: string, outside: string) => symlinkSync(join(outside, 'nothing'), place)],
    ['a file', (place: string) => writeFileSync(place, '')],
  ])('nor through %s in the place of its folder', (_name, take) => {
    const id = freshId();
    const outside = mkdtempSync(join(logsFolder, 'outside-'));
    mkdirSync(join(logsFolder, 'sessions'), { recursive: true });
    take(dirname(journalPath(logsFolder, id)), outside);
    expect(() => open(id)).toThrow('is a link or a file, not a folder');
    expect(() => open(id)).toThrow(JournalWriteError);
    expect(readdirSync(outside)).toEqual([]);
  });

  test('is created with all missing parent folders, and again if they are removed', () => {
    const deep = join(mkdtempSync(join(logsFolder, 'deep-')), 'a', 'b');
    for (let round = 0; round < 2; round += 1) {
      const writer = JournalWriter.open({ logsFolder: deep, sessionId: 's1', clock: CLOCK, redact });
      writer.append({ event: 'compaction' });
      writer.close();
      expect(linesOf(join(deep, 'sessions', 's1', 'tool_use.jsonl'))).toHaveLength(1);
      rmSync(deep, { recursive: true });
    }
  });

  test('is refused if a pipe is in its place: writing to a pipe without a reader would never end', () => {
    const id = freshId();
    const path = journalPath(logsFolder, id);
    mkdirSync(dirname(path), { recursive: true });
    spawnSync('mkfifo', [path]);
    expect(() => open(id)).toThrow('is not a plain file');
  });

  test('that cannot be written is reported', () => {
    const sessionId = freshId();
    mkdirSync(journalPath(logsFolder, sessionId), { recursive: true });
    expect(() => open(sessionId)).toThrow(JournalWriteError);
    const writer = open();
    writer.close();
    expect(() => writer.append({ event: 'compaction' })).toThrow('closed');
  });

  // rule: a-torn-line-is-removed
  test('reports a line that does not fit on the disk, and keeps nothing of its torn half once there is space', () => {
    const script = `
      import { JournalWriter } from '${pathToFileURL(join(packageRoot(), 'dist/src/journal/writer.js'))}';
      import { systemClock } from '${pathToFileURL(join(packageRoot(), 'dist/src/time.js'))}';
      const writer = JournalWriter.open({ logsFolder: '.', sessionId: 's1', clock: systemClock, redact: (text) => text });
      let faults = 0;
      for (let line = 0; faults < 2; line += 1) {
        try { writer.append({ event: 'heartbeat', source: 'stream' }); } catch (thrown) { faults += 1; console.log(thrown.code, thrown.message); }
        if (faults === 0) console.log('heartbeat');
      }`;
    const folder = mkdtempSync(join(logsFolder, 'full-'));
    const said = runOnSmallDisk(folder, script);
    expect(said.split('\n').filter((line) => line.startsWith('journal_write'))).toHaveLength(2);
    expect(said).toMatch(/only \d+ of \d+ bytes/);

    const writer = JournalWriter.open({ logsFolder: folder, sessionId: 's1', clock: CLOCK, redact });
    writer.append({ event: 'compaction' });
    writer.close();
    expect(linesOf(writer.path).map(({ event }) => event)).toEqual([
      ...said.split('\n').filter((line) => line === 'heartbeat'),
      'compaction',
    ]);
  });
});
