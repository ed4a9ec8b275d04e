/** An agent whose loop is only reported: its run ends as if nothing had been reported. */
import { expect, test } from '@jest/globals';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const CHAT = 1;

function loop(times: number): Scenario['steps'] {
  return [
    {
      do: 'repeat',
      times,
      steps: [{ do: 'call', tool: 'bash', input: { command: 'ls' }, output: 'nothing', takes_ms: 100 }],
    },
  ];
}

/** @returns a scene whose agents repeat one call until they are interrupted, and a bridge in it */
async function openLoopingScene() {
  const scene = await openTestScene({
    projects: {
      mill: {
        chats: [{ id: CHAT }],
        // A session at work is looked at once per silence.
        thresholds: { silence_ms: 1_500 },
        scenarios: [
          { when: { message: 'You were interrupted' }, steps: [{ do: 'answer', text: 'done after all' }] },
          { when: { attempt: 2 }, steps: [...loop(60), { do: 'answer', text: 'done at the second attempt' }] },
          { when: { message: '^fail' }, steps: [{ do: 'exit', code: 1 }] },
          {
            when: { message: '^limit' },
            steps: [...loop(60), { do: 'failure', cause: 'rate_limit', detail: 'no more for now', until_ms: 1_500 }],
          },
          { steps: loop(400) },
        ],
      },
    },
  });
  return {
    scene,
    bridge: await scene.startBridge(),
    asks: (text: string) => new Conversation(scene, 'mill', CHAT, text),
  };
}

async function expectUnharmed(scene: BridgeScene, asked: Conversation, session: string): Promise<void> {
  const closing = await asked.closing(session);
  expect(closing).toMatchObject({ event: 'session_unhealthy', rule: 'loop', details: { outcome: 'put_back' } });
  expect(await scene.store.records.session(session)).toMatchObject({ status: 'completed', interruptions: 1 });
  expect(asked.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
}

describeScenes('an agent whose loop is only reported', () => {
  // rule: a-report-changes-no-end
  test(
    'continues in the same attempt after an orderly stop of the bridge',
    async () => {
      const { scene, bridge, asks } = await openLoopingScene();
      const asked = asks('loop');
      await asked.event(({ action_taken }) => action_taken === 'reported');
      await bridge.stop();
      await scene.startBridge();
      await asked.answered('done after all');
      await expectUnharmed(scene, asked, asked.session);
      expect(asked.starts(asked.revival)).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-report-changes-no-end
  test(
    'continues its second attempt after an orderly stop of the bridge',
    async () => {
      const { scene, bridge, asks } = await openLoopingScene();
      const asked = asks('fail, then loop');
      await asked.event(({ action_taken }) => action_taken === 'reported', asked.revival);
      await bridge.stop();
      await scene.startBridge();
      // It is told of the interruption.
      await asked.answered('done after all');
      await expectUnharmed(scene, asked, asked.revival);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-report-changes-no-end
  // rule: a-limit-is-waited-for
  test(
    'waits for the end of a limit of its provider, in the same attempt',
    async () => {
      const { scene, asks } = await openLoopingScene();
      const asked = asks('limit after a loop');
      await asked.event(({ action_taken }) => action_taken === 'reported');
      await asked.answered('done after all');
      await expectUnharmed(scene, asked, asked.session);
      const issue = () => scene.github.issues()[0];
      await scene.until('the closed issue', () => issue()?.state === 'closed');
      expect(issue()?.body).toContain(
        '**Needs nobody:** the run was interrupted, and the message is back in its queue.',
      );
      expect(issue()?.body).toContain('its message is back in its queue.');
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a GitHub whose token was refused and is mended', () => {
  // rule: refused-reports-follow-a-restart
  test(
    'gets the reports at once after `watchkeeper reload`, not a quarter of an hour later',
    async () => {
      const scene = await openTestScene({
        projects: { mill: { chats: [{ id: CHAT }], scenarios: [{ steps: [{ do: 'exit', code: 1 }] }] } },
      });
      const body = { message: 'Bad credentials' };
      const refusal = scene.github.inject({ kind: 'status', status: 401, body, times: Number.POSITIVE_INFINITY });
      await scene.startBridge();
      const asked = new Conversation(scene, 'mill', CHAT, 'work');
      const events = () => scene.evidence.criticalEvents().filter(({ event }) => event === 'reports_refused');
      await scene.until('the refusal', () => events().length === 1);
      await asked.answered(FAILURE_PARAGRAPH);
      refusal.remove();
      expect(scene.github.issues()).toEqual([]);
      await scene.run(['reload']);
      await scene.until('the issue', () => scene.github.issues().length === 1, 20_000);
      await scene.until('the end of the refusal', () => events().some(({ final }) => final));
    },
    SCENE_TIMEOUT_MS,
  );
});
