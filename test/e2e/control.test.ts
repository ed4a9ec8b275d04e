/** What people may order while agents run: it never queues behind the work. */

import { beforeAll, expect, test } from '@jest/globals';
import type { Wake } from '../../src/jobs/wakes.js';
import { closeRedis } from '../../src/redis/connect.js';
import { afterThisTest } from '../harness/scope.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import { findRun } from './processScan.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS, sayIn } from './testScene.js';

const SOON_MS = 2_000;
/** Longer than a test: what follows it is not the end of a lease. */
const RUN_LEASE_MS = 60_000;
const LOOP: Scenario['steps'] = [
  {
    do: 'repeat',
    times: 400,
    steps: [{ do: 'call', tool: 'bash', input: { command: 'ls' }, output: 'nothing', takes_ms: 100 }],
  },
];

describeScenes('control', () => {
  let scene: BridgeScene;

  beforeAll(async () => {
    scene = await openTestScene({
      concurrency: 2,
      timings: { runLeaseMs: RUN_LEASE_MS },
      projects: {
        crew: {
          chats: [
            { id: 1, directory: 'one' },
            { id: 2, directory: 'two' },
          ],
          scenarios: [
            { when: { message: '^hang' }, steps: [{ do: 'hanging_tool', own_session: true, ignores_sigterm: true }] },
            { steps: [{ do: 'answer', text: 'turn {{turn}} of {{conversation}}' }] },
          ],
        },
        mill: {
          chats: [{ id: 3 }],
          // A session at work is looked at once per silence. An agent may take longer to start, which is no fault here.
          thresholds: { silence_ms: 1_500 },
          actions: { silence: 'off' },
          scenarios: [{ when: { message: '^loop' }, steps: LOOP }, { steps: [{ do: 'answer', text: 'answered' }] }],
        },
      },
    });
    await scene.startBridge();
  }, SCENE_TIMEOUT_MS);

  test(
    'the bridge handles new messages and answers itself, without waking others',
    async () => {
      const subscriber = scene.store.redis.duplicate();
      afterThisTest(() => closeRedis(subscriber));
      await subscriber.connect();
      const wakes: Wake[] = [];
      subscriber.on('message', (_, text) => void wakes.push(JSON.parse(text) as Wake));
      await subscriber.subscribe(scene.store.keys.wakeChannel);
      const asked = [1, 2].map(() => new Conversation(scene, 'crew', 1, 'answer'));
      for (const each of asked) await each.answered('turn');
      expect(wakes.filter(({ outbox }) => outbox !== undefined)).toHaveLength(2);
      expect(wakes.filter(({ lane }) => lane !== undefined)).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  const reply = async (asked: Conversation) => scene.telegram.waitFor(() => asked.replies()[0]?.text, SOON_MS);

  // rule: commands-never-queue
  test(
    '/status and /cancel are answered while all slots are taken; a cancelled message is never retried',
    async () => {
      const hanging = [1, 2].map((chat) => new Conversation(scene, 'crew', chat, 'hang'));
      const runs = await Promise.all(hanging.map((asked) => asked.start()));
      for (const { run } of runs) await scene.until('the tool', () => findRun(run).length === 2);
      const waiting = new Conversation(scene, 'crew', 1, 'wait behind it');
      expect(await reply(new Conversation(scene, 'crew', 1, '/status'))).toMatch(/Running for .*"hang"/);
      expect(await reply(new Conversation(scene, 'crew', 1, '/cancel'))).toContain('Stopping');
      await hanging[0]?.answered('Cancelled');
      expect(findRun(runs[0]?.run ?? '')).toEqual([]);
      await waiting.answered('turn');

      const [, other] = hanging;
      const command = await sayIn(scene, ['cancel', other?.session ?? '', '--json']);
      expect([command.code, JSON.parse(command.out)]).toMatchObject([0, { result: 'asked_to_end' }]);
      await other?.answered('Cancelled');
      const again = await sayIn(scene, ['cancel', other?.session ?? '', '--json']);
      expect([again.code, JSON.parse(again.out)]).toMatchObject([1, { result: 'ended_before' }]);
      for (const asked of hanging) {
        expect(await scene.store.records.session(asked.session)).toMatchObject({
          status: 'cancelled',
          revived_by: null,
        });
        expect(asked.starts(asked.revival)).toEqual([]);
      }
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-report-changes-no-end
  test(
    '/cancel ends an agent at once whose loop was only reported, and the incident closes as cancelled',
    async () => {
      const looping = new Conversation(scene, 'mill', 3, 'loop');
      await looping.event(({ action_taken }) => action_taken === 'reported');
      const waiting = new Conversation(scene, 'mill', 3, 'wait behind it');
      expect(await reply(new Conversation(scene, 'mill', 3, '/cancel'))).toContain('Stopping');
      await looping.answered('Cancelled');
      await waiting.answered('answered');
      const closing = await looping.closing();
      expect(closing).toMatchObject({ event: 'session_unhealthy', details: { outcome: 'cancelled_by_person' } });
      const issue = () => scene.github.issues()[0];
      await scene.until('the closed issue', () => issue()?.state === 'closed');
      expect(issue()?.body).toContain('**Needs nobody:** a person cancelled the message.');
      // The note follows.
      const note = 'It needs nobody any more: a person cancelled the message.';
      await scene.until('the note', () => issue()?.comments.at(-1)?.body.includes(note));
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-conversation-continues
  test(
    'a chat keeps its conversation, /new begins another, and a reply continues the one that it answers',
    async () => {
      const first = await new Conversation(scene, 'crew', 1, 'remember').answered('turn');
      const second = await new Conversation(scene, 'crew', 1, 'go on').answered('turn');
      expect(idOf(second.text)).toBe(idOf(first.text));
      await reply(new Conversation(scene, 'crew', 1, '/new'));
      const third = await new Conversation(scene, 'crew', 1, 'something else').answered('turn');
      expect(idOf(third.text)).not.toBe(idOf(first.text));
      const message = scene.telegram.say(1, 'about the first', { replyTo: first.messageId });
      const answer = await scene.until('the answer to the reply', () =>
        scene.telegram.botMessages(1).find(({ replyTo, text }) => replyTo === message && text.startsWith('turn')),
      );
      expect(idOf(answer.text)).toBe(idOf(first.text));
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    '`enqueue` uses the same lanes, and the chat that it names gets the answer',
    async () => {
      const command = await sayIn(scene, [
        'enqueue',
        '--project',
        'crew',
        '--chat',
        '2',
        '--text',
        'from the shell',
        '--json',
      ]);
      expect(command).toMatchObject({ code: 0 });
      const { session_id } = JSON.parse(command.out) as { session_id: string };
      expect(session_id).toMatch(/^cli_crew_/);
      await scene.until('the end of the session', async () => {
        const session = await scene.store.records.session(session_id);
        return session?.request.delivery === 'sent';
      });
      const answers = scene.telegram
        .botMessages(2)
        .filter(({ text, replyTo }) => text.startsWith('turn') && replyTo === null);
      expect(answers).toHaveLength(1);
    },
    SCENE_TIMEOUT_MS,
  );
});

function idOf(text: string): string {
  return text.slice(text.indexOf(' of ') + 4);
}
