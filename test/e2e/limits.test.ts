/** A provider's limit with a known end: the message waits for it, and is worked on again. */
import { beforeAll, expect, test } from '@jest/globals';
import { clockTime, DAY, systemClock } from '../../src/time.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import type { Program } from './program.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const ANSWER: Scenario['steps'] = [{ do: 'answer', text: 'answer of {{conversation}}' }];

/** A step, and a limit with its end. */
const limit = (until_ms: number): Scenario['steps'] => [
  { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough', takes_ms: 20 },
  { do: 'failure', cause: 'rate_limit', detail: 'the plan allows no more', until_ms },
];
const AFTERWARDS: Scenario = { when: { message: 'a limit of your provider was reached' }, steps: ANSWER };
/** How long the limit of each project lasts. */
const LASTS_MS = { short: 3_000, behind: 20_000, restarted: 8_000, cancelled: 600_000, always: 100, long: 3 * DAY };
type Project = keyof typeof LASTS_MS;
const NAMES = Object.keys(LASTS_MS) as Project[];
const chatOf = (project: Project): number => NAMES.indexOf(project) + 1;

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
  let scene: BridgeScene;
  let bridge: Program;

  beforeAll(async () => {
    const projects = NAMES.map((name) => {
      const first = { when: { message: '^look' }, steps: limit(LASTS_MS[name]) };
      const scenarios =
        name === 'always' ? [{ steps: limit(LASTS_MS.always) }] : [AFTERWARDS, first, { steps: ANSWER }];
      return [name, { chats: [{ id: chatOf(name) }], scenarios }];
    });
    scene = await openTestScene({ projects: Object.fromEntries(projects) });
    bridge = await scene.startBridge();
  }, SCENE_TIMEOUT_MS);

  const ask = (project: Project, text = 'look into it') => new Conversation(scene, project, chatOf(project), text);

  // rule: a-limit-is-waited-for
  test(
    'is waited for: the chat gets the time, nothing is accused, and the same conversation answers once',
    async () => {
      const asked = ask('short');
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
      const asked = ask('restarted');
      await waiting(scene, asked);
      await bridge.kill();
      bridge = await scene.startBridge();
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
      const first = ask('behind');
      const second = ask('behind', 'and this');
      const time = clockTime(await waiting(scene, first));
      await second.answered(`waits until ${time}; yours follows.`);
      const third = ask('behind', 'one more');
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
      const asked = ask('cancelled');
      await waiting(scene, asked);
      scene.telegram.say(asked.chat, '/cancel', { replyTo: asked.messageId });
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
      const asked = ask('always');
      await asked.answered(FAILURE_PARAGRAPH);
      expect(asked.starts()).toHaveLength(4);
      expect((await asked.closing()).reason).toBe('run_failed_rate_limit');
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'that lasts for days is not waited for, and the chat reads from when on to ask again, with the date',
    async () => {
      const asked = ask('long');
      const { text } = await asked.answered(FAILURE_PARAGRAPH);
      const [, date = ''] = /ask again after (\d{4}-\d\d-\d\d \d\d:\d\d UTC)/.exec(text) ?? [];
      const daysAhead = (Date.parse(date.replace(' UTC', 'Z')) - systemClock.now()) / DAY;
      expect(daysAhead).toBeGreaterThan(2.9);
      expect(daysAhead).toBeLessThan(3.1);
    },
    SCENE_TIMEOUT_MS,
  );
});
