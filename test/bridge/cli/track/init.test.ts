import { expect, test } from '@jest/globals';
import { WorkScene } from '../work/scene.js';

const AGENT = { variables: { CLAUDE_CODE_SESSION_ID: 'c-1' } };

test('an agent that has begun its session without a plan plans that one; a person begins another one', async () => {
  const scene = new WorkScene();
  const { session_id: id } = await scene.json('work', ['start', '--purpose', 'Fix the login'], AGENT);
  const init = ['init', 'With tests', '--step', 'a', '--step', 'b'];
  expect((await scene.say('track', init)).code).toBe(1);
  expect((await scene.say('track', ['init', 'Without steps'], AGENT)).code).toBe(1);
  expect(await scene.json('track', init, AGENT)).toMatchObject({ session_id: id, steps: 2 });
  expect((await scene.say('track', init, AGENT)).code).toBe(1);
  expect(await scene.json('track', ['status'])).toMatchObject({ session_id: id, purpose: 'Fix the login' });
});

test.each([
  [['--resume', '--archive-existing']],
  [['--archive-existing', '--concurrent']],
  [['--resume', '--concurrent']],
])('%j: only one thing becomes of the session that is there', async (ways) => {
  const scene = new WorkScene();
  const id = await scene.begin('T');
  expect(await scene.say('track', ['init', 'Z', ...ways])).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining(`${ways.join(' and ')} exclude each other: give one of them`),
  });
  expect(await scene.json('work', ['list', '--all'])).toMatchObject([{ session_id: id, lifecycle: 'planned' }]);
});
