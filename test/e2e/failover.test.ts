/**
 * A Redis that is followed by one that does not know its last moment: what was accepted in that moment is lost, and nothing
 * that runs is run a second time.
 */
import { expect, test } from '@jest/globals';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import { childrenOf, findRun } from './processScan.js';
import type { Program } from './program.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const work = (times: number): Scenario['steps'] => [
  { do: 'repeat', times, steps: [{ do: 'call', tool: 'bash', input: { step: '{{index}}' }, takes_ms: 250 }] },
  { do: 'answer', text: 'answer of {{session}}' },
];
const HANG: Scenario['steps'] = [
  { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough' },
  { do: 'hanging_tool', own_session: true, ignores_sigterm: true },
];

describeScenes('a failover that forgets an end and a start', () => {
  // rule: a-second-attempt-survives-a-failover
  test(
    'ends no run and starts none again: the new primary gets both from the bridge, each is answered once',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: {
            chats: [{ id: 1 }],
            scenarios: [{ when: { message: '^short' }, steps: work(4) }, { steps: work(40) }],
          },
        },
        timings: { runLeaseMs: 6_000 },
      });
      const bridge = await scene.startBridge();
      const { ended, running } = await forgetEndAndBeginning(scene);
      await ended.answered(`answer of ${ended.session}`);
      const { run } = await running.start();
      await scene.redis.failOver();
      expect(await scene.store.records.session(running.session)).toMatchObject({ session_id: running.session });
      await scene.until('the run in the new primary', async () => {
        const found = await scene.store.records.session(running.session);
        return found?.status === 'active' && found.run?.run_id === run;
      });
      await running.answered(`answer of ${running.session}`);
      for (const asked of [ended, running]) {
        expect(asked.starts()).toHaveLength(1);
        expect(asked.repliesWith('answer of')).toHaveLength(1);
        await scene.until('an end in the new primary', async () => {
          const found = await scene.store.records.session(asked.session);
          return found?.status === 'completed' && found.request.delivery === 'sent';
        });
      }
      expect(scene.evidence.faults()).toEqual([]);
      expect(await bridge.stop()).toMatchObject({ code: 0 });
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-lane-is-swept-first
  test(
    'and kills bridge and reaper: nothing starts before the agent unknown to the new primary is ended',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: {
            chats: [{ id: 1 }],
            scenarios: [
              { when: { message: '^short', attempt: 1 }, steps: work(4) },
              { when: { message: '^long' }, steps: HANG },
              { steps: work(1) },
            ],
          },
        },
      });
      const bridge = await scene.startBridge();
      const { ended, running } = await forgetEndAndBeginning(scene);
      const { run } = await running.start();
      await scene.until('the tool', () => findRun(run).length === 2);
      await killWithReaper(bridge);
      expect(findRun(run)).not.toEqual([]);
      await scene.redis.failOver();
      const successor = await scene.startBridge();
      await scene.until('another run', () => running.starts().length === 2);
      expect(findRun(run)).toEqual([]);
      // Its journal knows its answer.
      expect(ended.starts(ended.revival)).toEqual([]);
      await successor.says('agents of a run that the store does not know work in');
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a failover that forgets that a second attempt was granted', () => {
  // rule: a-second-attempt-survives-a-failover
  test(
    'grants no other one: its run continues, its answer stays, and each message has one end',
    async () => {
      const scene = await openTestScene({
        concurrency: 2,
        projects: {
          ship: {
            chats: [
              { id: 1, directory: 'one' },
              { id: 2, directory: 'two' },
            ],
            scenarios: [
              { when: { attempt: 1 }, steps: [...work(6).slice(0, 1), { do: 'exit', code: 1 }] },
              { when: { message: '^short' }, steps: work(1) },
              { steps: work(32) },
            ],
          },
        },
        timings: { runLeaseMs: 6_000 },
      });
      const bridge = await scene.startBridge();
      const done = new Conversation(scene, 'ship', 1, 'short work');
      const running = new Conversation(scene, 'ship', 2, 'long work');
      const all = [done, running];
      const found = (id: string) => scene.store.records.session(id);
      await scene.until('two runs that the store knows', async () => {
        const known = await Promise.all(all.map(({ session }) => found(session)));
        return known.every((session) => session?.status === 'active' && session.request.progress_message_id !== null);
      });
      scene.redis.keepCopy();
      await done.answered(`answer of ${done.revival}`);
      await running.start(running.revival);
      await scene.redis.failOver();
      await running.answered(`answer of ${running.revival}`, 40_000);
      for (const asked of all) {
        await scene.until('an end in the new primary', async () => {
          const [first, second] = await Promise.all([found(asked.session), found(asked.revival)]);
          return (
            first?.revived_by === asked.revival && second?.status === 'completed' && second.request.delivery === 'sent'
          );
        });
        await scene.until('the last line', () => asked.repliesWith('Done in').length === 1);
        expect(asked.starts()).toHaveLength(1);
        expect(asked.starts(asked.revival)).toHaveLength(1);
        expect(asked.replies()).toHaveLength(2);
        expect(asked.repliesWith('answer of')).toHaveLength(1);
      }
      expect(await bridge.stop()).toMatchObject({ code: 0 });
      const events = scene.evidence.criticalEvents();
      const forgot = events.filter(({ event }) => event === 'store_forgot');
      expect(forgot.flatMap(({ details }) => details?.sessions).sort()).toEqual(
        all.map(({ revival }) => revival).sort(),
      );
      for (const { session } of all) {
        const detected = events.filter(
          ({ session_id, action_taken }) => session_id === session && action_taken === 'detected',
        );
        expect(detected).toHaveLength(1);
      }
    },
    2 * SCENE_TIMEOUT_MS,
  );
});

describeScenes('a host that dies while its Redis forgets the last second', () => {
  // rule: an-answer-on-the-disk-counts
  test(
    'does not rerun or fail what was answered in that second: the journals know, and each message has one final',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: {
            chats: [{ id: 1 }],
            scenarios: [{ when: { message: '^short' }, steps: work(4) }, { steps: work(8) }],
          },
        },
      });
      const bridge = await scene.startBridge();
      const { ended, running } = await forgetEndAndBeginning(scene);
      for (const asked of [ended, running]) {
        await asked.answered(`answer of ${asked.session}`);
        await scene.until('a delivered answer', async () => {
          return (await scene.store.records.session(asked.session))?.request.delivery === 'sent';
        });
      }
      await killWithReaper(bridge);
      await scene.redis.failOver();
      const statusOf = async ({ session }: Conversation) => (await scene.store.records.session(session))?.status;
      expect([await statusOf(ended), await statusOf(running)]).toEqual(['active', 'pending']);
      const successor = await scene.startBridge();
      for (const asked of [ended, running]) {
        await scene.until('an end in the store', async () => {
          const found = await scene.store.records.session(asked.session);
          return found?.status === 'completed' && found.request.delivery === 'sent';
        });
        expect(asked.starts()).toHaveLength(1);
        expect(asked.starts(asked.revival)).toEqual([]);
        expect(asked.repliesWith('answer of')).toHaveLength(1);
        expect(asked.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
      }
      expect(scene.evidence.faults()).toEqual([]);
      await successor.says('its journal has an answer that Redis does not have; it may be in the chat already');
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a host that dies in the second in which it announced how messages ended', () => {
  // rule: a-reported-end-is-the-only-end
  test(
    'runs none of them again: a failure or cancellation shown in the chat stays the only end, also in the store',
    async () => {
      const breaks: Scenario['steps'] = [...work(6).slice(0, 1), { do: 'exit', code: 1 }];
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], scenarios: [{ when: { message: '^breaks' }, steps: breaks }] } },
      });
      const bridge = await scene.startBridge();
      const failed = new Conversation(scene, 'ship', 1, 'breaks twice');
      await failed.start(failed.revival);
      const cancelled = new Conversation(scene, 'ship', 1, 'waits for its turn');
      await scene.until('a message that waits', async () =>
        (await scene.store.records.sessionIds('pending')).includes(cancelled.session),
      );
      await failed.firstCall(failed.revival);
      scene.redis.keepCopy();
      scene.telegram.say(1, '/cancel', { replyTo: cancelled.messageId });
      await cancelled.answered('Cancelled');
      await failed.answered(FAILURE_PARAGRAPH);
      for (const id of [failed.revival, cancelled.session]) {
        await scene.until(
          'a delivered end',
          async () => (await scene.store.records.session(id))?.request.delivery === 'sent',
        );
      }
      const before = [failed, cancelled].map((asked) => asked.replies().length);
      await killWithReaper(bridge);
      await scene.redis.failOver();
      const found = (id: string) => scene.store.records.session(id);
      expect([(await found(failed.revival))?.status, (await found(cancelled.session))?.status]).toEqual([
        'active',
        'pending',
      ]);
      const successor = await scene.startBridge();
      await scene.until('both ends in the store', async () => {
        const [first, second] = await Promise.all([found(failed.revival), found(cancelled.session)]);
        return first?.status === 'failed' && second?.status === 'cancelled' && second.request.delivery === 'sent';
      });
      await scene.until(
        'the failure is closed',
        async () => (await found(failed.revival))?.request.delivery === 'sent',
      );
      expect(failed.starts(failed.revival)).toHaveLength(1);
      expect(cancelled.starts()).toEqual([]);
      expect(failed.repliesWith(FAILURE_PARAGRAPH)).toHaveLength(1);
      expect([failed, cancelled].map((asked) => asked.replies().length)).toEqual(before);
      await successor.says('its chat was notified of its end, but Redis has lost that');
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-failover-sends-nothing-twice
  test(
    'sends nothing twice if a send was under way: an edit brings the answer',
    async () => {
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], scenarios: [{ steps: work(4) }] } },
      });
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'work');
      await asked.firstCall();
      scene.redis.keepCopy();
      const hang = scene.telegram.inject({
        kind: 'hang',
        method: 'sendMessage',
        match: (parameters) => parameters.text('text').startsWith('answer of'),
      });
      await scene.until('a send', () => hang.used === 1);
      await killWithReaper(bridge);
      await scene.redis.failOver();
      expect(await scene.store.records.session(asked.session)).toMatchObject({ status: 'active', answer: null });
      await scene.startBridge();
      await asked.answered(`answer of ${asked.session}`);
      await scene.until('a delivered answer', async () => {
        return (await scene.store.records.session(asked.session))?.request.delivery === 'sent';
      });
      const calls = scene.telegram.calls.filter(({ parameters }) => String(parameters.text).startsWith('answer of'));
      expect(calls.map(({ method }) => method)).toEqual(['sendMessage', 'editMessageText']);
      expect(asked.starts()).toHaveLength(1);
    },
    SCENE_TIMEOUT_MS,
  );
});

/**
 * @returns two messages of one lane, of which a copy of the store knows that one runs and the other waits; meanwhile the
 *   first has ended, and the other one runs
 */
async function forgetEndAndBeginning(scene: BridgeScene): Promise<{ ended: Conversation; running: Conversation }> {
  const ended = new Conversation(scene, 'ship', 1, 'short work');
  await ended.start();
  const running = new Conversation(scene, 'ship', 1, 'long work');
  await scene.until('a message that waits', async () =>
    (await scene.store.records.sessionIds('pending')).includes(running.session),
  );
  expect((await scene.store.records.session(ended.session))?.status).toBe('active');
  scene.redis.keepCopy();
  await running.start();
  return { ended, running };
}

/** As the kernel does it to a whole service. */
async function killWithReaper(bridge: Program): Promise<void> {
  bridge.signal('SIGSTOP');
  for (const { pid, command } of childrenOf(bridge.pid)) {
    if (command.includes('reaperMain')) process.kill(pid, 'SIGKILL');
  }
  await bridge.kill();
}
