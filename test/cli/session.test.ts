import { expect, test } from '@jest/globals';
import { Conversation } from '../e2e/conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../e2e/testScene.js';

describeScenes('watchkeeper session', () => {
  test(
    'shows the verdict of the watchdog: by the thresholds of the bridge, and with what only the store knows',
    async () => {
      const scene = await openTestScene({
        projects: {
          boat: {
            chats: [{ id: 1 }],
            scenarios: [{ steps: [{ do: 'call', tool: 'bash', input: { command: 'ls' } }, { do: 'silence' }] }],
            actions: { silence: 'report', orphan: 'report' },
          },
        },
        environment: { WATCHDOG_SILENCE_MS: '1200' },
      });
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'boat', 1, 'hello');
      await scene.until('the incident', () => scene.evidence.criticalEvents().length > 0);
      // In a terminal that knows nothing of the bridge's environment.
      const elsewhere = { WATCHDOG_SILENCE_MS: '600000' };
      const shown = await scene.run(['session', asked.session, '--json'], elsewhere);
      expect(shown.exit?.code).toBe(1);
      expect(JSON.parse(shown.stdout)).toMatchObject({
        assessment: { verdict: 'unhealthy', findings: [{ rule: 'silence' }] },
        judged_by: { source: 'bridge', thresholds: { silence_ms: 1200 }, actions: { silence: 'report' } },
      });
      const words = await scene.run(['session', asked.session], elsewhere);
      expect(words.stdout).toMatch(/^judged by +the bridge's thresholds: silence_ms 1200, error_batches 5, /m);

      await bridge.kill();
      const orphaned = await scene.run(['session', asked.session, '--json'], elsewhere);
      expect(JSON.parse(orphaned.stdout)).toMatchObject({
        assessment: { verdict: 'unhealthy', findings: [{ rule: 'orphan' }, { rule: 'silence' }] },
      });
    },
    SCENE_TIMEOUT_MS,
  );
});
