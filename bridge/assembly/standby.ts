/** The watchdog as a process of its own: a standby beside a bridge, or a single look. */

import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import { BridgeWatch } from '../../monitoring/rounds/bridgeWatch.js';
import type { TickSummary } from '../../monitoring/sessionWatchdog.js';
import type { ConfigSource } from '../../src/config/configSource.js';
import { homesOf } from '../../src/config/servedPlaces.js';
import { claimSchema, requireReadable } from '../../src/jobs/schema.js';
import { openStore, type Store } from '../../src/jobs/store.js';
import { Wakes } from '../../src/jobs/wakes.js';
import { Lifecycle } from '../../src/log/lifecycle.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import type { Service } from '../../src/service.js';
import { SECOND } from '../../src/time.js';
import { bridgeGauge, logsGauge, redisGauge, watchdogGauge } from '../health/gauges.js';
import { logWhatWaits } from '../health/whatWaits.js';
import { probeFolder } from '../health/writeProbe.js';
import { JobQueue } from '../queue/pump.js';
import { buildChat, type ChatParts } from './chat.js';
import { Connections, redisUrlOf } from './connections.js';
import { buildEvents, type Foundation, layFoundation } from './foundation.js';
import { reloadConfiguration } from './reloading.js';
import { buildStorePulse, buildVitals } from './vitals.js';
import { buildWatchdog, type WatchdogParts } from './watchdogParts.js';

/** How long a single look waits for the reports and messages that it started. */
const SETTLE_MS = 30 * SECOND;

const LOG_FILE = 'watchdog.log';

export interface Standby {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Reads the configuration again; never throws. */
  reload(): Promise<void>;
  /** One line in its log. */
  log(sentence: string): void;
  /** One look, and everything that follows from it; leaves nothing open. */
  checkOnce(how: { act: boolean }): Promise<TickSummary>;
}

/**
 * @param source read again for every setting that may be reloaded
 * @param stopping ends the wait for an unreachable Redis; null does not wait
 * @throws UnreachableError if there is no Redis
 */
export async function assembleWatchdog(
  source: ConfigSource,
  logStream: TerminalStream,
  stopping: AbortSignal | null,
): Promise<Standby> {
  const { settings } = source;
  const foundation = layFoundation(settings, logStream, LOG_FILE);
  const stores = await openStores(foundation, stopping);
  const parts = buildParts(foundation, stores);
  const isTerminal = logStream.isTTY === true;
  const lifecycle = new Lifecycle('watchdog', foundation.logger, servicesOf(foundation, parts, isTerminal));
  return standbyOf(source, foundation, parts, lifecycle);
}

interface StandbyStores {
  readonly connections: Connections;
  readonly store: Store;
  readonly wakes: Wakes;
  readonly queue: JobQueue;
}

async function openStores(foundation: Foundation, stopping: AbortSignal | null): Promise<StandbyStores> {
  const { settings, clock, logger } = foundation;
  const connections = new Connections(() => redisUrlOf(settings), foundation, stopping);
  const store = openStore(await connections.open('commands'), clock);
  await requireReadable(store.redis, store.keys).catch((error: unknown) => {
    connections.closeAll();
    throw error;
  });
  const wakes = new Wakes(await connections.open('subscriber'), store.keys);
  const connection = await connections.open('commands');
  const queue = new JobQueue({ store, host: settings.host, connection, clock, logger });
  return { connections, store, wakes, queue };
}

interface StandbyParts extends StandbyStores {
  readonly events: DurableEvents;
  readonly chat: ChatParts;
  readonly bridgeWatch: BridgeWatch;
  readonly judging: WatchdogParts;
  /** Aborts the watchdog's outside calls that are in progress. */
  readonly stopped: AbortController;
  /** Whether it looks once and ends. */
  readonly look: { isOnlyOne: boolean };
}

function buildParts(foundation: Foundation, stores: StandbyStores): StandbyParts {
  const { store, wakes, queue } = stores;
  const events = buildEvents(foundation, store);
  const chat = buildChat(foundation, store, events, null);
  const bridgeWatch = watchOverBridge(foundation, store, events);
  const stopped = new AbortController();
  const look = { isOnlyOne: false };
  const judging = buildWatchdog(foundation, {
    store,
    wakes,
    queue,
    events,
    chat: chat.router,
    endOnDisk: chat.endOnDisk,
    standsBy: true,
    stopping: stopped.signal,
    isPingDue: async () => (await bridgeWatch.living()) !== null,
    onActing: () => {
      if (!look.isOnlyOne) logWhatWaits(foundation, store);
    },
  });
  return { ...stores, events, chat, bridgeWatch, judging, stopped, look };
}

function servicesOf(foundation: Foundation, parts: StandbyParts, isTerminal: boolean): Service[] {
  const { settings, clock } = foundation;
  const { store, wakes, events, chat, bridgeWatch, judging } = parts;
  const gauges = [
    redisGauge(() => store.presences.touch(settings.host), clock),
    watchdogGauge(judging.watchdog, judging.lease, clock),
    bridgeGauge(() => bridgeWatch.living(), clock),
    logsGauge(
      () => probeFolder(settings.logsFolder),
      () => events.owed(),
    ),
  ];
  return [
    // If it shares the environment of the bridge beside it, the port belongs to the bridge.
    ...buildVitals(foundation, { logFile: LOG_FILE, isTerminal, gauges, isHealthRequired: false }),
    buildStorePulse(foundation, store),
    wakes,
    events,
    chat.delivery,
    ...(chat.telegram === null ? [] : [chat.telegram.chat]),
    judging.pulse,
    judging.lease,
    judging.folders,
    judging.watchdog,
    ...judging.chores,
    bridgeWatch,
  ];
}

function standbyOf(
  source: ConfigSource,
  { settings, logger }: Foundation,
  { connections, store, queue, judging, stopped, look }: StandbyParts,
  lifecycle: Lifecycle,
): Standby {
  const { watchdog, lease, saga, record } = judging;
  const close = async () => {
    await queue.close();
    connections.closeAll();
  };
  return {
    log: (sentence) => logger.info(sentence),
    reload: () => reloadConfiguration(source, null, logger),
    async start() {
      await claimSchema(store.redis, store.keys);
      await lifecycle.start();
    },
    async stop() {
      await lifecycle.stop();
      stopped.abort();
      await saga.settle();
      await close();
    },
    async checkOnce({ act }) {
      look.isOnlyOne = true;
      try {
        if (!act) return await watchdog.checkAllSessions({ act });
        await lease.start();
        if (!lease.isActing) logger.warn('another watchdog acts for this logs folder; this one only looks');
        await record.runOnce();
        const summary = await watchdog.checkAllSessions({ act: lease.isActing });
        await watchdog.seeThrough(() => saga.settle(), settings.timings.reportWaitMs, SETTLE_MS);
        return summary;
      } finally {
        await lease.stop();
        await close();
      }
    },
  };
}

function watchOverBridge(
  { settings, clock, logger, here }: Foundation,
  store: Store,
  events: DurableEvents,
): BridgeWatch {
  const { bridgeGoneMs: goneMs } = settings.timings;
  return new BridgeWatch({
    store,
    clock,
    logger,
    events,
    here,
    get homes() {
      return homesOf(settings);
    },
    goneMs,
  });
}
