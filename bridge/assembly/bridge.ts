/** The bridge, built. What is started first is stopped last. */

import type { ConfigSource } from '../../src/config/configSource.js';
import { servedPlaces } from '../../src/config/servedPlaces.js';
import type { Settings, Timings } from '../../src/config/settings.js';
import { ensureLogsFolderId } from '../../src/files/logsFolder.js';
import { claimSchema } from '../../src/jobs/schema.js';
import { openStore, type Store } from '../../src/jobs/store.js';
import { Wakes } from '../../src/jobs/wakes.js';
import { Lifecycle } from '../../src/log/lifecycle.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import type { Service } from '../../src/service.js';
import { atMost, SECOND } from '../../src/time.js';
import { refuseUserWithoutRights, warnOfOpenAgents } from '../agents/program/isolation.js';
import { BridgePresence } from '../health/bridgePresence.js';
import { directoriesGauge, logsGauge, pollGauge, redisGauge, watchdogGauge, workerGauge } from '../health/gauges.js';
import { OnlyBridge } from '../health/onlyBridge.js';
import { RestartWatch } from '../health/restartWatch.js';
import { probeFolder } from '../health/writeProbe.js';
import { Canaries } from '../queue/canary.js';
import { LaneStarter } from '../queue/laneStarter.js';
import { JobQueue } from '../queue/pump.js';
import { WakeListener } from '../queue/wakeListener.js';
import { SessionWorker } from '../queue/worker.js';
import { DirectoryWatch } from '../runs/directoryWatch.js';
import { ForgottenNotice } from '../runs/forgottenNotice.js';
import { endPredecessorsRuns } from '../runs/predecessors.js';
import { proveRunDead } from '../runs/proof.js';
import { Reaper } from '../runs/reaper.js';
import { StopMark } from '../runs/stopMark.js';
import { buildChat, type ChatParts } from './chat.js';
import { Connections } from './connections.js';
import { buildEvents, type Foundation, layFoundation } from './foundation.js';
import { buildIntakes, type Terminal } from './intakes.js';
import { describeIssuePlaces } from './issuePlaces.js';
import { rulesByProject } from './judging.js';
import { obtainRedis } from './obtainRedis.js';
import { reloadConfiguration, ServedAgents, warnOfDirectories } from './reloading.js';
import { buildRunner, endProcesses } from './runs.js';
import { toFillIn } from './toFillIn.js';
import { buildStorePulse, buildVitals } from './vitals.js';
import { buildWatchdog } from './watchdogParts.js';

const LOG_FILE = 'bridge.log';

export interface BridgeStreams {
  readonly terminal: Terminal;
  readonly logStream: TerminalStream;
}

export interface Bridge {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Ends every run by force, and returns when they are put back or that takes too long. */
  hurry(): Promise<void>;
  /** Reads the configuration again; never throws. */
  reload(): Promise<void>;
  /** One line in its log. */
  log(sentence: string): void;
  /** Aborted, with the error that ends the process as its reason, when the bridge cannot go on. */
  readonly lost: AbortSignal;
}

/** What an orderly stop may take beyond its runs. A Redis that is away must not keep a stopped bridge alive. */
const LEAVING_MS = 20 * SECOND;

/** @returns how long an orderly stop takes at the most, in milliseconds; whoever stops a bridge must wait for longer */
export function stopWithinMs({ drainMs, killGraceMs }: Timings): number {
  return drainMs + 2 * killGraceMs + LEAVING_MS;
}

/**
 * @param source asked anew for whatever may be reloaded
 * @param stopping aborts when the process is asked to stop: it ends the waiting for a Redis that is away, and from then on an
 *   agent that ends by a signal was stopped by the shutdown
 * @returns the bridge, its Redis up and connected, nothing else started
 * @throws UsageError where an agent cannot be set up, or a living bridge has the host id or owns the logs folder
 * @throws UnreachableError where there is no Redis to be had
 */
export async function assembleBridge(
  source: ConfigSource,
  streams: BridgeStreams,
  stopping: AbortSignal,
): Promise<Bridge> {
  const { settings } = source;
  const agents = new ServedAgents(settings.projects);
  const foundation = layFoundation(settings, streams.logStream, LOG_FILE);
  const { logger, clock } = foundation;
  for (const notice of settings.notices) logger.warn(notice);
  for (const sentence of toFillIn(settings)) logger.info(sentence);
  refuseUserWithoutRights(settings);
  warnOfOpenAgents(settings, logger);
  await warnOfDirectories(settings, logger);
  const { here } = foundation;
  const { logsFolder, redisUrl } = settings;
  const only = new OnlyBridge({ here, clock, logger, logsFolder, redisUrl, stopping });
  await only.claimMachine();
  const redis = await obtainRedis(foundation, stopping);
  const connections = new Connections(() => redis.url, foundation, AbortSignal.any([stopping, redis.lost]));
  const closeAll = async () => {
    await only.stop();
    connections.closeAll();
    await redis.stop();
  };
  try {
    const logsId = await ensureLogsFolderId(settings.logsFolder, clock);
    const store = openStore(await connections.open('commands'), clock);
    await claimSchema(store.redis, store.keys);
    await only.claim(store.leases);
    const wakes = new Wakes(await connections.open('subscriber'), store.keys);
    const jobs = await connections.open('commands');
    const queue = new JobQueue({ store, host: settings.host, connection: jobs, clock, logger });
    const events = buildEvents(foundation, store);
    const forgotten = new ForgottenNotice({ clock, logger, events, host: settings.host });
    const chat = buildChat(foundation, store, events, streams.terminal);
    const stopped = new AbortController();
    const { endOnDisk } = chat;
    const acting = { standsBy: false, endOnDisk, stopping: stopped.signal };
    const parts = { store, wakes, queue, events, chat: chat.router, ...acting };
    const { watchdog, lease, folders, saga, pulse, chores } = buildWatchdog(foundation, parts);
    const reaper = new Reaper({
      clock,
      leaseMs: settings.timings.runLeaseMs,
      graceMs: settings.timings.killGraceMs,
      notify: (sentence) => logger.warn(sentence),
    });
    const stopMark = new StopMark(settings.logsFolder, foundation.here, logger);
    const lanes = new LaneStarter({ queue, clock, logger, onForgotten: forgotten.note });
    const directories = new DirectoryWatch({
      settings,
      store,
      clock,
      logger,
      say: chat.say,
      onBack: () => void lanes.startAll(),
    });
    const runner = buildRunner(foundation, {
      logsId,
      store,
      wakes,
      queue,
      lanes,
      display: chat.progress,
      chat: chat.router,
      reaper,
      endOnDisk,
      forgotten,
      leaving: stopping,
      directories,
      agents,
    });
    const worker = new SessionWorker({
      host: settings.host,
      bullPrefix: store.keys.bullPrefix,
      connection: await connections.open('blocking'),
      concurrency: settings.agentConcurrency,
      logger,
      onJobLost: () => lanes.startAllSoon(),
      clock,
      runner,
    });
    const canaries = new Canaries({ queue, worker, clock, logger, stallMs: settings.timings.stallMs });
    const beginning = predecessorCleaning(foundation, logsId, { store, queue, stopMark, endOnDisk });
    const dispatch = new WakeListener(wakes, chat.delivery, lanes);
    // Redis answers a connection's questions in their order: many messages at once must not stand before the runs' own.
    const intakes = buildIntakes(foundation, openStore(jobs, clock), {
      lanes,
      events,
      chat,
      terminal: streams.terminal,
      isMissing: (directory) => directories.isMissing(directory),
    });
    const telegram = chat.telegram === null ? [] : [chat.telegram.chat];
    const presence = new BridgePresence({
      presences: store.presences,
      clock,
      logger,
      here: foundation.here,
      runLeaseMs: settings.timings.runLeaseMs,
      get places() {
        return servedPlaces(settings);
      },
      get rules() {
        return rulesByProject(settings);
      },
      botId: chat.telegram?.api.botId ?? null,
      worker,
      intake: intakes.telegram,
    });
    const vitals = buildVitals(foundation, {
      logFile: LOG_FILE,
      isTerminal: streams.logStream.isTTY === true,
      gauges: [
        ...(intakes.telegram === null ? [] : [pollGauge(intakes.telegram, clock)]),
        redisGauge(() => store.presences.touch(settings.host), clock),
        workerGauge(worker, clock),
        directoriesGauge(directories),
        watchdogGauge(watchdog, lease, clock),
        logsGauge(
          () => probeFolder(settings.logsFolder),
          () => events.owed(),
        ),
      ],
      isHealthRequired: true,
    });
    const services = [
      ...vitals,
      buildStorePulse(foundation, store, () => forgotten.noteAll()),
      wakes,
      events,
      forgotten,
      new RestartWatch({ starts: store.bridgeStarts, events, host: settings.host, clock, logger }),
      chat.delivery,
      ...telegram,
      dispatch,
      reaper,
      directories,
      beginning,
      worker,
      canaries,
      pulse,
      lease,
      folders,
      watchdog,
      ...chores,
      ...intakes.all,
      { name: 'word of the living', start: () => presence.start(), stop: () => presence.drain() },
    ];
    const lifecycle = new Lifecycle('bridge', logger, services);
    const leave = async () => {
      stopped.abort();
      await saga.settle();
      await queue.close();
      await presence.stop();
      await closeAll();
    };
    return {
      log: (sentence) => logger.info(sentence),
      reload: () => reloadConfiguration(source, agents, logger),
      async hurry() {
        chat.telegram?.chat.hurry();
        await runner.hurry();
        // It leads a group of its own, and would go on unseen.
        await redis.stop();
      },
      lost: AbortSignal.any([redis.lost, canaries.lost, only.lost]),
      async start() {
        try {
          await lifecycle.start();
        } catch (error) {
          await leave();
          throw error;
        }
        logger.info(`the bridge is up: ${describe(settings)}`);
      },
      async stop() {
        logger.info('the bridge stops in order');
        const marked = stopMark.set();
        // Nobody need wait for answers that cannot come.
        if (redis.lost.aborted) connections.closeAll();
        chat.telegram?.chat.hurry();
        // The mark's file has to be whole before the process may exit.
        const orderly = Promise.all([lifecycle.stop(), marked])
          .then(leave)
          .then(() => true);
        if (await atMost(clock, stopWithinMs(settings.timings), orderly, false)) logger.info('the bridge has stopped');
        else
          logger.error('the bridge could not stop in order in time; what it left, the reaper and the next bridge end');
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

interface CleaningParts extends Pick<ChatParts, 'endOnDisk'> {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly stopMark: StopMark;
}

/** Before any job is taken: nothing of a dead predecessor may still work in a lane. */
function predecessorCleaning(
  foundation: Foundation,
  logsId: string,
  { store, queue, stopMark, endOnDisk }: CleaningParts,
): Service {
  const { logger, here, clock } = foundation;
  const { logsFolder } = foundation.settings;
  return {
    name: 'clean start',
    async start() {
      const ended = await endPredecessorsRuns({
        store,
        logger,
        here,
        logsFolder,
        logsId,
        proveDead: (run) => proveRunDead(run, here, { clock, logsFolder }),
        endProcesses: (target) => endProcesses(foundation, target),
        endOnDisk,
        wasStopping: (session) => stopMark.tellsOf(session),
      });
      await stopMark.clearUnlessNeeded(await store.records.sessions(await store.records.sessionIds('active')));
      if (ended.length > 0)
        logger.warn({ sessions: ended }, `runs of a bridge that died are ended: ${ended.join(', ')}`);
      await queue.rememberAll();
      await queue.pump();
    },
    stop: async () => undefined,
  };
}

function describe(settings: Settings): string {
  const projects = [...settings.projects.keys()].join(', ') || 'none';
  const chat = settings.telegram === null ? 'the terminal is the chat (no TELEGRAM_BOT_TOKEN)' : 'Telegram';
  return `projects ${projects}; ${chat}; ${describeIssuePlaces(settings)}; ${settings.agentConcurrency} agents at once`;
}
