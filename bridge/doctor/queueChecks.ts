/** Checks whether jobs get through, the doctor's own and those of this host's bridge, and whether something was left behind. */
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { describeLeft } from '../../monitoring/rounds/blockedLaneWatch.js';
import { counted } from '../../src/counted.js';
import { describeError } from '../../src/errors.js';
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';
import { markedPids } from '../../src/host/processes.js';
import { ulid } from '../../src/ids.js';
import { MOST_QUICK_STARTS, QUICK_MS } from '../../src/jobs/bridgeStarts.js';
import { hostOfLane } from '../../src/jobs/names.js';
import type { Presence } from '../../src/jobs/presence.js';
import type { Store } from '../../src/jobs/store.js';
import { type Clock, describeDuration, localTime, SECOND } from '../../src/time.js';
import type { NotedStarts } from '../health/notedStarts.js';
import { type CheckResult, fault, ok, warning } from './checkResult.js';

const MOST_NAMED = 3;
const CANARY_WITHIN_MS = 10 * SECOND;
/** Three intervals of the bridge's own canary. */
const JOB_LATE_MS = 100 * SECOND;

/** Its queue has a name known only to it, and is removed. @param blocking for the worker, as BullMQ demands */
export async function checkCanary(
  commands: Redis,
  blocking: Redis,
  bullPrefix: string,
  clock: Clock,
): Promise<CheckResult> {
  const name = 'queue';
  const queue = new Queue(`doctor-${ulid(clock)}`, { connection: commands, prefix: bullPrefix });
  let taken: (what: 'taken') => void = () => undefined;
  const canary = new Promise<'taken'>((resolve) => {
    taken = resolve;
  });
  const worker = new Worker(queue.name, async () => taken('taken'), { connection: blocking, prefix: bullPrefix });
  // The failing call below reports it; without listeners these events would end the process.
  queue.on('error', () => undefined);
  worker.on('error', () => undefined);
  const begun = clock.monotonic();
  const late = new AbortController();
  try {
    await queue.add('canary', {}, { removeOnComplete: true });
    const won = await Promise.race([canary, clock.sleep(CANARY_WITHIN_MS, late.signal)]);
    if (won === 'taken') return ok(name, `a job passed through in ${describeDuration(clock.monotonic() - begun)}`);
    return fault(
      name,
      `a job was added but not delivered within ${describeDuration(CANARY_WITHIN_MS)}`,
      'check the load and the log of the Redis server; restart it if it is stuck',
    );
  } catch (error) {
    return fault(
      name,
      `Redis accepts no job (${describeError(error)})`,
      'fix what Redis reports: full memory, a full disk, missing permissions (its user needs all commands on keys that begin with {wk}, and scripts)',
    );
  } finally {
    late.abort();
    await worker.close(true).catch(() => undefined);
    await queue.obliterate({ force: true }).catch(() => undefined);
    await queue.close().catch(() => undefined);
  }
}

/** Checks whether a bridge takes the jobs of this host. Read-only. */
export async function checkBridge(store: Store, here: ProcessIdentity, clock: Clock): Promise<CheckResult> {
  const name = 'bridge';
  const { host } = here;
  const presence = unlessDead(await store.presences.ofHost(host), here);
  if (presence === null) {
    const lanes = await store.records.lanes(host);
    const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0);
    const lastSeen = await store.presences.lastSeen(host);
    const words = waiting === 0 ? 'nothing is waiting' : `waiting: ${counted(waiting, 'message')}`;
    const seen = lastSeen === null ? '' : `, the last one reported at ${localTime(lastSeen)}`;
    // A bridge that was here and is gone will not answer the next message. Before the first start, none is missing.
    return (waiting === 0 && lastSeen === null ? warning : fault)(
      name,
      `no bridge is running for the host "${host}"${seen}; ${words}`,
      'start `watchkeeper bridge`; if one is running, give both the same REDIS_URL and WATCHKEEPER_HOST',
    );
  }
  const { owner, took_job_at, started_at, is_full, draining_since } = presence;
  if (draining_since !== undefined)
    return warning(
      name,
      `process ${owner.pid} of the host "${host}" has been shutting down since ${localTime(draining_since)}: its runs may finish, and it starts nothing new`,
      'start `watchkeeper bridge` again when it has stopped',
    );
  const ageMs = clock.now() - (took_job_at ?? started_at);
  const words = `process ${owner.pid} serves the host "${host}", its worker took a job ${describeDuration(ageMs)} ago`;
  // If every slot is taken, no job can be taken.
  if (ageMs <= JOB_LATE_MS || is_full) return ok(name, words);
  return fault(
    name,
    took_job_at === null
      ? `process ${owner.pid} serves the host "${host}", but its worker has taken no job yet`
      : words,
    'restart the bridge, and check the end of its bridge.log: its worker has lost the queue',
  );
}

/** The presence of a killed bridge stays for half a minute. */
export function unlessDead(presence: Presence | null, here: ProcessIdentity): Presence | null {
  return presence === null || isProcessAlive(presence.owner, here) === false ? null : presence;
}

/** Checks whether the next message of each directory of this host may begin. */
export async function checkLanes(store: Store, host: string): Promise<CheckResult> {
  const name = 'lanes';
  const blocked = (await store.blockedLanes.all()).filter(({ lane }) => hostOfLane(lane) === host);
  if (blocked.length === 0) return ok(name, 'no directory is held by a run that could not be ended');
  const kept = blocked.map(({ lane, run_id }) => {
    return `${lane} (${describeLeft(markedPids(run_id))})`;
  });
  return fault(
    name,
    `nothing starts in ${kept.join(', ')}: a run there could not be ended for certain`,
    'end the processes that are left of it, or reboot the host: the directory is freed automatically within seconds',
  );
}

/** Lines that the watchdog could not write are in the store. */
export async function checkOwedEvents(store: Store, logsFolder: string): Promise<CheckResult> {
  const name = 'critical events';
  const logsId = readLogsFolderId(logsFolder);
  const owed = logsId === null ? 0 : await store.owedEvents.count(logsId);
  if (owed === 0) return ok(name, 'no event is waiting for its file');
  return fault(
    name,
    `${counted(owed, 'line')} could not be written to critical_events.jsonl and are kept in Redis`,
    'make the logs folder writable, or free some space: the acting watchdog then writes them within seconds',
  );
}

/** Checks whether a host's bridge ends again and again. */
export async function checkRestarts(store: Store, host: string, noted: NotedStarts): Promise<CheckResult> {
  const name = 'restarts';
  const length = new Set([...(await store.bridgeStarts.recent(host)), ...noted.recent()]).size;
  const within = `within ${describeDuration(QUICK_MS)}`;
  if (length < MOST_QUICK_STARTS) return ok(name, `the bridge of this host is not restarting in quick succession`);
  return warning(
    name,
    `the bridge of this host was started ${counted(length, 'time')} ${within}, each time without a clean stop before it`,
    'check the last lines before each start in bridge.log, and what the kernel and the supervisor logged about its end (memory, a limit, a watchdog)',
  );
}

/** Records that could not be read and were set aside. Their senders were notified, and the cause is unknown. */
export async function checkSetAside(store: Store): Promise<CheckResult> {
  const name = 'records';
  const kept = await store.quarantine.kept();
  if (kept.length === 0) return ok(name, 'no unreadable record has been set aside');
  const named = kept.slice(-MOST_NAMED).join(', ');
  const more = kept.length > MOST_NAMED ? `, the latest ${named}` : `: ${named}`;
  return warning(
    name,
    `${counted(kept.length, 'record')} could not be read and ${kept.length === 1 ? 'is' : 'are'} set aside${more}`,
    'inspect them with `redis-cli HGETALL KEY`, and the critical events with the reason record_unreadable. A newer version on the same Redis may have written them, or somebody changed them by hand. Delete a key when you are done with it',
  );
}
