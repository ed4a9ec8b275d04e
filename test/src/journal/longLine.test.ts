/** Lines that are too long to be held, and lines that several records share. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { LongLine } from '../../../src/journal/longLine.js';
import { JournalTail } from '../../../src/journal/reader.js';
import type { JournalRecord } from '../../../src/journal/record.js';
import { testFolder } from '../../harness/folder.js';
import { seededRandom } from './random.js';

function read(text: string | Buffer, longest?: number) {
  const path = join(testFolder(), 'tool_use.jsonl');
  writeFileSync(path, text);
  const tail = new JournalTail(path, longest);
  const records: JournalRecord[] = [];
  for (let more = true; more; ) {
    const batch = tail.readBatch();
    records.push(...batch.records);
    more = batch.more;
  }
  return { records, diagnostics: tail.diagnostics };
}

/** @param pieces how many bytes come at once */
function cut(line: string, pieces: readonly number[]): string | null {
  const [bytes, long] = [Buffer.from(line), new LongLine()];
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const to = at + (pieces[index % pieces.length] ?? 1);
    long.take(bytes.subarray(at, to));
    at = to;
  }
  return long.text();
}

describe('a line that is too long to be held', () => {
  const PICTURE = 'A'.repeat(1_500_000);

  test('keeps what was asked beside three pictures', () => {
    const image = { type: 'image', source: { type: 'base64', data: PICTURE } };
    const content = [image, { type: 'text', text: 'Rebuild the "pages" \\ as\nshown' }, image, image];
    const line = JSON.stringify({ type: 'user', message: { content }, timestamp: 'later' });
    for (const end of ['\n', '']) {
      const { records, diagnostics } = read(`{"n":0}\n${line}${end}`);
      expect(records).toMatchObject([{ n: 0 }, { message: { content: [{}, content[1], {}, {}] }, timestamp: 'later' }]);
      expect(diagnostics).toMatchObject({ garbage_lines: 0, oversized_lines: 0, cut_lines: 1 });
    }
  });

  test('is cut between letters and escapes, wherever its bytes are parted; texts that differ stay different', () => {
    const random = seededRandom(7);
    const units = ['ä', '€', '😀', '\\"', '\\\\', '\\u00e9', '\\ud83d\\ude00', 'x', '\\n', '}', '{'];
    for (let round = 0; round < 60; round += 1) {
      const text = Array.from({ length: 40_000 }, () => random.pick(units)).join('');
      const line = `{"a":"${text}","b":[1,{"c":"${text}!"}],"d":"short \\\\"}`;
      const pieces = Array.from({ length: 5 }, () => 1 + random.below(70_000));
      const record = JSON.parse(cut(line, pieces) ?? 'null');
      const whole = JSON.parse(line);
      const [start, rest] = record.a.split('… [');
      expect(whole.a.startsWith(start.replace(/[\ud800-\udbff]$/, ''))).toBe(true);
      expect([start.length > 15_000, /^\d+ bytes more, [0-9a-f]{16}\]$/.test(rest), record.d]).toEqual([
        true,
        true,
        'short \\',
      ]);
      expect(record.b[1].c).not.toBe(record.a);
    }
  });

  test('with many long texts keeps less of each; one of many short ones is counted', () => {
    const parts = Array.from({ length: 200 }, (_, index) => ({ index, text: 'y'.repeat(100_000) }));
    const { records, diagnostics } = read(`${JSON.stringify({ parts, last: 'here' })}\n{"n":1}\n`);
    expect(records).toMatchObject([{ last: 'here' }, { n: 1 }]);
    expect(JSON.stringify(records[0]).length).toBeLessThan(4 * 1024 * 1024);
    expect(diagnostics).toMatchObject({ cut_lines: 1, oversized_lines: 0 });
    const many = `[${'1,'.repeat(3_000_000)}1]`;
    expect(read(`{"many":${many}}\n{"n":1}\n`)).toMatchObject({
      records: [{ n: 1 }],
      diagnostics: { cut_lines: 0, oversized_lines: 1 },
    });
  });

  test('of 256 MB costs no more memory than one of ten megabytes', () => {
    const long = new LongLine();
    const before = process.memoryUsage();
    long.take(Buffer.from('{"text":"'));
    const chunk = Buffer.alloc(4 * 1024 * 1024, 'z');
    for (let count = 0; count < 64; count += 1) long.take(chunk);
    long.take(Buffer.from('","n":1}'));
    const after = process.memoryUsage();
    expect(JSON.parse(long.text() ?? '')).toMatchObject({ n: 1 });
    expect(after.rss - before.rss).toBeLessThan(64 * 1024 * 1024);
  });
});

describe('a line that records share', () => {
  const [first, second] = ['{"type":"user","n":1}', '{"parentUuid":"u","n":2,"m":{"text":"a } { \\\\\\" b"}}'];
  const torn = [
    '{"type":"user","message":{"role":"user","content":"hel',
    '{"type":"user","mess',
    '{"a":{"b":1}',
    '{"a":"x\\',
    '{"a":"{\\"b\\":1}',
    'lo"}]},"uuid":"1"',
    '{"type":"user","message":"half é',
  ];

  test.each(torn)('with what is torn: %s', (half) => {
    for (const gap of ['', '\u0000\u0000\u0000', ' ']) {
      const { records, diagnostics } = read(`${first}\n${half}${gap}${second}\n${first}\n`);
      expect(records).toMatchObject([{ n: 1 }, { n: 2 }, { n: 1 }]);
      expect(diagnostics.garbage_lines).toBe(1);
      expect(read(`${half}${gap}${second}`).records).toMatchObject([{ n: 2 }]);
    }
  });

  test('that were written whole, each without its line’s end', () => {
    for (const end of ['', '\n']) {
      expect(read(`${first}${second}${first}${end}`)).toMatchObject({
        records: [{ n: 1 }, { n: 2 }, { n: 1 }],
        diagnostics: { garbage_lines: 0 },
      });
    }
    expect(read(`${first}{"torn":${second}\n`).records).toMatchObject([{ n: 1 }]);
    expect(read(`${first}{"torn":"${second}\n`).records).toMatchObject([{ n: 1 }, { n: 2 }]);
  });

  test('does not take a part of a torn record for a record', () => {
    for (const half of ['{"message":{"role":"user"}', '{"list":[{"role":"user"}', '{"a":1,"b":{"c":{"d":2}}'])
      expect(read(`${half}\n${first}\n`)).toMatchObject({ records: [{ n: 1 }], diagnostics: { garbage_lines: 1 } });
  });

  test('one that is long, behind a torn one', () => {
    const long = `{"timestamp":"t","text":"${'x'.repeat(5_000_000)}"}`;
    expect(read(`{"torn":"${long}\n${first}\n`).records).toMatchObject([{ n: 1 }]);
    expect(read(`{"torn":1,"x${long}\n${first}\n`).records.at(-1)).toMatchObject({ n: 1 });
  });
});
