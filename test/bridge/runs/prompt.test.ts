/** What an agent is asked. */
import { expect, test } from '@jest/globals';
import { promptOf } from '../../../bridge/runs/prompt.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import { describeWithRedis } from '../../harness/redis.js';
import { activeSession, openSagaScene } from '../../monitoring/incident/saga/sagaScene.js';

describeWithRedis('the prompt of a message whose run was interrupted', () => {
  test('says so in the first attempt; in the second one, what became of the first', async () => {
    const scene = await openSagaScene();
    const first = { ...(await activeSession(scene)), interruptions: 1 };
    const second = { ...revivalOf(first, scene.clock.now()), interruptions: 1 };
    const ask = (session: typeof first) => promptOf(scene.store, scene.folder, (text) => text, session);
    expect(await ask(first)).toContain('You were interrupted while you worked on this');
    expect(await ask(second)).toContain('This is the second and last attempt');
  });
});
