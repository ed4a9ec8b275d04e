import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readRecentToolCalls } from '../../../src/journal/readRecentToolCalls.js';
import { at, call, type Line, prompt, result, toText } from '../../monitoring/verdict/journals.js';

let folder: string;
let counter = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recent-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function journal(text: string): string {
  counter += 1;
  const path = join(folder, `${counter}.jsonl`);
  writeFileSync(path, text);
  return path;
}

describe('the last tool calls', () => {
  test('come in the order of their requests, the one in flight without an outcome', async () => {
    const lines = [prompt(0), call(1, 'a'), call(2, 'b'), result(3, 'b', 'failed'), result(4, 'a'), call(5, 'c')];
    const calls = await readRecentToolCalls(journal(`${toText(lines)}{"v":1,"timest`), 2);
    expect(calls).toEqual([
      {
        tool_use_id: 'b',
        tool_name: 'Bash',
        at: at(2),
        ended_at: at(3),
        duration_ms: 1_000,
        outcome: 'failed',
        tool_input: { command: 'b' },
        tool_output_preview: 'output of b',
      },
      expect.objectContaining({
        tool_use_id: 'c',
        at: at(5),
        ended_at: null,
        outcome: null,
        tool_output_preview: null,
      }),
    ]);
  });

  test('in the old format belong to the oldest open call of their tool', async () => {
    const lines: Line[] = [
      { event: 'pre_tool_use', tool_name: 'Bash', start_time: 1_770_282_000.25 },
      { event: 'post_tool_use', tool_name: 'Bash', end_time: 1_770_282_001.5, tool_output_preview: 'x' },
      { tool_name: 'Read', timestamp: '2026-02-05T09:00:09+00:00', tool_input: { file_path: 'a' } },
    ];
    const calls = await readRecentToolCalls(journal(toText(lines)), 20);
    expect(calls.map(({ tool_name, duration_ms, outcome }) => ({ tool_name, duration_ms, outcome }))).toEqual([
      { tool_name: 'Bash', duration_ms: 1_250, outcome: null },
      { tool_name: 'Read', duration_ms: null, outcome: null },
    ]);
  });

  test('are found at the end of a long journal, past long lines', async () => {
    const lines: Line[] = [];
    for (let index = 0; index < 30_000; index += 1)
      lines.push(call(index, `c${index}`), result(index + 0.5, `c${index}`));
    const long = result(40_000, 'long', 'ok', { tool_output_preview: 'x'.repeat(1_000_000) });
    const calls = await readRecentToolCalls(journal(`${toText(lines)}${toText([call(39_999, 'long'), long])}`), 3);
    expect(calls.map(({ tool_use_id }) => tool_use_id)).toEqual(['c29998', 'c29999', 'long']);
    expect(calls[2]?.tool_output_preview).toHaveLength(2_000);
  });

  test('of a file that is not a journal are none', async () => {
    expect(await readRecentToolCalls(join(folder, 'absent.jsonl'), 5)).toEqual([]);
    expect(await readRecentToolCalls(folder, 5)).toEqual([]);
    const link = join(folder, 'link.jsonl');
    symlinkSync(journal(toText([call(1, 'a')])), link);
    expect(await readRecentToolCalls(link, 5)).toEqual([]);
    expect(await readRecentToolCalls(journal('\u0000\u0001garbage\n[1]\nnull\n'), 5)).toEqual([]);
  });
});
