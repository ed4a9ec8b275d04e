/** A copy of what was observed goes on by itself. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Observed } from '../../../memory/observed/observed.js';
import { instantOf } from '../../../src/journal/normalise.js';
import { linesOf, RECORDED } from '../../src/transcripts/told.js';
import { plain } from './plain.js';

// covers: memory/observed/agents.ts

const recorded = ['claude', 'codex'].flatMap((program) =>
  readdirSync(join(RECORDED, program))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(program, name)),
);

test.each(recorded)('%s: a copy at any line goes on as the original would, and changes nothing in it', async (name) => {
  const lines = (await linesOf(join(RECORDED, name))).sort(
    (left, right) => (instantOf(left.timestamp) ?? 0) - (instantOf(right.timestamp) ?? 0),
  );
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
});
