// covers: bridge/cli/worktree/bridgeWork.ts
/** `worktree end` asks the bridge what runs or waits in a worktree. */
import { expect, test } from '@jest/globals';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../../../e2e/testScene.js';
import { watchkeeperAgain } from '../manyCalls.js';
import { Ends } from './endScene.js';

describeScenes('a worktree with work of a bridge', () => {
  test(
    'stays while a message waits there; another one goes, and so does this one once the message is cancelled',
    async () => {
      const { redis, store } = await openTestScene({ projects: {} });
      const made = new Ends();
      const [one, two] = [made.begun('feature/one'), made.begun('feature/two')];
      const environment = { ...made.variables, REDIS_URL: redis.url };
      const said = watchkeeperAgain(one, ['enqueue', '--project', 'local', '--json', '--text', 'go on'], environment);
      expect(said).toMatchObject({ code: 0 });
      const { session_id } = JSON.parse(said.out);
      expect(await store.records.sessionIds('pending')).toEqual([session_id]);
      const end = (name: string) =>
        watchkeeperAgain(made.root, ['worktree', 'end', name, '--discard', name, '--json'], environment);
      expect(end('two').code).toBe(0);
      expect(made.isGone(two)).toBe(true);
      const stays = end('one');
      expect(stays.code).toBe(1);
      expect(JSON.parse(stays.out).reasons).toEqual([
        {
          reason: 'bridge',
          words: `a bridge has queued ${session_id} there`,
          remedy: `wait for it, or \`watchkeeper cancel ${session_id}\``,
        },
      ]);
      expect(watchkeeperAgain(made.root, ['cancel', session_id], environment).code).toBe(0);
      expect(end('one').code).toBe(0);
      expect(made.isGone(one)).toBe(true);
    },
    SCENE_TIMEOUT_MS,
  );
});

test('a Redis that is named and does not answer is said; without one there is no bridge', () => {
  const made = new Ends();
  made.begun('feature/one');
  made.begun('feature/two');
  const nowhere = { ...made.variables, REDIS_URL: 'redis://127.0.0.1:1' };
  const named = watchkeeperAgain(made.root, ['worktree', 'end', 'one', '--merge'], nowhere);
  expect(named).toMatchObject({ code: 0, err: expect.stringContaining('its bridge was not asked: ') });
  const none = watchkeeperAgain(made.root, ['worktree', 'end', 'two', '--merge'], made.variables);
  expect(none.code).toBe(0);
  expect(none.err).not.toContain('bridge');
});
