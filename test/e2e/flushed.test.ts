/** A Redis that forgets everything while agents run and messages wait. */
import { expect, test } from '@jest/globals';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const work = (times: number): Scenario['steps'] => [
  { do: 'repeat', times, steps: [{ do: 'call', tool: 'bash', input: { step: '{{index}}' }, takes_ms: 250 }] },
  { do: 'answer', text: 'answer of {{session}}' },
];
/** What a progress message shows while the agent works. */
const WORKING = /^(Working|Thinking|[^\n]* · \d)/;

describeScenes('a Redis that forgets everything while a bridge runs', () => {
  // rule: a-flushed-redis-costs-no-end
  test(
    'loses no end: each message has exactly one in its chat, no progress line stays, and one event reports it',
    async () => {
      const scene = await openTestScene({
        concurrency: 2,
        projects: {
          fleet: {
            chats: [
              { id: 1, directory: 'one' },
              { id: 2, directory: 'two' },
              { id: 3, directory: 'three' },
            ],
            scenarios: [
              { when: { message: '^short' }, steps: work(2) },
              { when: { message: '^fails' }, steps: [...work(8).slice(0, 1), { do: 'exit', code: 1 }] },
              { steps: work(16) },
            ],
          },
        },
      });
      const bridge = await scene.startBridge();
      const done = new Conversation(scene, 'fleet', 1, 'short, answered before');
      await done.answered(`answer of ${done.session}`);
      const running = new Conversation(scene, 'fleet', 1, 'long work');
      const failing = new Conversation(scene, 'fleet', 2, 'fails twice');
      await Promise.all([running.start(), failing.start()]);
      const waiting = [1, 1, 2, 3].map((chat, index) => new Conversation(scene, 'fleet', chat, `short ${index}`));
      await scene.until('accepted messages', () => scene.telegram.unconfirmedUpdates === 0);

      await scene.redis.ask('FLUSHALL');
      for (const asked of [running, ...waiting]) await asked.answered(`answer of ${asked.session}`, 40_000);
      await failing.answered(FAILURE_PARAGRAPH, 40_000);
      for (const asked of [done, running, ...waiting]) {
        expect(asked.starts()).toHaveLength(1);
        expect(asked.repliesWith('answer of')).toHaveLength(1);
        expect(asked.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
      }
      expect(failing.repliesWith(FAILURE_PARAGRAPH)).toHaveLength(1);
      const started = waiting.map((asked) =>
        scene.evidence.agents().findIndex(({ session }) => session === asked.session),
      );
      expect(started[0]).toBeLessThan(started[1] ?? 0);
      const all = [done, running, failing, ...waiting];
      await scene.until('the end of every progress line', () =>
        all.flatMap((asked) => asked.replies()).every(({ text }) => !WORKING.test(text)),
      );
      const forgot = () => scene.evidence.criticalEvents().filter(({ event }) => event === 'store_forgot');
      await scene.until('the event', () => forgot().length > 0);
      expect(forgot()).toHaveLength(1);
      expect(forgot()[0]?.details?.sessions).toEqual(
        expect.arrayContaining([running, failing, ...waiting].map(({ session }) => session)),
      );
      expect(await bridge.stop()).toMatchObject({ code: 0 });
    },
    2 * SCENE_TIMEOUT_MS,
  );
});
