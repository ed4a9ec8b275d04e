import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { JournalTail } from '../../../src/journal/reader.js';
import type { JournalRecord } from '../../../src/journal/record.js';
import { seededRandom } from './random.js';

let folder: string;
let counter = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-reader-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fresh(content?: string | Buffer): string {
  counter += 1;
  const path = join(folder, `${counter}.jsonl`);
  if (content !== undefined) writeFileSync(path, content);
  return path;
}

function readAll(tail: JournalTail): { records: JournalRecord[]; restarted: boolean; batches: number } {
  const records: JournalRecord[] = [];
  let restarted = false;
  let batches = 0;
  let more = true;
  while (more) {
    const batch = tail.readBatch();
    batches += 1;
    records.push(...batch.records);
    restarted ||= batch.restarted;
    more = batch.more;
  }
  return { records, restarted, batches };
}

function numbered(from: number, to: number): string {
  let text = '';
  for (let index = from; index < to; index += 1) text += `{"n":${index}}\n`;
  return text;
}

describe('a journal of lines of any length', () => {
  test('is read as its lines, wherever its chunks and their parts end', () => {
    const random = seededRandom(7);
    const lengths = [0, 1, 300, 9_000, 65_500, 65_536, 70_000, 140_000, 262_100, 300_000];
    for (let round = 0; round < 12; round += 1) {
      const lines = Array.from({ length: 60 }, (_, n) => {
        const text = random.pick(['x', 'x', 'x', '–']).repeat(random.pick(lengths) + random.below(40));
        return random.pick([JSON.stringify({ n, text }), JSON.stringify({ n, text }), '', `{"n":${n},`]);
      });
      const tail = new JournalTail(fresh(`${lines.join('\n')}\n`));
      const whole = lines.filter((line) => line.endsWith('}'));
      expect(readAll(tail).records.map((record) => JSON.stringify(record))).toEqual(whole);
      expect(tail.diagnostics.garbage_lines).toBe(lines.filter((line) => line.endsWith(',')).length);
    }
  });
});

describe('a journal that grows', () => {
  test('is read on from the last position', () => {
    const path = fresh(numbered(0, 2));
    const tail = new JournalTail(path);
    expect(readAll(tail).records).toEqual([{ n: 0 }, { n: 1 }]);
    expect(readAll(tail).records).toEqual([]);
    appendFileSync(path, numbered(2, 4));
    expect(readAll(tail)).toMatchObject({ records: [{ n: 2 }, { n: 3 }], restarted: false });
  });

  test('may appear later than its reader', () => {
    const path = fresh();
    const tail = new JournalTail(path);
    expect(readAll(tail).records).toEqual([]);
    expect(tail.diagnostics.refused).toBeNull();
    writeFileSync(path, numbered(0, 1));
    expect(readAll(tail)).toMatchObject({ records: [{ n: 0 }], restarted: false });
  });

  test('yields a line once it is finished', () => {
    const path = fresh('{"n":0}\n{"text":"gr');
    const tail = new JournalTail(path);
    expect(readAll(tail).records).toEqual([{ n: 0 }]);
    appendFileSync(path, 'ün"}');
    expect(readAll(tail).records).toEqual([{ text: 'grün' }]);
    appendFileSync(path, '\n{"n":2}\n');
    expect(readAll(tail).records).toEqual([{ n: 2 }]);
    expect(tail.diagnostics.garbage_lines).toBe(0);
  });

  // rule: a-newer-line-is-left-out
  test('leaves out lines of a newer version, and counts them', () => {
    const newer = '{"v":2,"event":"turn_end","reason":"answered"}';
    const tail = new JournalTail(fresh(`{"v":1,"event":"compaction"}\n${newer}\n{"v":7,"mine":1}\n${newer}`));
    expect(readAll(tail).records).toEqual([
      { v: 1, event: 'compaction' },
      { v: 7, mine: 1 },
    ]);
    expect(tail.diagnostics).toMatchObject({ newer_lines: 2, garbage_lines: 0 });
  });

  test('yields the same lines wherever it is cut', () => {
    const bytes = Buffer.from('{"a":"ä€😀"}\n\n{"b":{"c":"}"}}\r\nnot json\n{"x":1}{"x":2}\n{"d":4}');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const path = fresh(bytes.subarray(0, cut));
      const tail = new JournalTail(path);
      const first = readAll(tail).records;
      appendFileSync(path, bytes.subarray(cut));
      const { records, restarted } = readAll(tail);
      if (!restarted) records.unshift(...first);
      expect(records).toEqual([{ a: 'ä€😀' }, { b: { c: '}' } }, { x: 1 }, { x: 2 }, { d: 4 }]);
      expect(tail.diagnostics).toMatchObject({ garbage_lines: 1, restarts: 0 });
    }
  });

  test('is read in chunks', () => {
    const tail = new JournalTail(fresh(numbered(0, 100_000)));
    const { records, batches } = readAll(tail);
    expect(records).toHaveLength(100_000);
    expect(records.at(-1)).toEqual({ n: 99_999 });
    expect(batches).toBeGreaterThan(2);
  });

  test('faster than it is read does not block its reader', () => {
    const path = fresh(numbered(0, 60_000));
    const tail = new JournalTail(path);
    let count = 0;
    for (let more = true; more; ) {
      const batch = tail.readBatch();
      count += batch.records.length;
      more = batch.more;
      appendFileSync(path, numbered(60_000 + count, 120_000 + count));
    }
    expect(count).toBe(60_000);
    expect(readAll(tail).records.length).toBeGreaterThanOrEqual(120_000);
    expect(tail.diagnostics.restarts).toBe(0);
  });

  test('can be read again from the start', () => {
    const tail = new JournalTail(fresh(`${numbered(0, 2)}x\n`));
    readAll(tail);
    tail.rewind();
    expect(readAll(tail)).toMatchObject({ records: [{ n: 0 }, { n: 1 }], restarted: false });
    expect(tail.diagnostics).toMatchObject({ garbage_lines: 1, restarts: 0 });
  });
});

describe('a journal that is not the one read before', () => {
  test('because it was truncated', () => {
    const path = fresh(numbered(0, 5));
    const tail = new JournalTail(path);
    readAll(tail);
    truncateSync(path, 8);
    expect(readAll(tail)).toMatchObject({ records: [{ n: 0 }], restarted: true });
    expect(tail.diagnostics.restarts).toBe(1);
  });

  test('because another file took its place', () => {
    const path = fresh(numbered(0, 5));
    const tail = new JournalTail(path);
    readAll(tail);
    renameSync(fresh(numbered(100, 120)), path);
    const { records, restarted } = readAll(tail);
    expect(restarted).toBe(true);
    expect(records).toHaveLength(20);
  });

  test('because it was rewritten and has grown beyond the old one', () => {
    const path = fresh(numbered(0, 5));
    const tail = new JournalTail(path);
    readAll(tail);
    writeFileSync(path, numbered(100, 120));
    const { records, restarted } = readAll(tail);
    expect(restarted).toBe(true);
    expect(records).toHaveLength(20);
  });

  test('because a folder or a link took its place: refused with an explanation, then read on', () => {
    const path = fresh(numbered(0, 2));
    const tail = new JournalTail(path);
    readAll(tail);
    unlinkSync(path);
    mkdirSync(path);
    expect(readAll(tail)).toMatchObject({ records: [], restarted: true });
    expect(tail.diagnostics.refused).toContain('not a plain file');
    rmSync(path, { recursive: true });
    symlinkSync(fresh(numbered(7, 9)), path);
    expect(readAll(tail).records).toEqual([]);
    expect(tail.diagnostics.refused).toContain('not a plain file');
    unlinkSync(path);
    writeFileSync(path, numbered(50, 51));
    expect(readAll(tail)).toMatchObject({ records: [{ n: 50 }], restarted: false });
    expect(tail.diagnostics).toMatchObject({ refused: null, restarts: 1 });
  });

  test('because it was removed: everything read before is void', () => {
    const path = fresh(numbered(0, 2));
    const tail = new JournalTail(path);
    readAll(tail);
    unlinkSync(path);
    expect(readAll(tail)).toMatchObject({ records: [], restarted: true });
    expect(readAll(tail)).toMatchObject({ records: [], restarted: false });
    writeFileSync(path, numbered(5, 6));
    expect(readAll(tail)).toMatchObject({ records: [{ n: 5 }], restarted: false });
    expect(tail.diagnostics).toMatchObject({ refused: null, restarts: 1 });
  });

  test('because it was rewritten to the same size, with the same start', () => {
    const beginning = `{"text":"${'x'.repeat(300)}"}\n`;
    const path = fresh(`${beginning}{"n":1}\n`);
    const tail = new JournalTail(path);
    readAll(tail);
    writeFileSync(path, `${beginning}{"n":2}\n`);
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    const { records, restarted } = readAll(tail);
    expect(restarted).toBe(true);
    expect(records.at(-1)).toEqual({ n: 2 });
  });

  test('because another file took its place in the middle of a look', () => {
    const path = fresh(numbered(0, 60_000));
    const tail = new JournalTail(path);
    expect(tail.readBatch().more).toBe(true);
    renameSync(fresh(numbered(100, 120)), path);
    const { records, restarted } = readAll(tail);
    expect(restarted).toBe(true);
    expect(records).toHaveLength(20);
  });
});

describe('a journal that is damaged', () => {
  test('yields the readable lines and counts the rest', () => {
    const binary = Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x00, 0x00, 0x00]);
    const tail = new JournalTail(
      fresh(
        Buffer.concat([Buffer.from('\ufeff{"n":0}\n[1]\n"text"\n{"torn":\n'), binary, Buffer.from('{"n":1}\n   \n')]),
      ),
    );
    expect(readAll(tail).records).toEqual([{ n: 0 }, { n: 1 }]);
    expect(tail.diagnostics).toMatchObject({ garbage_lines: 4, oversized_lines: 0 });
  });

  /** Many more than a part of a chunk has. */
  const MANY = 150_000;
  test.each(['x', '{', '}', 'é', '\u0000{', '{x}', '{"}', '{"a"}', '{"a":', '{}', '\ufeff{"n":"é"}'])(
    'by hundreds of thousands of lines like %j gives way to other work, and keeps what is between them',
    (line) => {
      const many = `${line}\n`.repeat(MANY);
      const tail = new JournalTail(fresh(`${numbered(0, 1)}${many}{"n":"ö"}\n${many}${numbered(1, 2)}`));
      const read: JournalRecord[] = [];
      for (let more = true, before = 0; more; before = read.length + tail.diagnostics.garbage_lines) {
        const batch = tail.readBatch();
        read.push(...batch.records);
        more = batch.more;
        // A part of a chunk has so many of the shortest lines.
        expect(read.length + tail.diagnostics.garbage_lines - before).toBeLessThanOrEqual(8_192 + 32 * 1024);
      }
      const isRecord = line.endsWith('}') && !/^\{(?:x|"\}|"a"\})/.test(line) && line !== '}';
      expect(tail.diagnostics.garbage_lines).toBe(isRecord ? 0 : 2 * MANY);
      expect(read).toHaveLength(isRecord ? 2 * MANY + 3 : 3);
      expect(read[isRecord ? MANY + 1 : 1]).toEqual({ n: 'ö' });
    },
  );

  test('costs no error of the parser for a line that cannot be an object', () => {
    const parse = jest.spyOn(JSON, 'parse');
    const lines = ['{', '{x}', '{"}', '{"a"}', '{"a":1', '{ } x', '{"a\\"}', '[]', '"x"'];
    const tail = new JournalTail(fresh(`${lines.join('\n')}\n{ "a\\"}" : 1 } \n{ }\n`));
    const { records } = readAll(tail);
    const calls = parse.mock.calls.length;
    parse.mockRestore();
    expect(records).toEqual([{ 'a"}': 1 }, {}]);
    expect(calls).toBe(2);
    expect(tail.diagnostics.garbage_lines).toBe(lines.length);
  });

  test('reads a line that is too long without the rest of its texts, finished or not, and continues after it', () => {
    const path = fresh(`{"n":0}\n{"text":"${'x'.repeat(3_000_000)}`);
    const tail = new JournalTail(path, 1_000_000);
    expect(readAll(tail).records).toEqual([{ n: 0 }]);
    appendFileSync(path, `${'x'.repeat(3_000_000)}"}\n${numbered(1, 3)}`);
    const text = expect.stringMatching(/^x{65536}… \[5934464 bytes more, [0-9a-f]{16}\]$/);
    expect(readAll(tail).records).toEqual([{ text }, { n: 1 }, { n: 2 }]);
    expect(tail.diagnostics).toMatchObject({ garbage_lines: 0, oversized_lines: 0, cut_lines: 1 });
  });

  test('reads a long line that is still allowed', () => {
    const tail = new JournalTail(fresh(`{"text":"${'x'.repeat(900_000)}"}\n{"n":1}\n`), 1_000_000);
    expect(readAll(tail).records).toHaveLength(2);
  });

  test('holds no 50 MB line in memory', () => {
    const path = fresh();
    for (let part = 0; part < 50; part += 1) appendFileSync(path, Buffer.alloc(1024 * 1024, 0x61));
    appendFileSync(path, `\n${numbered(1, 2)}`);
    const before = process.memoryUsage();
    const tail = new JournalTail(path);
    expect(readAll(tail).records).toEqual([{ n: 1 }]);
    const after = process.memoryUsage();
    expect(tail.diagnostics.oversized_lines).toBe(1);
    expect(after.heapUsed - before.heapUsed).toBeLessThan(20 * 1024 * 1024);
  });

  test('survives a million brackets', () => {
    const tail = new JournalTail(
      fresh(`{"a":${'['.repeat(1_000_000)}\n{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}\n{"n":1}\n`),
    );
    expect(readAll(tail).records.at(-1)).toEqual({ n: 1 });
  });

  test('with any bytes changed in it', () => {
    const random = seededRandom(20_260_205);
    const whole = Buffer.from(numbered(0, 30));
    for (let round = 0; round < 300; round += 1) {
      const bytes = Buffer.from(whole);
      for (let change = 0; change < 5; change += 1) bytes[random.below(bytes.length)] = random.below(256);
      const path = fresh(bytes.subarray(0, random.below(bytes.length)));
      const tail = new JournalTail(path, 64);
      const records = readAll(tail).records;
      appendFileSync(path, '\n{"n":"end"}\n');
      records.push(...readAll(tail).records);
      expect(records.at(-1)).toEqual({ n: 'end' });
    }
  });
});
