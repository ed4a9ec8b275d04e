// covers: memory/verbs/transitionPhase.ts memory/plans/transition.ts memory/plans/position.ts memory/plans/seenChanges.ts
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { MOVES } from '../../../memory/fold/rules/steps.js';
import { createSession } from '../../../memory/verbs/createSession.js';
import { sessionStatus } from '../../../memory/verbs/sessionStatus.js';
import { step } from '../../../memory/verbs/step.js';
import { transitionPhase } from '../../../memory/verbs/transitionPhase.js';
import { type Clock, MINUTE, systemClock } from '../../../src/time.js';
import { type Scratch, scratch } from './asked.js';

const PHASES = [
  { id: 1, name: 'Design' },
  { id: 2, name: 'Build', agents: ['coder'], blocked_by: [1] },
  { id: 3, name: 'Test', blocked_by: [1] },
];

async function planned(phases: readonly object[] = PHASES, clock: Clock = systemClock): Promise<Scratch> {
  const scene = scratch({ clock });
  await scene.asked(createSession, { task: 'Ship it', phases });
  return scene;
}

const stepsIn = ({ memory }: Scratch) => Object.fromEntries(memory().which(null).log.state.steps);
const statusesIn = (scene: Scratch) => Object.values(stepsIn(scene)).map(({ status }) => status);
const linesIn = ({ memory }: Scratch) => memory().which(null).log.counts.lines;

describe('one call', () => {
  test('ends a phase and starts those behind it, and says what can be started next', async () => {
    const scene = await planned();
    expect(await scene.asked(transitionPhase, { next_phase_id: 1 })).toMatchObject({ started: ['1'], legal_next: [] });
    const moved = await scene.asked(transitionPhase, { completed_phase_id: '1', next_phase_ids: [2], output: 'done' });
    expect(moved).toMatchObject({
      ...{ completed: ['1'], started: ['2'], failed: [], skipped: [], refused: [], unseen: [] },
      legal_next: [{ phase: '3', name: 'Test', agents: [] }],
    });
    expect(stepsIn(scene)['1']).toMatchObject({ status: 'completed', output: 'done' });
  });

  test('is refused whole if one of its moves is, with the legal ones, and writes nothing', async () => {
    const scene = await planned();
    await scene.asked(transitionPhase, { next_phase_id: 1 });
    const before = linesIn(scene);
    expect(await scene.asked(transitionPhase, { failed_phase_id: 1, reason: 'r', next_phase_id: 2 })).toMatchObject({
      ...{ code: 'blocked', session_id: scene.memory().which(null).id },
      // The start of phase 2 is what was refused.
      legal_moves: { 1: MOVES.in_progress, 2: ['skipped', 'cancelled'] },
    });
    expect(linesIn(scene)).toBe(before);
    expect(statusesIn(scene)).toEqual(['in_progress', 'pending', 'pending']);
  });

  test('a failure writes its error; a retry is counted, and the third one wants a person', async () => {
    const scene = await planned();
    for (const left of [2, 1, 0]) {
      await scene.asked(transitionPhase, { next_phase_id: 1 });
      const error = { type: 'timeout', message: `no answer, ${left} left` };
      expect(await scene.asked(transitionPhase, { failed_phase_id: 1, error })).toMatchObject({ failed: ['1'] });
    }
    const { errors } = scene.memory().which(null).log.state;
    expect(errors).toMatchObject(
      [2, 1, 0].map((left) => ({ type: 'timeout', step: '1', message: `no answer, ${left} left` })),
    );
    // An answer that offered what is refused would have an agent try it again and again.
    const only = { legal_moves: { 1: ['skipped', 'cancelled'] }, legal_next: [] };
    expect(await scene.asked(transitionPhase, { next_phase_id: 1 })).toMatchObject({ code: 'escalate', ...only });
    expect(await scene.asked(sessionStatus, {})).toMatchObject({ next: [] });
    const override = { step: '1', to: 'in_progress', override: 'the server is back' };
    expect(await scene.asked(step, override, 'person')).toMatchObject({ status: 'in_progress' });
  });

  test.each([
    { completed_phase_id: 1, failed_phase_id: '1', error: 'e' },
    { completed_phase_id: 1, skipped_phase_id: 1, decided_by: 'person', reason: 'r' },
    { completed_phase_id: 1, next_phase_ids: [1] },
    { failed_phase_id: 1, error: 'e', skipped_phase_id: 1, decided_by: 'person', reason: 'r', next_phase_id: 1 },
  ])('that moves one phase in ways that exclude each other is refused, and says so: %j', async (given) => {
    const scene = await planned();
    await scene.asked(transitionPhase, { next_phase_id: 1 });
    expect((await scene.asked(transitionPhase, given)).message).toContain('phase 1 is named twice');
    expect(statusesIn(scene)[0]).toBe('in_progress');
  });

  test('a phase fails and is retried in one call', async () => {
    const scene = await planned();
    await scene.asked(transitionPhase, { next_phase_id: 1 });
    const moved = await scene.asked(transitionPhase, { failed_phase_id: 1, error: 'it broke', next_phase_id: 1 });
    expect(moved).toMatchObject({ failed: ['1'], started: ['1'] });
    expect(stepsIn(scene)['1']).toMatchObject({ status: 'in_progress', retries: 1 });
  });

  test('a text is an error of the type runtime, and a failure without words is refused', async () => {
    const scene = await planned();
    await scene.asked(transitionPhase, { next_phase_id: 1 });
    expect(await scene.asked(transitionPhase, { failed_phase_id: 1 })).toMatchObject({ code: 'reason_missing' });
    await scene.asked(transitionPhase, { failed_phase_id: 1, error: 'it broke' });
    expect(scene.memory().which(null).log.state.errors).toMatchObject([{ type: 'runtime', message: 'it broke' }]);
  });

  test.each([
    [{ failed_phase_id: 1, error: { type: 'logic', message: 'm' } }, 'error.type: one of validation, '],
    [{ failed_phase_id: 1, error: { type: 'runtime' } }, 'error.message: Invalid input: expected string'],
    [{ failed_phase_id: 1, error: 5 }, 'error: Invalid input: expected string or object'],
    [{ next_phase_id: ['1'] }, 'next_phase_id: Invalid input: expected string or '],
    [{ next_phase_ids: ['1', 2.5] }, 'next_phase_ids.1: Invalid input: expected string or '],
  ])('of a field that has several forms, the fault is named: %j', async (given, fault) => {
    const refused = await (await planned()).asked(transitionPhase, given);
    expect(refused).toMatchObject({ code: 'usage', message: expect.stringContaining(fault) });
  });

  test('only a person skips; a skipped failure unblocks what waits for it', async () => {
    const scene = await planned();
    await scene.asked(transitionPhase, { next_phase_id: 1 });
    await scene.asked(transitionPhase, { failed_phase_id: 1, error: 'it broke' });
    expect(await scene.asked(transitionPhase, { skipped_phase_id: 1, reason: 'why' })).toMatchObject({
      code: 'person_needed',
    });
    const skipped = { skipped_phase_id: 1, reason: 'not needed', decided_by: 'person', next_phase_ids: ['2', '3'] };
    expect(await scene.asked(transitionPhase, skipped)).toMatchObject({ skipped: ['1'], started: ['2', '3'] });
  });
});

describe('files of a phase', () => {
  const CONTEXT = { key_interfaces_introduced: ['parse(text)'], warnings: ['slow'] };

  test('need context for the phases behind it, or a reason for none', async () => {
    const scene = await planned();
    await scene.asked(transitionPhase, { next_phase_id: 1 });
    const done = { completed_phase_id: 1, files_created: ['src/a.ts'] };
    expect(await scene.asked(transitionPhase, done)).toMatchObject({ code: 'context_missing' });
    expect(await scene.asked(transitionPhase, { ...done, downstream_context: {} })).toMatchObject({
      code: 'context_missing',
    });
    expect(statusesIn(scene)[0]).toBe('in_progress');
    expect(await scene.asked(transitionPhase, { ...done, no_context_reason: 'a typo' })).toMatchObject({
      completed: ['1'],
    });
  });

  test('completing again adds to the manifest and to the context', async () => {
    const scene = await planned();
    await scene.asked(transitionPhase, { next_phase_id: 1 });
    const first = { completed_phase_id: 1, files_created: ['a'], downstream_context: CONTEXT, output: 'first' };
    await scene.asked(transitionPhase, first);
    const more = { completed_phase_id: 1, files_modified: ['b'], downstream_context: { warnings: ['flaky'] } };
    await scene.asked(transitionPhase, more);
    expect(stepsIn(scene)['1']).toMatchObject({
      files: { created: ['a'], modified: ['b'], deleted: [] },
      context: { key_interfaces_introduced: ['parse(text)'], warnings: ['slow', 'flaky'] },
      output: 'first',
    });
  });

  test('that nothing shows to be written are unseen; true ones are not', async () => {
    let now = Date.now();
    const scene = await planned(PHASES, { ...systemClock, now: () => now });
    const write = (name: string) => writeFileSync(join(scene.directory, name), 'x');
    write('old.ts');
    await scene.asked(transitionPhase, { next_phase_id: 1 });
    write('new.ts');
    const done = { no_context_reason: 'none', files_created: ['new.ts', 'never.ts'] };
    expect(await scene.asked(transitionPhase, { ...done, completed_phase_id: 1 })).toMatchObject({
      unseen: [{ phase: '1', path: 'never.ts', why: 'missing' }],
    });
    now += MINUTE;
    await scene.asked(transitionPhase, { next_phase_id: 3 });
    const claimed = { files_modified: ['old.ts'], no_context_reason: 'none' };
    expect(await scene.asked(transitionPhase, { ...claimed, completed_phase_id: 3 })).toMatchObject({
      unseen: [{ phase: '3', path: 'old.ts', why: 'unchanged' }],
    });
  });

  test('that are said to be deleted and are still there are unseen; deleted ones are not', async () => {
    let now = Date.now();
    const scene = await planned(PHASES, { ...systemClock, now: () => now });
    for (const name of ['kept.ts', 'gone.ts']) writeFileSync(join(scene.directory, name), 'x');
    now += MINUTE;
    await scene.asked(transitionPhase, { next_phase_id: 1 });
    rmSync(join(scene.directory, 'gone.ts'));
    const done = { files_created: ['brief.ts'], files_deleted: ['kept.ts', 'gone.ts', 'brief.ts'] };
    const given = { ...done, no_context_reason: 'none', completed_phase_id: 1 };
    expect(await scene.asked(transitionPhase, given)).toMatchObject({
      unseen: [{ phase: '1', path: 'kept.ts', why: 'unchanged' }],
    });
  });

  test('more than a phase may have are refused with the limit; many paths are stored whole', async () => {
    const scene = await planned();
    await scene.asked(transitionPhase, { next_phase_id: 1 });
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => `src/some/folder/with/a/long/name/${index}.ts`);
    const done = { completed_phase_id: 1, no_context_reason: 'generated' };
    const refused = await scene.asked(transitionPhase, { ...done, files_created: many(5_000) });
    expect(refused.message).toContain('at most 2000');
    expect(await scene.asked(transitionPhase, { ...done, files_created: many(2_000) })).toMatchObject({
      completed: ['1'],
    });
    expect(stepsIn(scene)['1']?.files.created).toEqual(many(2_000));
  });

  test('without a name are refused, and blank words are no reason, no context and no error', async () => {
    const scene = await planned();
    await scene.asked(transitionPhase, { next_phase_id: 1, agent: ' ' });
    expect(stepsIn(scene)['1']?.agent).toBeNull();
    const before = linesIn(scene);
    const done = { completed_phase_id: 1, files_created: ['a.ts'] };
    for (const blank of [
      { no_context_reason: '' },
      { no_context_reason: ' \n' },
      { downstream_context: { warnings: ['', '  '] } },
    ])
      expect(await scene.asked(transitionPhase, { ...done, ...blank })).toMatchObject({ code: 'context_missing' });
    for (const blank of [{ reason: ' ' }, { error: ' ' }, { error: { type: 'runtime', message: '' } }])
      expect(await scene.asked(transitionPhase, { failed_phase_id: 1, ...blank })).toMatchObject({
        code: 'reason_missing',
      });
    const skip = { skipped_phase_id: 2, decided_by: 'person', reason: ' ' };
    expect(await scene.asked(transitionPhase, skip)).toMatchObject({ code: 'person_needed' });
    const nameless = { ...done, files_created: ['a.ts', ' '], no_context_reason: 'r' };
    expect((await scene.asked(transitionPhase, nameless)).message).toContain('files_created has a path that is empty');
    expect([statusesIn(scene)[0], stepsIn(scene)['1']?.files.created]).toEqual(['in_progress', []]);
    // Single moves, which are counted: three failures and the skip.
    expect(linesIn(scene)).toBe(before + 4);
  });

  test('without a phase are refused, and so is a call that moves nothing', async () => {
    const scene = await planned();
    expect((await scene.asked(transitionPhase, { next_phase_id: 1, files_created: ['a'] })).message).toContain(
      'files_created',
    );
    expect((await scene.asked(transitionPhase, { output: 'x' })).message).toContain('which phase moves?');
  });
});

test('a completed phase makes a checkpoint, and the next one of its name is numbered', async () => {
  const scene = await planned();
  const git = (...words: string[]) => execFileSync('git', words, { cwd: scene.directory });
  git('init', '-q');
  git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first');
  await scene.asked(transitionPhase, { next_phase_id: 1 });
  await scene.asked(transitionPhase, { completed_phase_id: 1 });
  await scene.asked(transitionPhase, { completed_phase_id: 1, output: 'again' });
  const { checkpoints } = scene.memory().which(null).log.state;
  expect([...checkpoints.values()]).toMatchObject([{ name: 'phase-1', auto: true, head: expect.any(String) }]);
});
