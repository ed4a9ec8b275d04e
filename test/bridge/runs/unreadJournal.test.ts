/** A journal that cannot be read now may hold the answer that Redis has lost. */
import { expect, test } from '@jest/globals';
import { failAt, standInForFiles } from '../../harness/failingFiles.js';
import { describeWithRedis, forgetAll } from '../../harness/redis.js';

// covers: bridge/runs/lostMessages.ts monitoring/rounds/answeredLocally.ts

standInForFiles();
const { journalPath } = await import('../../../src/journal/path.js');
const { answerOnDisk, openLostScene } = await import('./lostScene.js');

describeWithRedis('a message that Redis has lost, and whose journal cannot be read', () => {
  test('gets no end, while others do; once the journal can be read, its answer is the end', async () => {
    const scene = await openLostScene();
    const { store, logsFolder } = scene;
    const [unread, other] = [(await scene.accept('1')).session_id, (await scene.accept('2')).session_id];
    await answerOnDisk(scene, unread, 'forty-two');
    await forgetAll(store);
    const end = failAt(journalPath(logsFolder, unread), 'EMFILE');
    expect(await scene.bridge().endHere()).toEqual([other]);
    expect(scene.reported).toEqual([[other]]);
    expect(await store.records.session(unread)).toBeNull();
    end();
    expect(await scene.bridge().endHere()).toEqual([unread]);
    expect(await store.records.session(unread)).toMatchObject({ status: 'completed', answer: 'forty-two' });
  });
});
