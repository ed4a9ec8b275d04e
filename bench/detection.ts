/**
 * How soon is silence found, and what does it cost to wait for it?
 *
 * Measured: the command `watchkeeper watchdog` as a process of its own, over 10,000 active sessions with default
 * thresholds, whose last activity lies anywhere within the last ten minutes. Nearly all go on, each shortly before its ten
 * minutes are over, so that deadlines are met and passed all the time. A few fall silent, one after the other: measured
 * from the instant at which the rule is true to the line in `critical_events.jsonl`. Before that, while nothing is wrong, the
 * kernel tells what the process costs, and what one look at everything does, which comes every five minutes.
 * Yardstick: a bare timer for the same instant that appends a line and syncs it.
 * Targets: within 1 s; less than 1 % of a processor.
 */

import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_THRESHOLDS } from '../src/config/rules.js';
import type { AgentSession } from '../src/jobs/model.js';
import { publishWake } from '../src/jobs/wakes.js';
import { describeDuration, MINUTE, SECOND, systemClock } from '../src/time.js';
import { LAUNCHER } from '../test/bridge/cli/launcher.js';
import { eventually } from '../test/e2e/eventually.js';
import { Program } from '../test/e2e/program.js';
import { processorMs } from './processorTime.js';
import { rounded, say, sayTarget } from './report.js';
import { quantile } from './rounds.js';
import { inScene, populate, type Scene } from './scene.js';
import { SeenEvents } from './seenEvents.js';
import { WorkingSessions } from './workingSessions.js';

const SESSIONS = 10_000;
const SILENT = 100;
const CALLS = 10;
const SILENCE_MS = DEFAULT_THRESHOLDS.silence_ms;
/** Those that go on do so this long before their time is over. */
const SPARE_MS = 20 * SECOND;
/** Until the first look at everything is done, also on a slow machine. */
const PREPARATION_MS = 80 * SECOND;
const CALM_MS = 180 * SECOND;
/** Long enough that the collection of a look's garbage, which comes some time after it, does not stand for the whole. */
const WAITING_MS = 2 * MINUTE;
/** From one that falls silent to the next. */
const APART_MS = 300;
const FOUND_WITHIN_MS = MINUTE;
const SCHEDULE_MS = 5 * MINUTE;
const MOST_DELAY_MS = SECOND;
const MOST_PERCENT = 1;

await inScene(async (scene) => {
  const begun = systemClock.now();
  const firstSilence = begun + PREPARATION_MS + CALM_MS;
  const trueAt = (index: number) => firstSilence + index * APART_MS;
  const lastActivityOf = (index: number): number => {
    if (index < SILENT) return trueAt(index) - SILENCE_MS - 1;
    return Math.floor(begun - ((SILENCE_MS - SPARE_MS) * index) / SESSIONS);
  };
  const sessions = await populate(scene, { count: SESSIONS, calls: CALLS, lastActivityOf });
  const indexes = new Map(sessions.map((session, index) => [session, index]));
  const lastOf = (session: AgentSession) => lastActivityOf(indexes.get(session) ?? 0);
  const working = new WorkingSessions(sessions.slice(SILENT), lastOf, scene.logsFolder, SILENCE_MS - SPARE_MS);
  working.start();
  const watchdog = startWatchdog(scene);
  try {
    await untilLooked(watchdog, 1);
    if (systemClock.now() > firstSilence - CALM_MS) throw new Error('this machine is too slow for this bench now');
    say(`detection: ${SESSIONS} sessions, ${SILENT} of them fall silent, ${APART_MS} ms apart`);
    await measureCalm(scene, watchdog);
    await measureDelays(scene, sessions.slice(0, SILENT), trueAt);
  } finally {
    working.stop();
    await watchdog.stop();
  }
});

function startWatchdog({ environment, folder }: Scene): Program {
  return new Program(LAUNCHER, ['watchdog'], {
    workingDirectory: folder,
    // It looks at everything when it is asked to.
    environment: { ...environment, WATCHDOG_CRON: '0 0 1 1 *' },
  });
}

async function untilLooked(watchdog: Program, times: number): Promise<void> {
  await eventually(() => (watchdog.stderr.match(/watchdog: \d+ sessions/g)?.length ?? 0) >= times, {
    what: `look ${times} at everything`,
    withinMs: PREPARATION_MS,
    instead: () => watchdog.lastWords(),
  });
}

async function measureCalm({ store }: Scene, watchdog: Program): Promise<void> {
  const beforeLook = processorMs(watchdog.pid);
  await publishWake(store, { everything: true });
  await untilLooked(watchdog, 2);
  const perLook = processorMs(watchdog.pid) - beforeLook;
  // Whoever that look saw go on has this long until his time comes: only then do deadlines come as steadily as ever.
  await systemClock.sleep(SPARE_MS);
  const before = processorMs(watchdog.pid);
  await systemClock.sleep(WAITING_MS);
  const waiting = ((processorMs(watchdog.pid) - before) / WAITING_MS) * 100;
  const looking = (perLook / SCHEDULE_MS) * 100;
  say(`  waiting: ${rounded(waiting)} % of a processor in ${describeDuration(WAITING_MS)}`);
  say(`  a look at everything: ${perLook} ms of a processor, ${rounded(looking)} % of one at every five minutes`);
  sayTarget({ what: 'idle', value: waiting + looking, atMost: MOST_PERCENT, unit: ' %' });
}

async function measureDelays(
  { logsFolder, folder }: Scene,
  sessions: readonly AgentSession[],
  trueAt: (index: number) => number,
): Promise<void> {
  const seen = new SeenEvents(join(logsFolder, 'critical_events.jsonl'));
  seen.start();
  const bare = bareDelays(join(folder, 'bare.jsonl'), sessions.length, trueAt);
  await eventually(() => seen.detectedAt.size >= sessions.length, {
    what: `${sessions.length} sessions found silent`,
    withinMs: trueAt(sessions.length) - systemClock.now() + FOUND_WITHIN_MS,
    instead: () => `${seen.detectedAt.size} were found`,
  }).catch((error: Error) => say(`  ${error.message}`));
  seen.stop();
  const ours = sessions.map(({ session_id }, index) => {
    const at = seen.detectedAt.get(session_id);
    return at === undefined ? Number.POSITIVE_INFINITY : at - trueAt(index);
  });
  sayDelays('found', ours);
  sayDelays('bare timer, append and sync', await bare);
  for (const [event, count] of seen.others) say(`  beside them: ${count} ${event}`);
  const value = quantile(ours.toSorted(ascending), 0.99);
  sayTarget({ what: 'from true to on disk, p99', value, atMost: MOST_DELAY_MS, unit: ' ms' });
}

function bareDelays(path: string, count: number, trueAt: (index: number) => number): Promise<number[]> {
  const file = openSync(path, 'a');
  const delays = Array.from({ length: count }, async (_, index) => {
    await systemClock.sleep(trueAt(index) - systemClock.now());
    writeSync(file, `${index}\n`);
    fdatasyncSync(file);
    return systemClock.now() - trueAt(index);
  });
  return Promise.all(delays).finally(() => closeSync(file));
}

function sayDelays(what: string, delays: readonly number[]): void {
  const sorted = delays.toSorted(ascending);
  const [median, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)];
  say(`  ${what}: median ${rounded(median)} ms, p99 ${rounded(p99)} ms`);
}

function ascending(left: number, right: number): number {
  return left - right;
}
