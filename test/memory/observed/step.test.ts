import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readStep } from '../../../memory/observed/step.js';
import { testFolder } from '../../harness/folder.js';

const task = (title: string, status: string, external_id?: string) => ({ title, status, external_id });
const plan = (mode: string, ...items: readonly object[]) => ({ event: 'plan', mode, items });
const CALL = { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'plan', tool_input: { text: 'x'.repeat(2_000) } };

function stepOf(...lines: readonly (object | string)[]) {
  const path = join(testFolder(), 'tool_use.jsonl');
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify({ v: 1, ...line })));
  writeFileSync(path, text.map((line) => `${line}\n`).join(''));
  return readStep(path);
}

describe('the step at the end of a journal', () => {
  test('is that of the last list, and of the changes after it', async () => {
    const old = plan('replace', task('Old', 'in_progress', '9'));
    const made = plan(
      'replace',
      task('Look', 'completed', '1'),
      task('Write', 'pending', '2'),
      task('Push', 'pending'),
    );
    expect(await stepOf(old, made)).toEqual({ number: 2, of: 3, title: 'Write' });
    const changed = plan('merge', task('Write', 'completed', '2'), task('Ask', 'cancelled', '4'));
    expect(await stepOf(old, made, changed)).toMatchObject({ number: 3, of: 3, title: 'Push' });
    expect(await stepOf(made, plan('replace', task('Look', 'completed')))).toBeNull();
  });

  test('keeps its title if a change knows only its number', async () => {
    const made = plan('merge', task('Look', 'pending', '1'));
    const moved = plan('merge', task('#1', 'in_progress', '1'));
    expect(await stepOf(made, moved)).toEqual({ number: 1, of: 1, title: 'Look' });
  });

  test('is found behind many lines, but not guessed from changes without their list', async () => {
    const begun = plan('merge', task('Look', 'completed', '1'));
    const changed = plan('merge', task('Write', 'in_progress', '2'));
    const many = Array(100).fill(CALL);
    expect(await stepOf(begun, ...many, changed)).toMatchObject({ number: 2, of: 2 });
    expect(await stepOf(plan('replace', task('Look', 'pending')), ...Array(3_000).fill(CALL))).toBeNull();
    expect(await stepOf(begun, ...Array(3_000).fill(CALL), changed)).toBeNull();
  }, 20_000);

  test('is none without a journal, and skips what cannot be read', async () => {
    expect(await readStep(join(testFolder(), 'none'))).toBeNull();
    const torn = '{"event":"plan","mode":"replace","it';
    const odd = plan('replace', task('Look', 'of tomorrow'), { title: 7, status: 'pending' }, task('Write', 'pending'));
    expect(await stepOf('\u0000"plan"', odd, torn)).toMatchObject({ number: 1, of: 1, title: 'Write' });
    expect(await stepOf({ event: 'plan' })).toBeNull();
  });

  test("is not that of a sub-agent's own list", async () => {
    const own = { ...plan('replace', task('Part', 'pending')), agent_id: 'a' };
    expect(await stepOf(plan('replace', task('Whole', 'pending')), own)).toMatchObject({ title: 'Whole' });
  });
});
