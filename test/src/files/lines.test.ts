import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AppendedLine, LineSplitter, linesFrom, type SplitLine } from '../../../src/files/lines.js';

describe('cutting bytes into lines', () => {
  const line = (text: string): SplitLine => ({ kind: 'line', text, bytes: Buffer.byteLength(text) });

  test('lines may arrive in pieces, even within a character', () => {
    const bytes = Buffer.from('grüße\n\nzwei\ndrei');
    for (let size = 1; size <= bytes.length; size += 1) {
      const splitter = new LineSplitter(100);
      const lines: SplitLine[] = [];
      for (let at = 0; at < bytes.length; at += size) lines.push(...splitter.push(bytes.subarray(at, at + size)));
      expect([...lines, ...splitter.flush()]).toEqual([line('grüße'), line(''), line('zwei'), line('drei')]);
    }
  });

  test('a piece may have many lines, with other letters or without', () => {
    const text = Array.from({ length: 50 }, (_, index) => `line ${index}\n`).join('');
    for (const whole of [text, `${text}grüße\n`]) {
      const lines = whole.split('\n').slice(0, -1).map(line);
      const bytes = Buffer.from(`${whole}rest`);
      for (const cut of [0, 3, 7, 200]) {
        const splitter = new LineSplitter(100);
        const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)].flatMap((piece) => splitter.push(piece));
        expect([...pieces, ...splitter.flush()]).toEqual([...lines, line('rest')]);
      }
    }
  });

  test('a line of the limit passes, a longer one is dropped, and the next one is read again', () => {
    const splitter = new LineSplitter(4);
    expect(splitter.push(Buffer.from('1234\n12345\nab\n'))).toEqual([
      line('1234'),
      { kind: 'dropped', bytes: 5 },
      line('ab'),
    ]);
  });

  test('a line without an end is never held beyond the limit', () => {
    const splitter = new LineSplitter(1_000);
    for (let chunk = 0; chunk < 1_000; chunk += 1) {
      expect(splitter.push(Buffer.alloc(300, 'x'))).toEqual([]);
      expect(splitter.heldBytes).toBeLessThanOrEqual(1_000);
    }
    expect(splitter.flush()).toEqual([{ kind: 'dropped', bytes: 300_000 }]);
    expect(splitter.flush()).toEqual([]);
  });

  test('bytes that are not text become replacement characters', () => {
    expect(new LineSplitter(10).push(Buffer.from([0xff, 0x41, 0x0a]))).toEqual([
      { kind: 'line', text: '\ufffdA', bytes: 2 },
    ]);
  });
});

describe('the lines of a file', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'watchkeeper-lines-'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function linesOf(text: string, offset = 0): Promise<AppendedLine[]> {
    const path = join(folder, 'some.jsonl');
    writeFileSync(path, text);
    const file = await open(path, 'r');
    try {
      const lines: AppendedLine[] = [];
      for await (const line of linesFrom(file, offset)) lines.push(line);
      return lines;
    } finally {
      await file.close();
    }
  }

  test('come with the offset behind each; empty ones are left out, and the last may be unfinished', async () => {
    expect(await linesOf('grüße\n\nzwei\ndr')).toEqual([
      { text: 'grüße', end: 8, whole: true },
      { text: 'zwei', end: 14, whole: true },
      { text: 'dr', end: 16, whole: false },
    ]);
    expect(await linesOf('eins\nzwei\n', 5)).toEqual([{ text: 'zwei', end: 10, whole: true }]);
    expect(await linesOf('')).toEqual([]);
  });

  test('are whole and at the right offsets across chunk borders', async () => {
    const texts = Array.from({ length: 50 }, (_, number) => String(number).repeat(3_000 + 97 * number));
    const lines = await linesOf(texts.map((text) => `${text}\n`).join(''));
    expect(lines.map(({ text }) => text)).toEqual(texts);
    let end = 0;
    expect(lines.map((line) => line.end)).toEqual(texts.map((text) => (end += text.length + 1)));
  });

  test('of more than 1 MiB are left out, and the next one is read', async () => {
    const longest = 'x'.repeat(1024 * 1024);
    const lines = await linesOf(`${longest}x\n${longest}\nnext\n`);
    expect(lines.map(({ text, end }) => ({ length: text.length, end }))).toEqual([
      { length: longest.length, end: 2 * longest.length + 3 },
      { length: 4, end: 2 * longest.length + 8 },
    ]);
  });
});
