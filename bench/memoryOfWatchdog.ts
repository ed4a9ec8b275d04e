/** A process of `memory.ts`: looks at everything, then says how large it is. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readSettings } from '../src/config/readSettings.js';
import { openStore } from '../src/jobs/store.js';
import { closeRedis, openRedis } from '../src/redis/connect.js';
import { systemClock } from '../src/time.js';
import { withWatchdog } from './watchdogHere.js';

const LOOKS = 3;
const MEGABYTE = 1e6;

/** Not by a flag of the command line, which is the launcher's. */
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const environment = { ...process.env } as Readonly<Record<string, string>>;
const settings = await readSettings({ environment, workingDirectory: process.cwd() });
const redis = openRedis(environment.REDIS_URL ?? '', { purpose: 'commands', clock: systemClock });
await redis.connect();
const store = openStore(redis, systemClock);
await withWatchdog({ environment, settings, store }, async (watchdog) => {
  for (let look = 0; look < LOOKS; look += 1) await watchdog.checkAllSessions();
  for (let round = 0; round < LOOKS; round += 1) {
    collectGarbage();
    await systemClock.sleep(100);
  }
  const { rss, heapUsed } = process.memoryUsage();
  process.stdout.write(JSON.stringify({ resident: rss / MEGABYTE, heap: heapUsed / MEGABYTE }));
});
closeRedis(redis);
