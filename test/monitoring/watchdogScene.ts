/** A whole watchdog on real parts, its clock in the test's hand. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ActedFolders } from '../../monitoring/actors/actedFolders.js';
import { type GapsOfHolder, WatchdogLease } from '../../monitoring/actors/watchdogLease.js';
import type { IncidentSaga } from '../../monitoring/incident/saga/saga.js';
import type { SagaContext } from '../../monitoring/incident/sagaContext.js';
import { latenessLimits } from '../../monitoring/lateness/standstill.js';
import { WatchdogGaps } from '../../monitoring/lateness/watchdogGaps.js';
import { BacklogWatch } from '../../monitoring/rounds/backlogWatch.js';
import { BlockedLaneWatch } from '../../monitoring/rounds/blockedLaneWatch.js';
import { UnreadableRecords } from '../../monitoring/rounds/unreadableRecords.js';
import { SessionWatchdog, type WatchdogContext } from '../../monitoring/sessionWatchdog.js';
import { Agenda } from '../../monitoring/watch/agenda.js';
import { SessionJudge } from '../../monitoring/watch/sessionJudge.js';
import { WatchedSessions } from '../../monitoring/watch/watchedSessions.js';
import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import { DEFAULT_THRESHOLDS, type Rule, type RuleAction } from '../../src/config/rules.js';
import type { Project, ProjectRules } from '../../src/config/settings.js';
import type { HostCounters } from '../../src/host/counters.js';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import type { AgentSession, BlockedLane, DeathProof } from '../../src/jobs/model.js';
import { Wakes } from '../../src/jobs/wakes.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import { JournalWriter } from '../../src/journal/writer.js';
import { closeRedis, openRedis } from '../../src/redis/connect.js';
import { MINUTE, SECOND, systemClock } from '../../src/time.js';
import { testRedisUrl } from '../harness/redis.js';
import { untilAtRest } from '../harness/rest.js';
import { afterThisTest } from '../harness/scope.js';
import {
  acceptMessage,
  HOST,
  LEASE_MS,
  must,
  openSagaScene,
  runIdOf,
  type SagaScene,
} from './incident/saga/sagaScene.js';

export const HERE: ProcessIdentity = readProcessIdentity(HOST);
/** The schedule of these tests ticks when they say so. */
const NEVER = '0 0 1 1 *';
export const BACKLOG_MS = 10 * MINUTE;
export const SILENCE_MS = DEFAULT_THRESHOLDS.silence_ms;

export interface WatchdogScene extends SagaScene {
  /** Its pulse, which beats once a test has started it. */
  readonly gaps: WatchdogGaps;
  readonly watchdog: SessionWatchdog;
  readonly sagaOfIt: IncidentSaga;
  readonly watchdogLease: WatchdogLease;
  readonly folders: ActedFolders;
  readonly agenda: Agenda;
  readonly wakes: Wakes;
}

/** Of a process that was never away. */
export const NO_GAPS: GapsOfHolder = { lastEnd: () => Number.NEGATIVE_INFINITY, concern: () => undefined };

export interface WatchdogOptions {
  readonly counters?: HostCounters;
  readonly actions?: Partial<Record<Rule, RuleAction>>;
  readonly saga?: Partial<SagaContext>;
  readonly changes?: (context: WatchdogContext) => Partial<WatchdogContext>;
  readonly isConfigured?: boolean;
  /** For projects of other rules than the scene's. */
  readonly rulesOf?: (projectKey: string) => ProjectRules | null;
  readonly mayHaveProcesses?: () => boolean;
  /** No other directory is missing, whatever is on the disk. */
  readonly missingFolder?: string;
  /** The proof that the run that blocks a lane is dead. */
  readonly proveBlockedDead?: (blocked: BlockedLane) => Promise<DeathProof | null>;
}

export async function openWatchdogScene(options: WatchdogOptions = {}): Promise<WatchdogScene> {
  const scene = await openSagaScene();
  const { store, clock, logger, folder, queue } = scene;
  const subscriber = openRedis(must(testRedisUrl()), { purpose: 'subscriber', clock: systemClock });
  afterThisTest(() => closeRedis(subscriber));
  const wakes = new Wakes(subscriber, store.keys);
  await wakes.start();
  scene.connections.push(subscriber);
  const agenda = new Agenda(clock);
  const leases = store.leases;
  const onChange = () => agenda.tick();
  const leaseMs = 1_000_000 * MINUTE;
  const gaps = new WatchdogGaps({
    clock,
    counters: options.counters ?? { sinceBootMs: () => clock.monotonic(), processorMs: () => 0 },
    logger,
    events: scene.events,
    store: store.gaps,
    logsFolder: folder,
    here: HERE,
    limits: latenessLimits({ thresholds: [DEFAULT_THRESHOLDS], backlogMs: BACKLOG_MS, runLeaseMs: LEASE_MS }),
    onGap: () => agenda.wakeUp(),
  });
  const watchdogLease = new WatchdogLease({
    leases,
    clock,
    logger,
    logsFolder: folder,
    leaseMs,
    here: HERE,
    standsBy: false,
    gaps,
    onActing: onChange,
  });
  const watched = new WatchedSessions(store, logger, folder);
  const folders = new ActedFolders({
    own: watchdogLease,
    leases,
    clock,
    logger,
    here: HERE,
    logsFolder: folder,
    watchdogLeaseMs: WATCHDOG_LEASE_MS,
    runLeaseMs: LEASE_MS,
    runFolders: () => new Set(watched.all().flatMap(({ run }) => run?.logs_id ?? [])),
    openIncidents: () => store.records.openIncidents(),
    onChange,
  });
  const hasWorked = (sessionId: string) => watched.hasWorked(sessionId, clock.now());
  const project = options.isConfigured === false ? null : projectWith(options.actions ?? {});
  const rules = (key: string) => options.rulesOf?.(key) ?? project;
  const judge = { store, clock, watched, gaps, here: HERE, logsFolder: folder, runLeaseMs: LEASE_MS, rulesOf: rules };
  const sessions = new SessionJudge(judge);
  const sagaOfIt = scene.saga({ folders, agenda, gaps, hasWorked, sessions, ...options.saga });
  const context: WatchdogContext = {
    ...judge,
    logger,
    wakes,
    lease: watchdogLease,
    folders,
    saga: sagaOfIt,
    agenda,
    queue,
    backlog: new BacklogWatch({
      gaps,
      store,
      clock,
      logger,
      events: scene.events,
      here: HERE,
      logsFolder: folder,
      backlogMs: BACKLOG_MS,
      rulesOf: rules,
      folders,
      lease: watchdogLease,
      saga: sagaOfIt,
      isFolder: async (path) => path !== options.missingFolder,
    }),
    blockedLanes: new BlockedLaneWatch(
      { store, clock, logger, events: scene.events, folders },
      async (blocked) => (await options.proveBlockedDead?.(blocked)) ?? null,
    ),
    rounds: [],
    unreadable: new UnreadableRecords({
      store,
      clock,
      logger,
      events: scene.events,
      runLeaseMs: LEASE_MS,
      gaps,
      folders,
      here: HERE,
      mayHaveProcesses: async () => options.mayHaveProcesses?.() ?? false,
    }),
    cron: NEVER,
  };
  const watchdog = new SessionWatchdog({ ...context, ...options.changes?.(context) });
  afterThisTest(async () => {
    await watchdog.stop();
    await folders.stop();
    await watchdogLease.stop();
    await gaps.stop();
    await sagaOfIt.settle();
    await wakes.stop();
  });
  return { ...scene, gaps, watchdog, sagaOfIt, watchdogLease, folders, agenda, wakes };
}

function projectWith(actions: Partial<Record<Rule, RuleAction>>): Project {
  const thresholds = DEFAULT_THRESHOLDS;
  return { thresholds, actions: { ...DEFAULT_ACTIONS, ...actions } } as Project;
}

/** The watchdog acts and has looked at everything once. */
export async function startWatchdog(scene: WatchdogScene): Promise<void> {
  await scene.watchdogLease.start();
  await scene.watchdog.start();
  await until(() => ticksIn(scene) > 0);
  await atRest(scene);
}

export function ticksIn({ logged }: WatchdogScene): number {
  return logged.filter((line) => line.includes('watchdog: ')).length;
}

/** Every look that was asked for is done, and what it began. */
export async function atRest({ connections, sagaOfIt }: WatchdogScene): Promise<void> {
  await untilAtRest(connections);
  await sagaOfIt.settle();
  await untilAtRest(connections);
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await nextTurn();
}

/** Of whoever stands in for a lost host. */
const WATCHDOG_LEASE_MS = 10 * SECOND;
const LONG_LEASE_MS = 1_000 * MINUTE;

/** @returns a session whose run belongs to `owner`, its journal in the folder with the id `logsId` where that is given */
export async function runOf(
  scene: SagaScene,
  messageId = '1',
  owner: ProcessIdentity = HERE,
  leaseMs = LONG_LEASE_MS,
  logsId?: string,
): Promise<AgentSession> {
  const session = await acceptMessage(scene, messageId);
  const lane = `${HOST}:/srv/${messageId}`;
  const run = {
    run_id: runIdOf(session),
    owner,
    pid: 77,
    started_at: scene.clock.now(),
    ...(logsId && { logs_id: logsId }),
  };
  // Each in a lane of its own, so that many may run at once.
  await scene.store.redis.hset(scene.store.keys.session(session.session_id), 'lane', lane);
  await scene.store.redis.lrem(scene.store.keys.lane(session.lane), 0, session.session_id);
  await scene.store.redis.rpush(scene.store.keys.lane(lane), session.session_id);
  await scene.store.redis.sadd(scene.store.keys.lanes(HOST), lane);
  return must(await scene.store.transitions.start({ ...session, lane }, run, leaseMs)).session;
}

/** @returns the identity of a process that has ended */
export function deadProcess(): ProcessIdentity {
  const { pid } = spawnSync(process.execPath, ['-e', '0']);
  return { ...HERE, pid, pid_start: '1' };
}

export function journalOf(scene: SagaScene, { session_id: sessionId }: AgentSession): JournalWriter {
  const { clock, folder: logsFolder } = scene;
  const journal = JournalWriter.open({ clock, logsFolder, sessionId, redact: (text) => text });
  afterThisTest(() => journal.close());
  return journal;
}

export const BEGINNING: readonly JournalEvent[] = [
  { event: 'session_start', source: 'startup' },
  { event: 'user_prompt', origin: 'human' },
];

export function failingBatches(count: number): JournalEvent[] {
  return Array.from({ length: count }, (_, index) => index).flatMap((index): JournalEvent[] => {
    const call = { tool_use_id: `c${index}`, tool_name: 'bash', batch: `b${index}` };
    return [
      { event: 'pre_tool_use', ...call, tool_input: { n: index } },
      { event: 'post_tool_use', ...call, is_error: true, outcome: 'failed', tool_output_preview: `${index}` },
    ];
  });
}

/** @returns everything in Redis below the test's prefix, and in its folder */
export async function everything(scene: SagaScene): Promise<Record<string, unknown>> {
  const { redis, keys } = scene.store;
  const prefix = keys.openIncidents.slice(0, keys.openIncidents.indexOf('incidents:open'));
  const found: Record<string, unknown> = {};
  for (const key of (await redis.keys(`${prefix.replace(/[{}]/g, '?')}*`)).sort()) {
    found[key] = [await redis.dumpBuffer(key), await redis.pttl(key)].map(String);
  }
  const walk = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) walk(path);
      else found[path] = [readFileSync(path, 'utf8'), statSync(path).mtimeMs];
    }
  };
  walk(scene.folder);
  return found;
}
