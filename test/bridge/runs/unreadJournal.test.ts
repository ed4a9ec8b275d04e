/** A journal that cannot be read now may hold the answer that Redis has lost. */
import { expect, test } from '@jest/globals';
import type { Settings } from '../../../src/config/settings.js';
import { failAt, standInForFiles } from '../../harness/failingFiles.js';
import { describeWithRedis, forgetAll } from '../../harness/redis.js';

// covers: bridge/runs/lostMessages.ts bridge/runs/predecessors.ts monitoring/rounds/answeredLocally.ts

standInForFiles();
const { endPredecessorsRuns } = await import('../../../bridge/runs/predecessors.js');
const { endOnDisk } = await import('../../../monitoring/rounds/answeredLocally.js');
const { journalPath } = await import('../../../src/journal/path.js');
const { activeSession, OWNER } = await import('../../monitoring/incident/saga/sagaScene.js');
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

  test('is left to the watchdog by the next bridge, which starts all the same', async () => {
    const scene = await openLostScene();
    const { store, logsFolder, logger, clock } = scene;
    const { session_id } = await activeSession(scene);
    await answerOnDisk(scene, session_id, 'forty-two');
    const disk = { records: store.records, logsFolder, bootId: 'boot-1', logger, endInChat: async () => null };
    const next = () =>
      endPredecessorsRuns({
        ...{ store, logger, clock, logsId: 'LOGS', here: { ...OWNER, boot_id: 'a later one' } },
        settings: { logsFolder, timings: { killGraceMs: 0 } } as Settings,
        endOnDisk: (asked) => endOnDisk(disk, asked),
        stopMark: { wasStopping: async () => false },
      });
    const end = failAt(journalPath(logsFolder, session_id), 'EIO');
    expect(await next()).toEqual([]);
    expect(await store.records.session(session_id)).toMatchObject({ status: 'active', released: null });
    end();
    expect(await next()).toEqual([]);
    expect(await store.records.session(session_id)).toMatchObject({ status: 'completed', answer: 'forty-two' });
  });
});
