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

const work = (times: number, takes_ms = 250): Scenario['steps'] => [
  { do: 'repeat', times, steps: [{ do: 'call', tool: 'bash', input: { step: '{{index}}' }, takes_ms }] },
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
            scenarios: [{ when: { message: '^short' }, steps: work(4) }, { steps: work(10, 1_000) }],
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
              { steps: work(8, 1_000) },
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
  // rule: a-reported-end-is-the-only-end
  // rule: a-failover-sends-nothing-twice
  test(
    'does not rerun or fail what was answered in that second; a failure or cancellation shown in the chat stays the only end; an edit brings an answer whose send was under way',
    async () => {
      const slowly = { do: 'sleep', ms: 6_000 } as const;
      const directories = ['one', 'two', 'three', 'four'];
      const scene = await openTestScene({
        projects: {
          ship: {
            chats: directories.map((directory, index) => ({ id: index + 1, directory })),
            scenarios: [
              { when: { message: '^breaks', attempt: 1 }, steps: [...work(1).slice(0, 1), { do: 'exit', code: 1 }] },
              { when: { message: '^breaks' }, steps: [...work(1).slice(0, 1), slowly, { do: 'exit', code: 1 }] },
              { when: { message: '^short' }, steps: work(10) },
              { when: { message: '^sends' }, steps: [...work(1).slice(0, 1), slowly, ...work(1).slice(1)] },
              { steps: work(4) },
            ],
          },
        },
      });
      const hang = scene.telegram.inject({
        kind: 'hang',
        method: 'sendMessage',
        match: (parameters) => /^answer of tg_ship_3_/.test(parameters.text('text')),
      });
      const found = (id: string) => scene.store.records.session(id);
      const untilSent = (id: string) =>
        scene.until('a delivered end', async () => (await found(id))?.request.delivery === 'sent');
      const bridge = await scene.startBridge();
      const failed = new Conversation(scene, 'ship', 2, 'breaks twice');
      await failed.start(failed.revival);
      const cancelled = new Conversation(scene, 'ship', 2, 'waits for its turn');
      const sending = new Conversation(scene, 'ship', 3, 'sends its answer');
      await Promise.all([failed.firstCall(failed.revival), sending.firstCall()]);
      await scene.until('a message that waits', async () =>
        (await scene.store.records.sessionIds('pending')).includes(cancelled.session),
      );
      // The copy of the store is made here: it knows none of the ends.
      const { ended, running } = await forgetEndAndBeginning(scene);
      scene.telegram.say(2, '/cancel', { replyTo: cancelled.messageId });
      await cancelled.answered('Cancelled');
      await failed.answered(FAILURE_PARAGRAPH);
      for (const asked of [ended, running]) await asked.answered(`answer of ${asked.session}`);
      for (const id of [ended.session, running.session, failed.revival, cancelled.session]) await untilSent(id);
      await scene.until('a send', () => hang.used === 1);
      const before = [failed, cancelled].map((asked) => asked.replies().length);

      await killWithReaper(bridge);
      await scene.redis.failOver();
      const statusOf = async (id: string) => (await found(id))?.status;
      const forgotten = [ended.session, running.session, failed.revival, cancelled.session, sending.session];
      expect(await Promise.all(forgotten.map(statusOf))).toEqual(['active', 'pending', 'active', 'pending', 'active']);
      expect(await found(sending.session)).toMatchObject({ answer: null });
      const successor = await scene.startBridge();

      for (const asked of [ended, running, sending]) {
        await scene.until('an end in the store', async () => {
          const session = await found(asked.session);
          return session?.status === 'completed' && session.request.delivery === 'sent';
        });
        expect(asked.starts()).toHaveLength(1);
        expect(asked.starts(asked.revival)).toEqual([]);
        expect(asked.repliesWith('answer of')).toHaveLength(1);
        expect(asked.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
        expect(asked.events()).toEqual([]);
      }
      await successor.says('its journal has an answer that Redis does not have; it may be in the chat already');
      const calls = scene.telegram.calls.filter(({ parameters }) =>
        String(parameters.text).startsWith(`answer of ${sending.session}`),
      );
      expect(calls.map(({ method }) => method)).toEqual(['sendMessage', 'editMessageText']);

      await scene.until(
        'both ends in the store',
        async () =>
          (await statusOf(failed.revival)) === 'failed' && (await statusOf(cancelled.session)) === 'cancelled',
      );
      for (const id of [failed.revival, cancelled.session]) await untilSent(id);
      expect(failed.starts(failed.revival)).toHaveLength(1);
      expect(cancelled.starts()).toEqual([]);
      expect(failed.repliesWith(FAILURE_PARAGRAPH)).toHaveLength(1);
      expect([failed, cancelled].map((asked) => asked.replies().length)).toEqual(before);
      await successor.says('its chat was notified of its end, but Redis has lost that');
      const accused = scene.evidence.faults().filter(({ session_id }) => !session_id?.startsWith(failed.session));
      expect(accused).toEqual([]);
    },
    2 * SCENE_TIMEOUT_MS,
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
