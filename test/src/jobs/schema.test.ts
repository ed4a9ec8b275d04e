/** The version of the records that a Redis holds, and who may read them. */
import { expect, test } from '@jest/globals';
import { UsageError } from '../../../src/errors.js';
import { claimSchema, readSchema, requireReadable, SCHEMA } from '../../../src/jobs/schema.js';
import { openStore } from '../../../src/jobs/store.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../../e2e/testScene.js';
import { ManualClock } from '../../harness/clock.js';
import { describeWithRedis, openTestRedis } from '../../harness/redis.js';

const NEXT = { version: 2, leastReader: 1 };
const LEAP = { version: 3, leastReader: 3 };

describeWithRedis('the schema of a Redis', () => {
  test('is written by the first writer, raised by a newer one, and never lowered by an older one that may read it', async () => {
    const { redis, prefix } = await openTestRedis();
    const { keys } = openStore(redis, new ManualClock(), prefix);
    await requireReadable(redis, keys);
    expect(await readSchema(redis, keys)).toBeNull();
    await claimSchema(redis, keys);
    expect(await readSchema(redis, keys)).toEqual(SCHEMA);
    await claimSchema(redis, keys, NEXT);
    await claimSchema(redis, keys);
    expect(await readSchema(redis, keys)).toEqual(NEXT);
  });

  test('that is beyond this version is refused with an explanation, and stays', async () => {
    const { redis, prefix } = await openTestRedis();
    const { keys } = openStore(redis, new ManualClock(), prefix);
    await claimSchema(redis, keys, LEAP);
    await expect(claimSchema(redis, keys)).rejects.toThrow(UsageError);
    await expect(requireReadable(redis, keys)).rejects.toThrow(
      /newer Watchkeeper.*schema 3.*schema 1.*docs\/upgrade\.md/,
    );
    expect(await readSchema(redis, keys)).toEqual(LEAP);
  });

  test('that cannot be read is refused', async () => {
    const { redis, prefix } = await openTestRedis();
    const { keys } = openStore(redis, new ManualClock(), prefix);
    for (const text of ['2', '{', '{"version":0,"least_reader":1}', '{"version":"2","least_reader":"1"}']) {
      await redis.set(keys.schema, text);
      await expect(requireReadable(redis, keys)).rejects.toThrow(/cannot be read/);
    }
  });
});

describeScenes('a Redis that a newer version wrote', () => {
  // rule: a-newer-schema-is-not-touched
  test(
    'is touched by no process: bridge, standby and commands exit with code 2, and the doctor reports a fault',
    async () => {
      const scene = await openTestScene({ projects: { boat: { chats: [{ id: 1 }] } } });
      const { redis, keys } = scene.store;
      await redis.set(keys.schema, JSON.stringify({ version: 9, least_reader: 9 }));
      const before = await redis.keys('*');
      for (const args of [
        ['bridge'],
        ['watchdog'],
        ['watchdog', '--once'],
        ['sessions'],
        ['enqueue', '--project', 'boat', '--text', 'hello'],
      ]) {
        const command = await scene.run(args);
        expect([args, command.exit?.code]).toEqual([args, 2]);
        expect(command.stderr).toMatch(/newer Watchkeeper wrote the records.*schema 9/);
      }
      expect(await redis.keys('*')).toEqual(before);
      const doctor = await scene.run(['doctor', '--quick', '--json']);
      expect(JSON.parse(doctor.stdout).checks).toContainEqual(
        expect.objectContaining({ name: 'schema', verdict: 'fault' }),
      );
      await redis.del(keys.schema);
      await scene.startBridge();
      expect(await readSchema(redis, keys)).toEqual(SCHEMA);
    },
    SCENE_TIMEOUT_MS,
  );
});
