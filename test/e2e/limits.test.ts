/** A provider's limit with a known end: the message waits for it, and is worked on again. */
import { expect, test } from '@jest/globals';
import { clockTime, DAY, systemClock } from '../../src/time.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const ANSWER: Scenario['steps'] = [{ do: 'answer', text: 'answer of {{conversation}}' }];
const CHAT = 1;

/** @returns a scene whose agent meets a limit at every first prompt, and a bridge in it */
async function openLimitedScene(lastsMs: number) {
  const limit = (until_ms: number): Scenario['steps'] => [
    { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough', takes_ms: 20 },
    { do: 'failure', cause: 'rate_limit', detail: 'the plan allows no more', until_ms },
  ];
  const scene = await openTestScene({
    projects: {
      ship: {
        chats: [{ id: CHAT }],
        scenarios: [
          { when: { message: '^always' }, steps: limit(100) },
          { when: { message: 'a limit of your provider was reached' }, steps: ANSWER },
          { steps: limit(lastsMs) },
        ],
      },
    },
  });
  return { scene, bridge: await scene.startBridge() };
}

/** @returns when the message waits for the end of the limit, and its chat has been told so */
async function waiting(scene: BridgeScene, asked: Conversation): Promise<number> {
  const session = await scene.until('a message that waits for the limit', async () => {
    const found = await scene.store.records.session(asked.session);
    return found?.status === 'pending' && found.not_before !== null ? found : null;
  });
  await scene.until(
    'the word of the limit',
    () => asked.repliesWith("The provider's usage limit is reached.").length === 1,
  );
  return session.not_before ?? 0;
}

describeScenes("a provider's limit with a known end", () => {
  // rule: a-limit-is-waited-for
  test(
    'is waited for: the chat gets the time, nothing is accused, and the same conversation answers once',
    async () => {
      const { scene } = await openLimitedScene(3_000);
      const asked = new Conversation(scene, 'ship', CHAT, 'look into it');
      const endsAt = await waiting(scene, asked);
      const conversation = (await scene.store.records.session(asked.session))?.conversation_id;
      await asked.answered(`answer of ${conversation}`);
      const [first, second, ...more] = asked.starts();
      expect(more).toEqual([]);
      expect(first?.attempt).toBe(1);
      expect(second?.attempt).toBe(1);
      expect(second?.at).toBeGreaterThanOrEqual(endsAt);
      expect(asked.events()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-limit-is-waited-for
  test(
    'is waited for across a restart of the bridge',
    async () => {
      const { scene, bridge } = await openLimitedScene(4_000);
      const asked = new Conversation(scene, 'ship', CHAT, 'look into it');
      await waiting(scene, asked);
      await bridge.kill();
      await scene.startBridge();
      await asked.answered('answer of');
      expect(asked.starts()).toHaveLength(2);
      expect(asked.events()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: messages-behind-a-wait-are-told
  test(
    'is read by those who wait behind it, also by one that comes later, until their own runs begin',
    async () => {
      const steps: Scenario['steps'] = [
        { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough', takes_ms: 20 },
        { do: 'failure', cause: 'rate_limit', detail: 'the plan allows no more', until_ms: 20_000 },
      ];
      const again = { when: { message: 'a limit of your provider was reached' }, steps: ANSWER };
      const scenarios = [again, { when: { message: '^look' }, steps }, { steps: ANSWER }];
      const scene = await openTestScene({ projects: { ship: { chats: [{ id: CHAT }], scenarios } } });
      await scene.startBridge();
      const first = new Conversation(scene, 'ship', CHAT, 'look into it');
      const second = new Conversation(scene, 'ship', CHAT, 'and this');
      const time = clockTime(await waiting(scene, first));
      await second.answered(`waits until ${time}; yours follows.`);
      const third = new Conversation(scene, 'ship', CHAT, 'one more');
      await third.answered(`waits until ${time}; yours follows.`);
      for (const asked of [first, second, third]) await asked.answered('answer of', 40_000);
      for (const asked of [second, third]) {
        await scene.until('the last line', () => asked.repliesWith('Done in').length === 1);
        expect(asked.replies()).toHaveLength(2);
        expect(asked.starts()).toHaveLength(1);
      }
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-limit-is-waited-for
  test(
    'is no longer waited for when a person cancels the message',
    async () => {
      const { scene } = await openLimitedScene(600_000);
      const asked = new Conversation(scene, 'ship', CHAT, 'look into it');
      await waiting(scene, asked);
      scene.telegram.say(CHAT, '/cancel', { replyTo: asked.messageId });
      await asked.answered('Cancelled');
      expect(asked.starts()).toHaveLength(1);
      expect(asked.events()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-limit-is-waited-for
  test(
    'that is hit again and again is reported after the fourth time',
    async () => {
      const { scene } = await openLimitedScene(100);
      const asked = new Conversation(scene, 'ship', CHAT, 'always');
      await asked.answered(FAILURE_PARAGRAPH);
      expect(asked.starts()).toHaveLength(4);
      expect((await asked.closing()).reason).toBe('run_failed_rate_limit');
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'that lasts for days is not waited for, and the chat reads from when on to ask again, with the date',
    async () => {
      const { scene } = await openLimitedScene(3 * DAY);
      const asked = new Conversation(scene, 'ship', CHAT, 'look into it');
      const { text } = await asked.answered(FAILURE_PARAGRAPH);
      const [, date = ''] = /ask again after (\d{4}-\d\d-\d\d \d\d:\d\d UTC)/.exec(text) ?? [];
      const daysAhead = (Date.parse(date.replace(' UTC', 'Z')) - systemClock.now()) / DAY;
      expect(daysAhead).toBeGreaterThan(2.9);
      expect(daysAhead).toBeLessThan(3.1);
    },
    SCENE_TIMEOUT_MS,
  );
});
