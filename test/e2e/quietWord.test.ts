/** A silent model is mentioned in the chat long before its silence is a finding, and nothing follows from that. */
import { beforeAll, expect, test } from '@jest/globals';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const QUIET = 'No word from the model since ';

describeScenes('a silent model', () => {
  let scene: BridgeScene;

  beforeAll(async () => {
    scene = await openTestScene({
      projects: {
        crew: {
          chats: [
            { id: 1, directory: 'one' },
            { id: 2, directory: 'two' },
          ],
          thresholds: { quiet_ms: 1_000, silence_ms: 120_000 },
          scenarios: [
            {
              when: { message: '^slowly' },
              steps: [
                { do: 'call', tool: 'bash', input: { command: 'make' }, takes_ms: 2_500 },
                { do: 'sleep', ms: 4_000 },
                { do: 'call', tool: 'bash', input: { command: 'test' }, takes_ms: 2_500 },
                { do: 'answer', text: 'done at last' },
              ],
            },
            {
              when: { message: '^cut', attempt: 1 },
              steps: [{ do: 'call', tool: 'bash', input: { command: 'make' } }, { do: 'silence' }],
            },
            {
              steps: [
                { do: 'call', tool: 'bash', input: { command: 'again' }, takes_ms: 2_000 },
                { do: 'answer', text: 'done' },
              ],
            },
          ],
        },
      },
    });
  }, SCENE_TIMEOUT_MS);

  test(
    'is mentioned silently on the progress message, and the line goes when the agent goes on',
    async () => {
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'crew', 1, 'slowly');
      const inProgress = () => asked.replies()[0]?.text ?? '';
      await scene.until('the first call', () => inProgress().includes('make'));
      expect(inProgress()).not.toContain(QUIET);
      await scene.until('the quiet word', () => inProgress().includes(QUIET));
      await scene.until('the second call', () => inProgress().includes('test'));
      expect(inProgress()).not.toContain(QUIET);
      await asked.answered('done at last');
      expect(asked.replies().filter(({ text }) => text.includes(QUIET))).toEqual([]);
      expect([asked.events(), scene.github.issues()]).toEqual([[], []]);
      await bridge.stop();
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'is mentioned no more after the bridge was killed and a second attempt is at work',
    async () => {
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'crew', 2, 'cut');
      await scene.until('the quiet word', () => asked.repliesWith(QUIET).length === 1);
      await bridge.kill();
      await scene.startBridge();
      await scene.until('the second attempt', () => asked.repliesWith('again').length === 1);
      expect(asked.repliesWith(QUIET)).toEqual([]);
      await asked.answered('done');
    },
    SCENE_TIMEOUT_MS,
  );
});
