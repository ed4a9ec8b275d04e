/** A Redis that loses everything, and with it the only bridge that knew what was in it. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findEmbeddedRedis } from '../../bridge/redis/endpoint.js';
import { journalPath } from '../../src/journal/path.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import { childrenOf, findRun } from './processScan.js';
import type { Program } from './program.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const ANSWER = { do: 'answer', text: 'answer of {{session}}' } as const;
const call = (takes_ms: number) => ({ do: 'call', tool: 'bash', input: { step: 'one' }, takes_ms }) as const;
const SCENARIOS: Scenario[] = [
  { when: { message: '^short' }, steps: [call(20), ANSWER] },
  { when: { message: '^answers soon' }, steps: [{ do: 'sleep', ms: 3_000 }, ANSWER] },
  { steps: [call(20), call(600_000), ANSWER] },
];
const LOST = 'My database lost its record of this message';
/** What a progress message shows while the agent works. */
const WORKING = /^(Working|Thinking|[^\n]* · \d)/;

interface Asked {
  readonly answered: Conversation;
  readonly running: Conversation;
  readonly waiting: Conversation;
  readonly onDisk: Conversation;
}

describeScenes('a Redis that loses everything together with its bridge', () => {
  // rule: a-lost-redis-and-bridge-cost-no-end
  test(
    'FLUSHALL: each open message has one end, an answer on disk is delivered, one event names them, nothing runs again',
    async () => {
      const scene = await openTestScene({ concurrency: 4, projects: projects(), timings: { runLeaseMs: 60_000 } });
      const bridge = await scene.startBridge();
      let order = '';
      const asked = await ask(scene, async () => {
        const words = ['--project', 'fleet', '--chat', '1', '--text', 'short, by command', '--json'];
        order = JSON.parse((await scene.run(['enqueue', ...words])).stdout).session_id;
      });
      await scene.redis.stop();
      await untilOnDisk(scene, asked.onDisk);
      await killBoth(bridge);
      await scene.redis.start();
      await scene.redis.ask('FLUSHALL');

      const second = await scene.startBridge();
      await expectEnds(scene, asked, [order]);
      await scene.until('an end for the order', () => ordersEnds(scene).length > 0);
      await untilDelivered(
        scene,
        [asked.running, asked.waiting, asked.onDisk].map(({ session }) => session).concat(order),
      );
      expect(await second.stop()).toMatchObject({ code: 0 });
      // What has its end is told nothing more, whatever is lost next.
      await scene.redis.ask('FLUSHALL');
      const third = await scene.startBridge();
      expect(await third.stop()).toMatchObject({ code: 0 });
      await expectEnds(scene, asked, [order]);
      expect(ordersEnds(scene)).toHaveLength(1);
    },
    2 * SCENE_TIMEOUT_MS,
  );

  // rule: a-lost-redis-and-bridge-cost-no-end
  test(
    "the same if the data of the bridge's own Redis is deleted",
    async () => {
      const scene = await openTestScene({
        redis: 'bridge',
        concurrency: 4,
        projects: projects(),
        timings: { runLeaseMs: 60_000 },
      });
      const bridge = await scene.startBridge();
      const asked = await ask(scene);
      const { pid } = findEmbeddedRedis(scene.logs).server;
      process.kill(pid, 'SIGSTOP');
      await untilOnDisk(scene, asked.onDisk);
      await killBoth(bridge);
      process.kill(pid, 'SIGKILL');
      await scene.until(
        'the end of Redis',
        () => !existsSync(`/proc/${pid}/environ`) || readFileSync(`/proc/${pid}/cmdline`).length === 0,
      );
      rmSync(join(scene.logs, 'redis'), { recursive: true });

      const second = await scene.startBridge();
      await expectEnds(scene, asked, []);
      expect(await second.stop()).toMatchObject({ code: 0 });
    },
    2 * SCENE_TIMEOUT_MS,
  );

  // rule: a-lost-redis-and-bridge-cost-no-end
  test(
    'killed while it gives the first end: the next start continues, and no chat reads an end twice',
    async () => {
      const scene = await openTestScene({ concurrency: 4, projects: projects(), timings: { runLeaseMs: 60_000 } });
      const bridge = await scene.startBridge();
      const asked = await ask(scene);
      await scene.redis.stop();
      await untilOnDisk(scene, asked.onDisk);
      await killBoth(bridge);
      await scene.redis.start();
      await scene.redis.ask('FLUSHALL');
      for (const where of ['before', 'after']) {
        const killed = scene.start(['bridge'], { WATCHKEEPER_FAILPOINT: `commit.regain.${where}:kill` });
        expect((await killed.exited).signal).toBe('SIGKILL');
      }
      await scene.startBridge();
      await expectOneEnd(scene, asked);
      const named = forgot(scene).flatMap(({ details }) => details?.sessions as string[]);
      const open = [asked.running, asked.waiting, asked.onDisk].map(({ session }) => session);
      expect([...new Set(named)].sort()).toEqual(open.sort());
    },
    2 * SCENE_TIMEOUT_MS,
  );

  // rule: a-lost-redis-and-bridge-cost-no-end
  test(
    'a start over another Redis reports nothing; nor does a start after a kill beside a Redis that has its data',
    async () => {
      const scene = await openTestScene({ concurrency: 4, projects: projects() });
      const bridge = await scene.startBridge();
      const waits = new Conversation(scene, 'fleet', 1, 'works for long');
      await waits.firstCall();
      await bridge.kill();
      const elsewhere = { REDIS_URL: `${scene.redis.url}?db=1` };
      const over = await scene.startBridge(elsewhere);
      expect(await over.stop()).toMatchObject({ code: 0 });
      expect(waits.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
      const again = await scene.startBridge();
      await waits.start(waits.revival);
      expect(await again.stop()).toMatchObject({ code: 0 });
      expect(forgot(scene)).toEqual([]);
      expect(waits.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
    },
    2 * SCENE_TIMEOUT_MS,
  );
});

function projects() {
  const chats = [1, 2, 3].map((id) => ({ id, directory: `lane${id}` }));
  return { fleet: { chats, scenarios: SCENARIOS } };
}

/** @param before called before the last message is asked, whose answer comes soon */
async function ask(scene: BridgeScene, before = async (): Promise<void> => undefined): Promise<Asked> {
  const answered = new Conversation(scene, 'fleet', 3, 'short, answered before');
  await answered.answered(`answer of ${answered.session}`);
  const running = new Conversation(scene, 'fleet', 1, 'works for long');
  await running.firstCall();
  const waiting = new Conversation(scene, 'fleet', 1, 'short, behind it');
  await scene.until('a progress message', () => running.replies().length > 0);
  await before();
  const onDisk = new Conversation(scene, 'fleet', 2, 'answers soon');
  await onDisk.start();
  await scene.until('accepted messages', () => scene.telegram.unconfirmedUpdates === 0);
  return { answered, running, waiting, onDisk };
}

async function untilOnDisk(scene: BridgeScene, { session }: Conversation): Promise<void> {
  const unsent = join(dirname(journalPath(scene.logs, session)), 'unsent');
  // The file proves something only once it names the boot.
  await scene.until('an answer that waits for Redis', () => existsSync(unsent) && readFileSync(unsent).length > 0);
}

/** As the kernel does it to a whole service. */
async function killBoth(bridge: Program): Promise<void> {
  bridge.signal('SIGSTOP');
  const reapers = childrenOf(bridge.pid).filter(({ command }) => command.includes('reaperMain'));
  expect(reapers).toHaveLength(1);
  for (const { pid } of reapers) process.kill(pid, 'SIGKILL');
  await bridge.kill();
}

async function expectEnds(scene: BridgeScene, asked: Asked, others: readonly string[]): Promise<void> {
  await expectOneEnd(scene, asked);
  const { running, waiting, onDisk } = asked;
  expect(forgot(scene)).toHaveLength(1);
  const named = forgot(scene)[0]?.details?.sessions as string[];
  expect([...named].sort()).toEqual(
    [running, waiting, onDisk]
      .map(({ session }) => session)
      .concat(others)
      .sort(),
  );
  expect(readRegister(scene)).not.toContain('behind it');
}

async function expectOneEnd(scene: BridgeScene, asked: Asked): Promise<void> {
  const { answered, running, waiting, onDisk } = asked;
  await onDisk.answered(`answer of ${onDisk.session}`);
  for (const lost of [running, waiting]) await lost.answered(LOST);
  const [run] = running.starts();
  expect(findRun(run?.run ?? '')).toEqual([]);
  for (const lost of [running, waiting]) {
    expect(lost.repliesWith(FAILURE_PARAGRAPH)).toHaveLength(1);
    expect(lost.repliesWith('answer of')).toEqual([]);
  }
  for (const done of [answered, onDisk]) {
    expect(done.repliesWith('answer of')).toHaveLength(1);
    expect(done.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
  }
  const all = [answered, running, waiting, onDisk];
  await scene.until('the end of every progress line', () =>
    all.flatMap((each) => each.replies()).every(({ text }) => !WORKING.test(text)),
  );
  expect(all.map((each) => [each.starts().length, each.starts(each.revival).length])).toEqual([
    [1, 0],
    [1, 0],
    [0, 0],
    [1, 0],
  ]);
}

/** A person reads a message before its bridge knows that it arrived. */
async function untilDelivered(scene: BridgeScene, sessions: readonly string[]): Promise<void> {
  const isSent = async (id: string) => (await scene.store.records.session(id))?.request.delivery === 'sent';
  await scene.until('ends that are noted as delivered', async () =>
    (await Promise.all(sessions.map(isSent))).every((isDone) => isDone),
  );
}

/** The order has no message in its chat that a reply could name. */
function ordersEnds(scene: BridgeScene) {
  return scene.telegram.botMessages(1).filter(({ text, replyTo }) => text.includes(LOST) && replyTo === null);
}

function forgot(scene: BridgeScene) {
  return scene.evidence.criticalEvents().filter(({ event }) => event === 'store_forgot');
}

function readRegister(scene: BridgeScene): string {
  const folder = join(scene.logs, 'accepted');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}
