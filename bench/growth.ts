/**
 * What a job leaves behind: bytes in Redis and on the disk, so that an operator can tell how much thirty days of them take.
 *
 * Measured: a bridge with the scripted agent answers messages of ten calls, each with a result of 1 KiB; first some that warm
 * everything up, then those that count. Redis by its `used_memory`, the disk by the sizes of what is in the logs folder.
 * Target: at most 6 KiB in Redis and 24 KiB on the disk per job; the bridge's log counts in full, though it is rotated.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SECOND } from '../src/time.js';
import { type BridgeScene, openScene } from '../test/e2e/bridgeScene.js';
import { Conversation } from '../test/e2e/conversation.js';
import { rounded, say, sayTarget } from './report.js';
import { inScratchFolder } from './scratch.js';

const WARM_UP_JOBS = 10;
const JOBS = 60;
const CALLS = 10;
const KIBIBYTE = 1024;
const MOST_REDIS_KIB = 6;
const MOST_DISK_KIB = 24;
const CHATS = [1, 2, 3, 4];
const WITHIN_MS = 180 * SECOND;

interface Sizes {
  readonly redis: number;
  /** By entry of the logs folder, in bytes. */
  readonly disk: ReadonlyMap<string, number>;
}

await inScratchFolder(async (folder) => {
  const call = {
    do: 'call',
    tool: 'read',
    input: { path: 'notes' },
    output: 'x'.repeat(KIBIBYTE),
    takes_ms: 1,
  } as const;
  const steps = [...Array.from({ length: CALLS }, () => call), { do: 'answer', text: 'done' } as const];
  const chats = CHATS.map((id) => ({ id, directory: `yard-${id}` }));
  const scene = await openScene({ folder, redis: 'scene', projects: { yard: { chats, scenarios: [{ steps }] } } });
  try {
    say(`growth: ${JOBS} jobs of ${CALLS} calls with results of 1 KiB`);
    await scene.startBridge();
    await answerAll(scene, WARM_UP_JOBS);
    const before = await sizesOf(scene);
    await answerAll(scene, JOBS);
    report(before, await sizesOf(scene));
  } finally {
    await scene.stop();
  }
});

async function answerAll(scene: BridgeScene, count: number): Promise<void> {
  const jobs = Array.from({ length: count }, (_, index) => {
    return new Conversation(scene, 'yard', CHATS[index % CHATS.length] ?? 1, 'look into it');
  });
  for (const job of jobs) await job.answered('done', WITHIN_MS);
  // The records of answers on their way go with the confirmation.
  await scene.until('nothing on its way', async () => (await scene.store.records.sessionIds('active')).length === 0);
}

async function sizesOf(scene: BridgeScene): Promise<Sizes> {
  const memory = await scene.store.redis.info('memory');
  const redis = Number(/^used_memory:(\d+)/m.exec(memory)?.[1]);
  return { redis, disk: new Map(readdirSync(scene.logs).map((name) => [name, sizeOf(join(scene.logs, name))])) };
}

function sizeOf(path: string): number {
  const found = lstatSync(path);
  if (found.isFile()) return found.size;
  return found.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0) : 0;
}

function report(before: Sizes, after: Sizes): void {
  const perJob = (bytes: number) => bytes / JOBS / KIBIBYTE;
  const parts = [...after.disk].map(([name, bytes]) => ({ name, kib: perJob(bytes - (before.disk.get(name) ?? 0)) }));
  const grown = parts.filter(({ kib }) => kib > 0).sort((a, b) => b.kib - a.kib);
  for (const { name, kib } of grown) say(`  ${name}: ${rounded(kib)} KiB per job`);
  const disk = grown.reduce((sum, { kib }) => sum + kib, 0);
  const redis = perJob(after.redis - before.redis);
  sayTarget({ what: 'Redis per job', value: redis, atMost: MOST_REDIS_KIB, unit: ' KiB' });
  sayTarget({ what: 'disk per job', value: disk, atMost: MOST_DISK_KIB, unit: ' KiB' });
}
