/** An agent whose loop is only reported: its run ends as if nothing had been reported. */
import { expect, test } from '@jest/globals';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import type { Scenario, SceneProject } from './sceneFiles.js';
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

const LOOPING = {
  // A session at work is looked at once per silence.
  thresholds: { silence_ms: 1_500 },
  scenarios: [
    { when: { message: 'You were interrupted' }, steps: [{ do: 'answer', text: 'done after all' }] },
    { when: { attempt: 2 }, steps: [...loop(400), { do: 'answer', text: 'done at the second attempt' }] },
    { when: { message: '^fail' }, steps: [{ do: 'exit', code: 1 }] },
    {
      when: { message: '^limit' },
      steps: [...loop(60), { do: 'failure', cause: 'rate_limit', detail: 'no more for now', until_ms: 1_500 }],
    },
    { steps: loop(400) },
  ],
} satisfies Omit<SceneProject, 'chats'>;

async function expectUnharmed(scene: BridgeScene, asked: Conversation, session: string): Promise<void> {
  const closing = await asked.closing(session);
  expect(closing).toMatchObject({ event: 'session_unhealthy', rule: 'loop', details: { outcome: 'put_back' } });
  expect(await scene.store.records.session(session)).toMatchObject({ status: 'completed', interruptions: 1 });
  expect(asked.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
}

const issuesOf = (scene: BridgeScene, { project }: Conversation) =>
  scene.github.issues().filter(({ title }) => title.startsWith(`[Watchdog] ${project}:`));

describeScenes('an agent whose loop is only reported', () => {
  // rule: a-report-changes-no-end
  // rule: a-limit-is-waited-for
  test(
    'waits for the end of a limit of its provider, and continues its first or second attempt after an orderly stop of the bridge',
    async () => {
      const scene = await openTestScene({
        projects: {
          first: { ...LOOPING, chats: [{ id: 1 }] },
          second: { ...LOOPING, chats: [{ id: 2 }] },
          limited: { ...LOOPING, chats: [{ id: 3 }] },
        },
      });
      const bridge = await scene.startBridge();
      const limited = new Conversation(scene, 'limited', 3, 'limit after a loop');
      await limited.event(({ action_taken }) => action_taken === 'reported');
      // In the same attempt.
      await limited.answered('done after all');
      await expectUnharmed(scene, limited, limited.session);
      const issue = () => issuesOf(scene, limited)[0];
      await scene.until('the closed issue', () => issue()?.state === 'closed');
      expect(issue()?.body).toContain(
        '**Needs nobody:** the run was interrupted, and the message is back in its queue.',
      );
      expect(issue()?.body).toContain('its message is back in its queue.');

      const first = new Conversation(scene, 'first', 1, 'loop');
      const second = new Conversation(scene, 'second', 2, 'fail, then loop');
      await first.event(({ action_taken }) => action_taken === 'reported');
      await second.event(({ action_taken }) => action_taken === 'reported', second.revival);
      await bridge.stop();
      await scene.startBridge();
      await first.answered('done after all');
      await expectUnharmed(scene, first, first.session);
      expect(first.starts(first.revival)).toEqual([]);
      // It is told of the interruption.
      await second.answered('done after all');
      await expectUnharmed(scene, second, second.revival);
    },
    2 * SCENE_TIMEOUT_MS,
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
