// covers: memory/verbs/resumeSession.ts memory/plans/conflicts.ts memory/plans/position.ts
import { spawnSync } from 'node:child_process';
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { createSession } from '../../../memory/verbs/createSession.js';
import { resumeSession } from '../../../memory/verbs/resumeSession.js';
import { transitionPhase } from '../../../memory/verbs/transitionPhase.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { MINUTE, systemClock } from '../../../src/time.js';
import { type Scratch, scratch } from './asked.js';

const PHASES = [
  { id: 1, name: 'Design' },
  { id: 2, name: 'Build', agents: ['coder'], blocked_by: [1] },
];

let now = 0;
let scene: Scratch;
const at = (name: string) => join(scene.directory, name);
const resumed = (given: object = {}) => scene.asked(resumeSession, given);
const move = (given: object) => scene.asked(transitionPhase, given);

beforeEach(() => {
  now = Date.now();
  // A session that is done stays where it is.
  scene = scratch({ clock: { ...systemClock, now: () => now }, variables: { MAESTRO_AUTO_ARCHIVE: 'no' } });
});

async function begun(more: object = {}): Promise<void> {
  writeFileSync(at('plan.md'), '# plan');
  await scene.asked(createSession, { task: 'Ship it', phases: PHASES, implementation_plan: 'plan.md', ...more });
  await move({ next_phase_id: 1 });
  writeFileSync(at('api.ts'), 'export {}');
  // The clock of the scene stands still.
  utimesSync(at('api.ts'), new Date(now), new Date(now));
  await move({ completed_phase_id: 1, next_phase_id: 2, files_created: ['api.ts'], no_context_reason: 'none' });
}

describe('where the plan stands', () => {
  test('position, errors and what can be done next; no conflict if nothing has changed', async () => {
    await begun();
    await move({ failed_phase_id: 2, error: { type: 'timeout', message: 'no answer' } });
    expect(await resumed()).toMatchObject({
      position: { last_completed: '1', current: '2', failed: ['2'] },
      errors: [{ type: 'timeout', message: 'no answer', step: '2' }],
      conflicts: [],
      branch: null,
      legal_next: [{ phase: '2', name: 'Build', agents: ['coder'], retry: true }],
    });
  });

  test('an express session is briefed, given to its agents again, or reviewed', async () => {
    const phases = [{ id: 1, name: 'Do it', agents: ['coder'] }];
    await scene.asked(createSession, { task: 'Small', phases, workflow_mode: 'express' });
    expect(await resumed()).toMatchObject({ branch: { do: 'brief', phase: '1' } });
    await move({ next_phase_id: 1 });
    expect(await resumed()).toMatchObject({ branch: { do: 'redelegate', phase: '1', agents: ['coder'] } });
    await move({ completed_phase_id: 1 });
    expect(await resumed()).toMatchObject({ branch: { do: 'review', phase: '1' } });
  });
});

describe('conflicts', () => {
  test('a file of a completed phase that was changed by hand since, and one that is gone', async () => {
    await begun();
    const later = new Date(now + MINUTE);
    utimesSync(at('api.ts'), later, later);
    const conflict = { kind: 'file_changed', phase: '1', path: 'api.ts' };
    expect((await resumed()).conflicts).toEqual([{ ...conflict, exists: true }]);
    rmSync(at('api.ts'));
    expect((await resumed()).conflicts).toEqual([{ ...conflict, exists: false }]);
  });

  test('a plan that was changed, or removed', async () => {
    await begun();
    writeFileSync(at('plan.md'), '# another plan');
    const conflict = { kind: 'document_changed', document: 'plan', path: 'plan.md' };
    expect((await resumed()).conflicts).toEqual([{ ...conflict, exists: true }]);
    rmSync(at('plan.md'));
    expect((await resumed()).conflicts).toEqual([{ ...conflict, exists: false }]);
  });

  test('a phase whose agent is dead, and the file that it has left half done', async () => {
    await begun();
    const { pid } = spawnSync('true');
    const process = { ...readProcessIdentity('host', pid), pid_start: '1' };
    const memory = scene.memory();
    const session = memory.which(null);
    session.log.write(
      () => [
        worklogKind.line('step', { step: '2', to: 'in_progress', holder: { process } }),
        worklogKind.line('file', { path: 'half.ts', to: 'working', step: '2' }),
      ],
      memory.stamp,
    );
    writeFileSync(at('half.ts'), 'export const');
    expect((await resumed()).conflicts).toEqual([
      expect.objectContaining({ kind: 'holder_dead', phase: '2', words: `process ${pid}` }),
      { kind: 'half_done_file', phase: '2', path: 'half.ts', exists: true },
    ]);
    // The start that takes it over is the last call that can say so: afterwards the phase has an agent that lives.
    const taken = await move({ next_phase_id: 2 });
    expect(taken).toMatchObject({ started: ['2'], conflicts: [{ kind: 'holder_dead' }, { path: 'half.ts' }] });
    expect((await move({ next_phase_id: 2 })).conflicts).toBeUndefined();
  });
});

describe('decisions', () => {
  test('retry starts the phase that failed; skip needs a person; abort cancels the session and leaves its steps', async () => {
    await begun();
    await move({ failed_phase_id: 2, error: 'it broke' });
    expect(await resumed({ decision: 'skip', reason: 'r' })).toMatchObject({ code: 'person_needed' });
    expect(await resumed({ decision: 'retry' })).toMatchObject({
      decision: 'retry',
      position: { current: '2', failed: [] },
    });
    await move({ failed_phase_id: 2, error: 'it broke' });
    const skip = { decision: 'skip', phase_id: 2, reason: 'not needed', decided_by: 'person' };
    const { session_id } = await resumed(skip);
    expect(scene.memory().which(session_id).log.state.steps.get('2')?.status).toBe('skipped');
  });

  test('abort', async () => {
    await begun();
    const { session_id } = await resumed({ decision: 'abort', reason: 'wrong way' });
    expect(scene.memory().which(session_id).log.state).toMatchObject({
      lifecycle: 'ended',
      end: { reason: 'cancelled', summary: 'wrong way' },
    });
    expect(scene.memory().which(session_id).log.state.steps.get('2')?.status).toBe('in_progress');
    expect(await resumed({ session: session_id })).toMatchObject({ code: 'ended' });
  });
});

describe('adjust', () => {
  test('changes the parameters, is recorded, and retries', async () => {
    await begun();
    await move({ failed_phase_id: 2, error: 'too much at once' });
    expect((await resumed({ decision: 'retry', execution_mode: 'sequential' })).message).toContain('adjust');
    expect((await resumed({ decision: 'adjust' })).message).toContain('adjust');
    expect(await resumed({ decision: 'adjust', execution_mode: 'sequential' })).toMatchObject({ decision: 'adjust' });
    const { facts, steps } = scene.memory().which(null).log.state;
    expect([facts?.set.execution_mode, steps.get('2')?.status]).toEqual(['sequential', 'in_progress']);
  });
});
