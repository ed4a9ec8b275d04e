/** Two bridges on one Redis, as on two hosts: each with a name and a logs folder of its own. */
import { expect, test } from '@jest/globals';
import { SECOND } from '../../src/time.js';
import { Conversation, FAILURE_PARAGRAPH, stepOf } from './conversation.js';
import { conflicts, eventsAbout, startHost } from './hosts.js';
import { findRun } from './processScan.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const ANSWER: Scenario['steps'] = [{ do: 'answer', text: 'answer of {{session}}' }];
const HANG: Scenario['steps'] = [
  { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough' },
  { do: 'silence' },
];
const LEASES = { runLeaseMs: 2_000, watchdogLeaseMs: 2_000 };
const FETCHES = "this bridge fetches the bot's messages";
const STANDS_BY = "another bridge fetches the bot's messages; this one stands by";

describeScenes('of two bridges with one bot', () => {
  test(
    'one fetches its messages; killed, it is followed by the other within 15 s, and nothing is lost or done twice',
    async () => {
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], scenarios: [{ steps: ANSWER }] } },
        timings: LEASES,
      });
      const one = await startHost(scene, 'one');
      const two = await startHost(scene, 'two');
      expect(one.bridge.stderr).toContain(FETCHES);
      expect(two.bridge.stderr).toContain(STANDS_BY);
      const first = new Conversation(scene, 'ship', 1, 'the first');
      await first.answered(`answer of ${first.session}`);

      await one.bridge.kill();
      const gone = performance.now();
      const second = new Conversation(scene, 'ship', 1, 'the second');
      await second.answered(`answer of ${second.session}`);
      expect(performance.now() - gone).toBeLessThan(15 * SECOND);
      expect(two.bridge.stderr).toContain(FETCHES);
      expect([...first.starts(), ...second.starts()]).toHaveLength(2);
      expect(conflicts(scene)).toBe(0);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'the one that fetches is stopped and wakes up late: it takes nothing in, confirms nothing, and stands by',
    async () => {
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], scenarios: [{ steps: ANSWER }] } },
        timings: LEASES,
      });
      const one = await startHost(scene, 'one');
      const two = await startHost(scene, 'two');
      const first = new Conversation(scene, 'ship', 1, 'the first');
      await first.answered(`answer of ${first.session}`);
      await scene.until('a poll', () => scene.telegram.polling && scene.telegram.unconfirmedUpdates === 0);
      one.bridge.signal('SIGSTOP');
      // The one that is stopped is given this by Telegram: its poll is open.
      const stolen = new Conversation(scene, 'ship', 1, '/new');
      await scene.until('the other at its turn', () => two.bridge.stderr.includes(FETCHES));
      const asked = new Conversation(scene, 'ship', 1, 'hello');
      await asked.answered(`answer of ${asked.session}`);
      one.bridge.signal('SIGCONT');
      await scene.until('the first standing by', () => one.bridge.stderr.includes('nobody knows who may'));
      const later = new Conversation(scene, 'ship', 1, 'and again');
      await later.answered(`answer of ${later.session}`);
      expect(stolen.replies()).toHaveLength(1);
      expect(await scene.store.records.conversationEpoch('ship', '1', null)).toBe(1);
      expect([...asked.starts(), ...later.starts()]).toHaveLength(2);
      expect(await scene.store.records.updateOffset(scene.telegram.token.split(':')[0] ?? '')).toBe(1_004);
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a host that is lost', () => {
  test(
    'with a run of a project that runs nothing again after that: the other host reports it and tells the chat',
    async () => {
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], reviveAfterHostLoss: false, scenarios: [{ steps: HANG }] } },
        timings: LEASES,
      });
      const one = await startHost(scene, 'one');
      const two = await startHost(scene, 'two');
      const asked = new Conversation(scene, 'ship', 1, 'hello');
      const { run } = await asked.start();
      await one.bridge.kill();
      const told = await asked.answered(FAILURE_PARAGRAPH);
      expect(told.text).toContain('the host that worked on it was lost');
      expect(findRun(run)).toEqual([]);
      await scene.until('the end', () => eventsAbout(two, asked).some(({ final }) => final));
      expect(eventsAbout(two, asked).map(stepOf).sort()).toEqual(['closed', 'detected', 'reported', 'told']);
      expect(eventsAbout(two, asked)[0]).toMatchObject({ rule: 'orphan', reason: 'run_lost' });
      expect(eventsAbout(one, asked)).toEqual([]);
      expect(scene.github.issues()).toMatchObject([{ title: '[Watchdog] ship: orphan' }]);
      expect(asked.starts()).toHaveLength(1);
      expect(asked.starts(asked.revival)).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );
});
