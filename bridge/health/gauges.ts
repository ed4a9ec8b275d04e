/** The parts of readiness. Each gauge reads something that was seen to happen, not something that was requested. */
import { describeError } from '../../src/errors.js';
import { probeFolder } from '../../src/files/probe.js';
import type { Presence } from '../../src/jobs/presence.js';
import { refusalIn } from '../../src/storeTrouble.js';
import { type Clock, describeDuration, MINUTE, SECOND } from '../../src/time.js';
import type { Gauge } from './healthServer.js';

/** Two long polls, each with its full time of `30 s + 15 s`. Successful sends do not count. */
const POLL_LATE_MS = 90 * SECOND;
/** Three intervals of the canary. */
const JOB_LATE_MS = 90 * SECOND;
const LAG_LIMIT_MS = 5 * SECOND;
/** Counted from when the tick was due: it may take its time. */
const TICK_LATE_MS = 3 * MINUTE;

export interface IntakeSigns {
  /** When the last `getUpdates` completed, epoch milliseconds; the only proof that the bot receives. */
  readonly lastPollAt: number | null;
  /** Whether it is another bridge's turn to fetch messages. */
  readonly isStandingBy: boolean;
  /** The trouble that prevents messages from being received, in a word or two; null if there is none. */
  readonly trouble: string | null;
}

export function pollGauge(intake: IntakeSigns, clock: Clock): Gauge {
  return gauge('telegram', async () => {
    const { lastPollAt, isStandingBy, trouble } = intake;
    if (isStandingBy) return { ok: true, reading: 'another bridge fetches the messages; this one is on standby' };
    const why = trouble === null ? '' : `; in the way: ${trouble}`;
    if (lastPollAt === null) return { ok: false, reading: `no getUpdates has completed yet${why}` };
    const ageMs = clock.now() - lastPollAt;
    return {
      ok: ageMs <= POLL_LATE_MS,
      reading: `the last getUpdates completed ${describeDuration(ageMs)} ago${why}`,
    };
  });
}

/** @param write one small write, which a full Redis refuses */
export function redisGauge(write: () => Promise<void>, clock: Clock): Gauge {
  return gauge('redis', async () => {
    const begun = clock.monotonic();
    try {
      await write();
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal === null) throw error;
      return { ok: false, reading: `it refuses its work: ${refusal.words}` };
    }
    return { ok: true, reading: `a write took ${describeDuration(clock.monotonic() - begun)}` };
  });
}

export interface WorkerSigns {
  /** When it last took a job, or freed a slot; epoch milliseconds, null before the first. */
  readonly lastActiveAt: number | null;
  /** Whether every slot is taken: then it rightly takes no job. */
  readonly isFull: boolean;
}

/** A project that is out of service does not make the bridge less ready for the others: it is only mentioned. */
export function directoriesGauge(directories: { readonly outOfService: readonly string[] }): Gauge {
  return gauge('projects', async () => {
    const { outOfService } = directories;
    if (outOfService.length === 0) return { ok: true, reading: 'every directory is there' };
    return { ok: true, reading: `out of service, directory missing: ${outOfService.join(', ')}` };
  });
}

/** A canary job comes every half minute, so a worker with a free slot that takes none for long does not work. */
export function workerGauge(worker: WorkerSigns, clock: Clock): Gauge {
  return gauge('worker', async () => {
    if (worker.isFull) return { ok: true, reading: 'every place is taken by an agent' };
    if (worker.lastActiveAt === null) return { ok: false, reading: 'no job has been taken yet' };
    const ageMs = clock.now() - worker.lastActiveAt;
    return { ok: ageMs <= JOB_LATE_MS, reading: `the last job was taken ${describeDuration(ageMs)} ago` };
  });
}

export interface WatchdogSigns {
  /** When the last full check ended, or was left to the acting watchdog; epoch milliseconds, null before the first. */
  readonly lastTickAt: number | null;
  /** When the next one is scheduled; epoch milliseconds. */
  readonly nextTickAt: number | null;
}

export interface ActingSigns {
  readonly isActing: boolean;
  /** Redis has not named another one. */
  readonly isOurs: boolean;
}

export function watchdogGauge(watchdog: WatchdogSigns, lease: ActingSigns, clock: Clock): Gauge {
  return gauge('watchdog', async () => {
    if (!lease.isActing && lease.isOurs)
      return { ok: false, reading: 'it cannot renew its lease in Redis, and judges nothing until it can' };
    if (!lease.isActing) return { ok: true, reading: 'another watchdog acts; this one is on standby' };
    const { lastTickAt, nextTickAt } = watchdog;
    if (lastTickAt === null) return { ok: false, reading: 'it has not completed a round yet' };
    const now = clock.now();
    const isLate = nextTickAt !== null && now > nextTickAt + TICK_LATE_MS;
    return { ok: !isLate, reading: `its last round was ${describeDuration(now - lastTickAt)} ago` };
  });
}

export function bridgeGauge(
  living: () => Promise<Pick<Presence, 'owner' | 'said_at' | 'draining_since'> | null>,
  clock: Clock,
): Gauge {
  return gauge('bridge', async () => {
    const presence = await living();
    if (presence === null) return { ok: false, reading: 'no bridge is running, so messages are not run: start one' };
    const { owner, said_at: saidAt, draining_since: drainingSince } = presence;
    if (drainingSince !== undefined)
      return { ok: true, reading: `the bridge of ${owner.host} is stopping, its runs may finish` };
    const ageMs = Math.max(0, clock.now() - saidAt);
    return { ok: true, reading: `the bridge of ${owner.host} reported ${describeDuration(ageMs)} ago` };
  });
}

/** @param events those that are not in their file yet are `owed` */
export function logsGauge(logsFolder: string, events: { owed(): Promise<number> }): Gauge {
  return gauge('logs folder', async () => {
    const refused = await probeFolder(logsFolder).then(() => null, describeError);
    const waiting = await events.owed().catch(() => null);
    const lines =
      waiting === 0 ? '' : `; ${waiting ?? 'unknown how many'} critical events wait in the store for their file`;
    if (refused !== null) return { ok: false, reading: `it takes nothing (${refused})${lines}` };
    return { ok: waiting === 0, reading: `it takes files${lines}` };
  });
}

export function lagGauge(beat: { readonly lagMs: number }): Gauge {
  return gauge('event loop', async () => {
    const { lagMs } = beat;
    return { ok: lagMs <= LAG_LIMIT_MS, reading: `its longest delay of late was ${describeDuration(lagMs)}` };
  });
}

function gauge(name: string, read: Gauge['read']): Gauge {
  return { name, read };
}
