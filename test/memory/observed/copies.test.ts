/** A copy of what was observed goes on by itself. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Observed } from '../../../memory/observed/observed.js';
import { instantOf } from '../../../src/journal/normalise.js';
import type { JournalRecord } from '../../../src/journal/record.js';
import { at, linesOf, RECORDED } from '../../src/transcripts/told.js';
import { plain } from './plain.js';

// covers: memory/observed/agents.ts

const recorded = ['claude', 'codex'].flatMap((program) =>
  readdirSync(join(RECORDED, program))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(program, name)),
);

/** What no recording has: a batch of which one call failed, and a message that is counted again. */
const REPEATED: readonly JournalRecord[] = [
  { event: 'pre_tool_use', tool_use_id: 'a', tool_name: 'Bash', batch: 'b' },
  { event: 'pre_tool_use', tool_use_id: 'b', tool_name: 'Bash', batch: 'b' },
  { event: 'post_tool_use', tool_use_id: 'a', outcome: 'failed' },
  { event: 'usage', message_id: 'm', input: 1, output: 2, cached: 3 },
  { event: 'post_tool_use', tool_use_id: 'b', outcome: 'cancelled' },
  { event: 'usage', message_id: 'm', input: 1, output: 5, cached: 3 },
].map((line, second) => ({ v: 1, timestamp: at(second), ...line }));

test('a copy knows the batches and the messages before it', () => goOnAnywhere(REPEATED));

test.each(recorded)('%s: a copy at any line goes on as the original would, and changes nothing in it', async (name) => {
  const lines = await linesOf(join(RECORDED, name));
  goOnAnywhere(lines.sort((left, right) => (instantOf(left.timestamp) ?? 0) - (instantOf(right.timestamp) ?? 0)));
});

function goOnAnywhere(lines: readonly JournalRecord[]): void {
  const whole = new Observed();
  for (const line of lines) whole.take(line);
  const original = new Observed();
  for (const [index, line] of lines.entries()) {
    const before = JSON.stringify(plain(original));
    const copy = original.copy();
    expect(plain(copy)).toEqual(plain(original));
    for (const later of lines.slice(index)) copy.take(later);
    expect(plain(copy)).toEqual(plain(whole));
    expect(JSON.stringify(plain(original))).toBe(before);
    original.take(line);
  }
}
