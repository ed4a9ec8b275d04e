/**
 * A bridge is killed with SIGKILL while its agent works, after its first call: when does the message run again?
 *
 * Measured: with the timings that hold by default, from the start of the next bridge on the host, which comes at once, to
 * the first sign of the second agent; and how long a process of the killed bridge's run is left.
 * Yardstick: BullMQ's own recovery of a stalled job with its defaults, its worker killed and started again in the same way.
 * Target: at most 5 s.
 */
import { Queue } from 'bullmq';
import { timings } from '../src/config/settings.js';
import { compiledProgram } from '../src/host/program.js';
import { closeRedis, openRedis } from '../src/redis/connect.js';
import { SECOND, systemClock } from '../src/time.js';
import { type BridgeScene, openScene } from '../test/e2e/bridgeScene.js';
import { eventually } from '../test/e2e/eventually.js';
import { findRun } from '../test/e2e/processScan.js';
import { Program } from '../test/e2e/program.js';
import { rounded, say, sayTarget } from './report.js';
import { type Figure, figureOf } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const ROUNDS = 7;
const BARE_ROUNDS = 2;
const MOST_SECONDS = 5;
const CHAT = 1;
const WITHIN_MS = 60 * SECOND;
/** A lock lasts 30 s, and stalled jobs are looked for every 30 s. */
const BARE_WITHIN_MS = 100 * SECOND;

await inScratchFolder(async (folder) => {
  const work = { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough', takes_ms: 10 } as const;
  const scenarios = [
    { when: { attempt: 2 as const }, steps: [work, { do: 'answer', text: 'done' } as const] },
    { steps: [work, { do: 'silence' } as const] },
  ];
  const projects = { ship: { chats: [{ id: CHAT }], scenarios } };
  const scene = await openScene({ folder, redis: 'scene', projects, timings: timings.parse({}) });
  try {
    say(`recovery: a bridge killed under its agent, ${ROUNDS} times; BullMQ's worker, ${BARE_ROUNDS} times`);
    await measureOurs(scene);
    await measureBare(scene);
  } finally {
    await scene.stop();
  }
});

async function measureOurs(scene: BridgeScene): Promise<void> {
  const left: number[] = [];
  const again: number[] = [];
  let bridge = await scene.startBridge();
  for (let round = 0; round < ROUNDS; round += 1) {
    const message = scene.telegram.say(CHAT, 'look into it');
    const session = `tg_ship_${CHAT}_${message}`;
    const started = (name: string) => () =>
      scene.evidence.agents().find((record) => record.session === name && record.event === 'start');
    const first = await scene.until('the first agent', started(session), WITHIN_MS);
    // Without a call the attempt has not begun: the message would wait again, not get a second attempt.
    const hasCalled = () => scene.evidence.journal(session).some(({ event }) => event === 'pre_tool_use');
    await scene.until('its first call', hasCalled, WITHIN_MS);
    await bridge.kill();
    const killedAt = systemClock.now();
    const successor = scene.startBridge();
    await scene.until('the end of its run', () => findRun(first.run).length === 0, WITHIN_MS);
    left.push((systemClock.now() - killedAt) / SECOND);
    const second = await scene.until('the second agent', started(`${session}_r1`), WITHIN_MS);
    again.push((second.at - killedAt) / SECOND);
    bridge = await successor;
    const answered = () =>
      scene.telegram.botMessages(CHAT).some((seen) => seen.replyTo === message && /done/.test(seen.text));
    await scene.until('the answer', answered, WITHIN_MS);
  }
  say(`  a process of the killed bridge's run is left for ${seconds(figureOf(left))}`);
  say(`  the message runs again after ${seconds(figureOf(again))}`);
  sayTarget({ what: 'the slowest of them', value: figureOf(again).most, atMost: MOST_SECONDS, unit: ' s' });
}

async function measureBare(scene: BridgeScene): Promise<void> {
  const connection = openRedis(scene.redis.url, { purpose: 'commands', clock: systemClock });
  await connection.connect();
  const queue = new Queue('bare', { connection });
  const again: number[] = [];
  const start = () =>
    new Program(process.execPath, [compiledProgram('bench/bareWorkerMain')], {
      workingDirectory: scene.folder,
      environment: { REDIS_URL: scene.redis.url },
    });
  try {
    for (let round = 0; round < BARE_ROUNDS; round += 1) {
      const taken = (worker: Program, withinMs: number) =>
        eventually(() => worker.stdout.includes('taken'), { what: 'a taken job', withinMs });
      const worker = start();
      await queue.add('message', {}, { removeOnComplete: true });
      await taken(worker, WITHIN_MS);
      await worker.kill();
      const killedAt = systemClock.now();
      const successor = start();
      await taken(successor, BARE_WITHIN_MS);
      again.push((systemClock.now() - killedAt) / SECOND);
      await successor.kill();
      await queue.obliterate({ force: true });
    }
  } finally {
    await queue.close();
    closeRedis(connection);
  }
  say(`  BullMQ's own recovery: the job is taken again after ${seconds(figureOf(again))}`);
}

function seconds({ median, least, most }: Figure): string {
  return `${rounded(median)} s (${rounded(least)}–${rounded(most)})`;
}
