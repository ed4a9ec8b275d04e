import { expect, test } from '@jest/globals';
import { stateOf } from '../../../memory/fold/state.js';
import { WorklogScene } from '../worklogScene.js';

test('a step is shown with its holder and its tokens, without what only the rules need', () => {
  const scene = new WorklogScene();
  scene.write('session_started', { session_id: 's', purpose: 'p' });
  scene.write('step_added', { step: '1', title: 'x' });
  const process = { host: 'h', boot_id: 'b', pid_namespace: 'n', pid: 7, pid_start: '1' };
  scene.step('1', 'in_progress', { agent: 'coder', holder: { process }, call: 'toolu_1' });
  scene.write('tokens', { input: 5, step: '1' });
  const [step = null] = JSON.parse(JSON.stringify(stateOf(scene.log, 0))).steps;
  expect(step).toMatchObject({
    ...{ agent: 'coder', holder: { process }, call: 'toolu_1', no_context_reason: null },
    tokens: { input: 5, output: 0, cached: 0 },
  });
  expect(Object.keys(step).join(' ')).toBe(
    'id external_id title blocked_by agents parallel planned_files status retries agent holder call started_at ended_at reason assumed output validation context no_context_reason files tokens kind',
  );
});
