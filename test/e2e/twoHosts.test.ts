/** Two bridges on one Redis, as on two hosts: each with a name and a logs folder of its own. */
import { expect, test } from '@jest/globals';
import { SECOND } from '../../src/time.js';
import { Conversation, FAILURE_PARAGRAPH, stepOf } from './conversation.js';
import { answersIn, childrenOf, conflicts, eventsAbout, startHost, startsOf } from './hosts.js';
import { findRun } from './processScan.js';
import type { Scenario, SceneProject } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const ANSWER: Scenario['steps'] = [{ do: 'answer', text: 'answer of {{session}}' }];
const HANG: Scenario['steps'] = [
  { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough' },
  { do: 'silence' },
];
const HOME_ON_TWO: SceneProject = {
  chats: [{ id: 1 }],
  host: 'two',
  scenarios: [{ when: { message: '^the first', attempt: 1 }, steps: HANG }, { steps: ANSWER }],
};
const LEASES = { runLeaseMs: 2_000, watchdogLeaseMs: 2_000 };
const FETCHES = "this bridge fetches the bot's messages";
const STANDS_BY = "another bridge fetches the bot's messages; this one is on standby";

describeScenes('of two bridges with one bot', () => {
  // rule: one-bridge-fetches-messages
  // rule: a-host-loss-may-only-be-reported
  test(
    'one fetches its messages; if it is killed, the other takes over within 15 s, nothing is lost or doubled, and a run that may not be repeated is reported',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: { chats: [{ id: 1 }], scenarios: [{ steps: ANSWER }] },
          sloop: { chats: [{ id: 2 }], reviveAfterHostLoss: false, scenarios: [{ steps: HANG }] },
        },
        timings: LEASES,
      });
      const one = await startHost(scene, 'one');
      // Nobody else is there to run it.
      const lost = new Conversation(scene, 'sloop', 2, 'hello');
      const { run } = await lost.start();
      const two = await startHost(scene, 'two');
      await one.bridge.says(FETCHES);
      await two.bridge.says(STANDS_BY);
      const first = new Conversation(scene, 'ship', 1, 'the first');
      await first.answered(`answer of ${first.session}`);

      await one.bridge.kill();
      const gone = performance.now();
      const second = new Conversation(scene, 'ship', 1, 'the second');
      await second.answered(`answer of ${second.session}`);
      expect(performance.now() - gone).toBeLessThan(15 * SECOND);
      await two.bridge.says(FETCHES);
      expect([...first.starts(), ...second.starts()]).toHaveLength(2);
      expect(conflicts(scene)).toBe(0);

      const told = await lost.answered(FAILURE_PARAGRAPH);
      expect(told.text).toContain('the host that worked on it was lost');
      expect(findRun(run)).toEqual([]);
      await scene.until('the end', () => eventsAbout(two, lost).some(({ final }) => final));
      expect(eventsAbout(two, lost).map(stepOf).sort()).toEqual(['closed', 'detected', 'reported', 'told']);
      expect(eventsAbout(two, lost)[0]).toMatchObject({ rule: 'orphan', reason: 'run_lost' });
      expect(eventsAbout(one, lost)).toEqual([]);
      expect(scene.github.issues()).toMatchObject([{ title: '[Watchdog] sloop: orphan' }]);
      expect(lost.starts()).toHaveLength(1);
      expect(lost.starts(lost.revival)).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: one-bridge-fetches-messages
  test(
    'the one that fetches is stopped and wakes up late: it accepts nothing, confirms nothing, becomes the standby',
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
      await scene.until('the first standing by', () => one.bridge.stderr.includes('it is unknown which may'));
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

describeScenes('a lost host', () => {
  // rule: a-project-runs-at-home
  // rule: a-lost-host-is-replaced
  test(
    'that is the home of a project runs its messages, whichever bridge accepts them; if it never returns, its run is repeated once on the other host, the queue follows in order, one answer each',
    async () => {
      const scene = await openTestScene({ projects: { ship: HOME_ON_TWO }, timings: LEASES });
      const one = await startHost(scene, 'one');
      await one.bridge.says(FETCHES);
      const two = await startHost(scene, 'two');
      await two.bridge.says(STANDS_BY);
      const atHome = new Conversation(scene, 'ship', 1, 'hello');
      await atHome.answered(`answer of ${atHome.session}`);
      expect(await scene.store.records.session(atHome.session)).toMatchObject({ run: { owner: { host: 'two' } } });

      const asked = new Conversation(scene, 'ship', 1, 'the first');
      const { run } = await asked.start();
      const waiting = ['the second', 'the third'].map((text) => new Conversation(scene, 'ship', 1, text));
      await scene.until('three accepted messages', () => scene.telegram.unconfirmedUpdates === 0);
      await two.bridge.kill();
      await asked.answered(`answer of ${asked.revival}`);
      for (const next of waiting) await next.answered(`answer of ${next.session}`);
      expect(findRun(run)).toEqual([]);
      const sessions = [asked.session, asked.revival, ...waiting.map(({ session }) => session)];
      expect(startsOf(scene)).toEqual([atHome.session, ...sessions]);
      for (const id of sessions.slice(1))
        expect(await scene.store.records.session(id)).toMatchObject({ run: { owner: { host: 'one' } } });
      await scene.until('the end', () => eventsAbout(one, asked).some(({ final }) => final));
      expect(eventsAbout(one, asked)[0]).toMatchObject({ rule: 'orphan', action_taken: 'detected' });
      expect(answersIn(scene)).toHaveLength(4);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-lost-host-is-replaced
  test(
    'that was only stopped: it ends its own run when it continues, does nothing twice, and gets its messages back',
    async () => {
      const scene = await openTestScene({ projects: { ship: HOME_ON_TWO }, timings: LEASES });
      const two = await startHost(scene, 'two');
      const one = await startHost(scene, 'one');
      const asked = new Conversation(scene, 'ship', 1, 'the first');
      const { run } = await asked.start();
      await scene.until('the reaper', () => childrenOf(two.bridge.pid).length > 1);
      const all = [two.bridge.pid, ...childrenOf(two.bridge.pid), ...findRun(run).map(({ pid }) => pid)];
      for (const pid of all) process.kill(pid, 'SIGSTOP');
      await asked.answered(`answer of ${asked.revival}`);
      expect(findRun(run)).not.toEqual([]);
      for (const pid of all) process.kill(pid, 'SIGCONT');
      await scene.until('the end of its run', () => findRun(run).length === 0);
      await scene.until('its return', () => one.bridge.stderr.includes('the bridge of two is back'));
      const later = new Conversation(scene, 'ship', 1, 'another one');
      await later.answered(`answer of ${later.session}`);
      expect(await scene.store.records.session(later.session)).toMatchObject({ run: { owner: { host: 'two' } } });
      expect(startsOf(scene)).toEqual([asked.session, asked.revival, later.session]);
      expect(answersIn(scene)).toHaveLength(2);
      expect(scene.github.issues()).toHaveLength(1);
      const events = () => [one, two].flatMap((host) => eventsAbout(host, asked));
      await scene.until('the end of its incident', () => events().some(({ final }) => final));
      // Where the stand-in was relieved between a line and its commit, the line stands in both files, with one id.
      const steps = new Map(events().map((event) => [event.id, stepOf(event)]));
      expect([...steps.values()].sort()).toEqual(['closed', 'detected', 'reported', 'revived']);
    },
    SCENE_TIMEOUT_MS,
  );
});
