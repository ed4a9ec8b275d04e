import { expect, test } from '@jest/globals';
import { MOVES } from '../../../memory/fold/rules/steps.js';
import { STEP_STATUSES, type StepStatus } from '../../../memory/words.js';
import { WorklogScene } from '../worklogScene.js';

function begun(...steps: string[]): WorklogScene {
  const scene = new WorklogScene();
  scene.write('session_started', { session_id: 's', purpose: 'p' });
  for (const step of steps) scene.write('step_added', { step, title: `step ${step}` });
  return scene;
}

/** The way to each status. */
const WAYS: Readonly<Record<StepStatus, readonly StepStatus[]>> = {
  pending: [],
  in_progress: ['in_progress'],
  completed: ['in_progress', 'completed'],
  failed: ['in_progress', 'failed'],
  skipped: ['skipped'],
  cancelled: ['cancelled'],
};

test('of the 36 moves 9 are legal, 6 change nothing, and 21 are refused with the legal ones named', () => {
  const outcomes = STEP_STATUSES.flatMap((from) =>
    STEP_STATUSES.map((to) => {
      const scene = begun('1');
      for (const way of WAYS[from]) expect(scene.step('1', way, { reason: 'r' }, 'person')).toBeNull();
      const refusal = scene.step('1', to, { reason: 'r' }, 'person');
      expect(scene.status('1')).toBe(refusal === null ? to : from);
      if (from === to) return 'nothing';
      if (refusal === null) return 'moved';
      for (const legal of MOVES[from]) expect(refusal.message).toContain(legal.replace('_', ' '));
      return refusal.code;
    }),
  );
  const count = (what: string) => outcomes.filter((outcome) => outcome === what).length;
  expect([count('moved'), count('nothing'), count('illegal_move')]).toEqual([9, 6, 21]);
});

test('a third retry needs the override of a person', () => {
  const scene = begun('1');
  scene.step('1', 'in_progress');
  for (let retry = 0; retry < 2; retry += 1) {
    scene.step('1', 'failed', { reason: 'no' });
    expect(scene.step('1', 'in_progress')).toBeNull();
  }
  scene.step('1', 'failed', { reason: 'no' });
  expect(scene.step('1', 'in_progress')?.code).toBe('escalate');
  expect(scene.step('1', 'in_progress', { override: 'I insist' }, 'agent')?.code).toBe('escalate');
  expect(scene.step('1', 'in_progress', { override: 'I insist' }, 'person')).toBeNull();
});

test('a step fails only with its reason, and an agent skips none by itself', () => {
  const scene = begun('1');
  expect(scene.step('1', 'skipped', { reason: 'dull' })?.code).toBe('person_needed');
  expect(scene.step('1', 'skipped', { decided_by: 'person' })?.code).toBe('person_needed');
  scene.step('1', 'in_progress');
  expect(scene.step('1', 'failed')?.code).toBe('reason_missing');
  const asked = begun('1');
  expect(asked.step('1', 'skipped', { decided_by: 'person', reason: 'said so' })).toBeNull();
});

test('a step waits for its blockers, which may be skipped', () => {
  const scene = begun('1', '2');
  scene.write('step_added', { step: '3', title: 'last', blocked_by: ['1', '2'] });
  scene.step('1', 'in_progress');
  scene.step('1', 'completed');
  expect(scene.step('3', 'in_progress')).toMatchObject({ code: 'blocked', message: 'step 3 waits for step 2' });
  scene.step('2', 'skipped', {}, 'person');
  expect(scene.step('3', 'in_progress')).toBeNull();
});

test('a step that another agent has is not started again, and it is named', () => {
  const scene = begun('1');
  scene.step('1', 'in_progress', { agent: 'explorer' });
  expect(scene.step('1', 'in_progress', { agent: 'tester' })).toMatchObject({ code: 'taken', message: /explorer/ });
  expect(scene.step('1', 'in_progress', { agent: 'explorer' })).toBeNull();
});

const holder = (pid: number) => ({
  process: { host: 'h', boot_id: 'b', pid_namespace: 'n', pid, pid_start: '1' },
});

test('of two agents without a name one starts a step, also if both wrote at once', () => {
  const scene = begun('1');
  expect(scene.step('1', 'in_progress', { holder: holder(1), call: 'toolu_1' })).toBeNull();
  const before = structuredClone(scene.log.steps.get('1'));
  expect(scene.step('1', 'in_progress', { holder: holder(2) })).toMatchObject({ code: 'taken', message: /process 1 / });
  expect(scene.step('1', 'in_progress', { holder: holder(1) })).toBeNull();
  expect(scene.log.steps.get('1')).toEqual(before);
  expect(before).toMatchObject({ holder: holder(1), held_by: 'l3', call: 'toolu_1' });
});

test('a conversation has a step by its program and its id', () => {
  const scene = begun('1');
  const of = (provider: string, conversation: string) => ({ holder: { conversation: { provider, conversation } } });
  scene.step('1', 'in_progress', of('codex', 'a'));
  expect(scene.step('1', 'in_progress', of('codex', 'a'))).toBeNull();
  for (const other of [of('codex', 'b'), of('claude', 'a'), { holder: holder(1) }, {}])
    expect(scene.step('1', 'in_progress', other)).toMatchObject({ code: 'taken', message: /conversation a of codex / });
});

test('a start takes a step over from the line that it names, and a late one does not', () => {
  const scene = begun('1');
  scene.step('1', 'in_progress', { holder: holder(1) });
  const { started_at, held_by } = { ...scene.log.steps.get('1') };
  expect(scene.step('1', 'in_progress', { holder: holder(2), takes: held_by })).toBeNull();
  expect(scene.step('1', 'in_progress', { holder: holder(3), takes: held_by })).toMatchObject({
    ...{ code: 'taken', message: /process 2 / },
  });
  const step = scene.log.steps.get('1');
  expect(step).toMatchObject({ holder: holder(2), held_by: 'l4', started_at, retries: 0 });
  expect(step?.spans).toEqual([{ from: started_at, until: null }]);
  scene.step('1', 'failed', { reason: 'no' });
  expect(step).toMatchObject({ holder: null, held_by: null });
  expect(scene.step('1', 'in_progress', { holder: holder(3), takes: 'l4' })?.code).toBe('too_late');
  expect(scene.step('1', 'in_progress', { holder: holder(3) })).toBeNull();
  expect(step).toMatchObject({ holder: holder(3), retries: 1 });
});

test('a step in progress is reworded by any agent, which does not get it', () => {
  const scene = begun('1');
  scene.step('1', 'in_progress', { holder: holder(1) });
  expect(scene.step('1', 'in_progress', { holder: holder(2), title: 'other words' })).toBeNull();
  expect(scene.log.steps.get('1')).toMatchObject({ holder: holder(1), title: 'other words' });
});

test('completing again adds to the manifest', () => {
  const scene = begun('1');
  scene.step('1', 'in_progress');
  scene.step('1', 'completed', { files: { created: ['a'] } });
  scene.step('1', 'completed', { files: { created: ['a', 'b'], deleted: ['c'] } });
  expect(scene.log.steps.get('1')?.files).toEqual({ created: ['a', 'b'], modified: [], deleted: ['c'] });
});

test('completing again adds to the lists of the context, sets output and validation, and changes nothing else', () => {
  const scene = begun('1');
  scene.step('1', 'in_progress');
  scene.step('1', 'completed', { context: { warnings: ['w'], assumptions: ['a'] }, output: 'first', reason: 'why' });
  const before = structuredClone(scene.log.steps.get('1'));
  const again = { context: { warnings: ['v', 'w'], integration_points: ['i'] }, validation: { passed: false } };
  scene.step('1', 'completed', { ...again, reason: 'other', assumed: true, agent: 'other' });
  expect(scene.log.steps.get('1')).toEqual({
    ...before,
    context: { warnings: ['w', 'v'], assumptions: ['a'], integration_points: ['i'] },
    validation: { passed: false },
  });
  scene.step('1', 'completed', { output: 'second', no_context_reason: 'tests only' });
  expect(scene.log.steps.get('1')).toMatchObject({ output: 'second', no_context_reason: 'tests only' });
});

test('the lists of a context are bounded, however often a step is completed', () => {
  const scene = begun('1');
  scene.step('1', 'in_progress');
  const texts = (call: number) => Array.from({ length: 150 }, (_, index) => `${call} ${index}`);
  for (let call = 0; call < 3; call += 1)
    scene.step('1', 'completed', {
      context: { warnings: texts(call), ...Object.fromEntries(texts(call).map((kind) => [kind, []])) },
    });
  const context = scene.log.steps.get('1')?.context ?? {};
  expect(context.warnings).toHaveLength(200);
  expect(Object.keys(context)).toHaveLength(200);
});

test('tokens are summed by agent, and at the step that they name', () => {
  const scene = begun('1', '2');
  scene.write('tokens', { agent: 'coder', input: 5, output: 2, step: '1' });
  scene.write('tokens', { agent: 'tester', input: 1, cached: 4, step: '1' });
  scene.write('tokens', { agent: 'coder', input: 7 });
  const [first, second] = [...scene.log.steps.values()];
  expect(first?.tokens).toEqual({ input: 6, output: 2, cached: 4 });
  expect(second?.tokens).toEqual({ input: 0, output: 0, cached: 0 });
  expect(scene.log.tokens.get('coder')).toEqual({ input: 12, output: 2, cached: 0 });
});

test.each<StepStatus>(['completed', 'skipped', 'cancelled'])(
  'a step that is %s has no open errors, and only it',
  (to) => {
    const scene = begun('1', '2');
    scene.step('1', 'in_progress');
    scene.write('error', { type: 'runtime', message: 'a', step: '1' });
    scene.write('error', { type: 'runtime', message: 'b', step: '1', resolution: 'waited' });
    scene.write('error', { type: 'timeout', message: 'c', step: '2' });
    scene.write('error', { type: 'timeout', message: 'd' });
    scene.step('1', 'failed', { reason: 'no' });
    const open = () => scene.log.errors.flatMap(({ message, resolved }) => (resolved ? [] : [message]));
    expect(open()).toEqual(['a', 'b', 'c', 'd']);
    if (to === 'completed') scene.step('1', 'in_progress');
    scene.step('1', to, {}, 'person');
    expect(open()).toEqual(['c', 'd']);
    expect(scene.log.errors.map(({ resolution }) => resolution)).toEqual([
      `step ${to}`,
      'waited',
      'pending',
      'pending',
    ]);
  },
);

test('files of a step are worked on, then done with it; another spelling of the step changes nothing', () => {
  const scene = begun('1');
  scene.step('1', 'in_progress', { paths: ['src/a.ts'] });
  scene.write('file', { path: 'src/b.ts', to: 'working' });
  expect(scene.log.files.get('src/b.ts')).toMatchObject({ status: 'working', step: '1' });
  scene.step('1', 'completed');
  expect([...scene.log.files.values()].map(({ status }) => status)).toEqual(['done', 'done']);
});

test('a plan of more than 500 steps, doubled steps and unknown blockers are refused', () => {
  const scene = begun(...Array.from({ length: 500 }, (_, index) => String(index)));
  expect(scene.write('step_added', { step: 'x', title: 't' })?.code).toBe('too_many_steps');
  const small = begun('1');
  expect(small.write('step_added', { step: '1', title: 't' })?.code).toBe('duplicate_step');
  expect(small.write('step_added', { step: '2', title: 't', blocked_by: ['2'] })?.code).toBe('unknown_blocker');
});

test('an ended session takes notes and its reopening, and nothing else', () => {
  const scene = begun('1');
  scene.write('session_ended', { reason: 'completed' });
  expect(scene.step('1', 'in_progress')?.code).toBe('ended');
  expect(scene.write('note', { text: 'afterwards' })).toBeNull();
  expect(scene.write('session_ended', { reason: 'failed' })?.code).toBe('ended');
  expect(scene.write('session_reopened')).toBeNull();
  expect(scene.log.lifecycle).toBe('active');
  expect(scene.log.refused).toBe(2);
});

test('a line of another session ends nothing', () => {
  const scene = begun('1');
  expect(scene.write('session_ended', { session_id: 'other', reason: 'completed' })?.code).toBe('foreign');
  expect(scene.log.end).toBeNull();
});

test('an eleventh child is refused, and the same child again is no second one', () => {
  const scene = begun('1');
  for (let index = 0; index < 10; index += 1) expect(scene.write('child', { child: `c${index}` })).toBeNull();
  expect(scene.write('child', { child: 'c0' })).toBeNull();
  expect(scene.write('child', { child: 'c10' })?.code).toBe('too_many_children');
});

test('what Watchkeeper writes by itself, and a ping, move no last activity', () => {
  const scene = begun('1');
  const { last_activity } = scene.log;
  scene.write('ping', { until: '2026-11-01T01:00:00Z' });
  scene.write('log', { message: 'x' }, 'watchkeeper');
  expect(scene.log.last_activity).toBe(last_activity);
  scene.write('log', { message: 'x' });
  expect(scene.log.last_activity).not.toBe(last_activity);
});

test('10,000 notes and 100,000 files make a bounded state, with counts for the rest', () => {
  const scene = begun('1');
  scene.write('note', { text: 'keep me', priority: 'critical' });
  for (let index = 0; index < 10_000; index += 1) scene.write('note', { text: `n${index}` });
  for (let index = 0; index < 100_000; index += 1)
    scene.write('file', { path: `f${index}`, to: index === 0 ? 'working' : 'done' });
  expect(scene.log.notes).toHaveLength(200);
  expect(scene.log.notes[0]?.text).toBe('keep me');
  expect(scene.log.files.size).toBe(2_000);
  expect(scene.log.files.get('f0')?.status).toBe('working');
  expect(scene.log.more).toEqual({ notes: 9_801, files: 98_000 });
});
