import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { QuietWord } from '../../../bridge/runs/quietWord.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import type { JournalEvent } from '../../../src/journal/schema.js';
import { isoTime, MINUTE, SECOND } from '../../../src/time.js';
import { ManualClock, TEST_START } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';

const QUIET_MS = 6 * MINUTE;
const asked = { event: 'pre_tool_use', tool_use_id: 'a', tool_name: 'Bash', tool_input: {} } as const;
const done = {
  event: 'post_tool_use',
  tool_use_id: 'a',
  tool_name: 'Bash',
  is_error: false,
  outcome: 'ok',
  tool_output_preview: '',
} as const;

/** A run that has just been prompted, its journal, and what the chat was given to show, by minutes since then. */
function openRun() {
  const clock = new ManualClock();
  const path = join(testFolder(), 'tool_use.jsonl');
  const shown: [minutes: number, since: number | null][] = [];
  const stopped = new AbortController();
  const run = { isTorn: false };
  const minutes = (instant: number) => (instant - TEST_START) / MINUTE;
  const word = new QuietWord({
    clock,
    thresholds: DEFAULT_THRESHOLDS,
    journal: path,
    stopped: stopped.signal,
    run: { started_at: TEST_START },
    isTorn: () => run.isTorn,
    show: (since) => shown.push([minutes(clock.now()), since === null ? null : minutes(since)]),
  });
  const write = (event: JournalEvent) => {
    const line = { v: 1, timestamp: isoTime(clock.now()), session_id: 's1', ...event };
    appendFileSync(path, `${JSON.stringify(line)}\n`);
    word.heard(event);
  };
  write({ event: 'session_start', source: 'startup' });
  write({ event: 'user_prompt', origin: 'human' });
  const faults: unknown[] = [];
  word.begin((error) => faults.push(error));
  afterThisTest(() => {
    word.end();
    expect(faults).toEqual([]);
  });
  /** Reading the journal takes turns of the event loop. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += SECOND) {
      await clock.advance(Math.min(SECOND, ms - passed));
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { clock, shown, stopped, word, run, write, pass };
}

describe('a model that is silent for long', () => {
  // rule: a-silent-model-is-mentioned-quietly
  test('is mentioned after six minutes, once, until the agent goes on', async () => {
    const { shown, write, pass } = openRun();
    await pass(QUIET_MS);
    expect(shown).toEqual([]);
    await pass(2 * SECOND);
    expect(shown).toEqual([[expect.closeTo(6, 1), 0]]);
    await pass(2 * MINUTE);
    expect(shown).toHaveLength(1);
    write({ event: 'heartbeat', source: 'stream' });
    expect(shown.at(-1)).toEqual([expect.closeTo(8, 1), null]);
    await pass(QUIET_MS - 5 * SECOND);
    expect(shown).toHaveLength(2);
    await pass(10 * SECOND);
    expect(shown).toHaveLength(3);
  });

  test('is not taken as going on if only the harness writes', async () => {
    const { shown, write, pass } = openRun();
    await pass(5 * MINUTE);
    write({ event: 'heartbeat', source: 'context' });
    await pass(MINUTE + 2 * SECOND);
    write({ event: 'heartbeat', source: 'context' });
    await pass(MINUTE);
    expect(shown).toEqual([[expect.closeTo(6, 1), 0]]);
  });

  test('is not mentioned within a call, but after its result', async () => {
    const { shown, write, pass } = openRun();
    write(asked);
    await pass(20 * MINUTE);
    expect(shown).toEqual([]);
    write(done);
    await pass(QUIET_MS + 2 * SECOND);
    expect(shown).toEqual([[expect.closeTo(26, 1), 20]]);
  });

  test('is not mentioned before a limit of the provider has ended for as long', async () => {
    const { clock, shown, write, pass } = openRun();
    const limited = { event: 'wait_start', kind: 'rate_limit', until: isoTime(clock.now() + 10 * MINUTE) } as const;
    write(limited);
    await pass(16 * MINUTE);
    expect(shown).toEqual([]);
    await pass(12 * SECOND);
    expect(shown).toEqual([[expect.closeTo(16, 0), 10]]);
  });

  test.each([
    ['its journal lacks lines', (scene: ReturnType<typeof openRun>) => Object.assign(scene.run, { isTorn: true })],
    [
      'its turn has ended',
      (scene: ReturnType<typeof openRun>) => scene.write({ event: 'turn_end', reason: 'end_turn' }),
    ],
    ['a person is asked', (scene: ReturnType<typeof openRun>) => scene.write({ event: 'wait_start', kind: 'user' })],
  ])('is not mentioned if %s', async (_, happens) => {
    const scene = openRun();
    happens(scene);
    await scene.pass(10 * MINUTE);
    expect(scene.shown).toEqual([]);
  });

  test('is looked at no more after the end of its run', () => {
    const { clock, word } = openRun();
    expect(clock.waiting).toBe(1);
    word.end();
    expect(clock.waiting).toBe(0);
  });

  test('is not mentioned once its run is asked to end', async () => {
    const { clock, shown, stopped, pass } = openRun();
    stopped.abort();
    await pass(QUIET_MS + MINUTE);
    expect(shown).toEqual([]);
    expect(clock.waiting).toBe(0);
  });
});
