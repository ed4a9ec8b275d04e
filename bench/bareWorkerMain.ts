/** A process of `recovery.ts`: a worker as BullMQ makes it, which says that it has a job and never ends it. */
import { Worker } from 'bullmq';
import { openRedis } from '../src/redis/connect.js';
import { systemClock } from '../src/time.js';

const connection = openRedis(process.env.REDIS_URL ?? '', { purpose: 'blocking', clock: systemClock });
await connection.connect();
const take = () => {
  process.stdout.write('taken\n');
  return new Promise<void>(() => undefined);
};
// The worker keeps this process alive.
void new Worker('bare', take, { connection });
