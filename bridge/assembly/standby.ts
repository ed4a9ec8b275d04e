/** The watchdog as a process of its own: it stands by beside a bridge, or looks once. */

import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import { BridgeWatch } from '../../monitoring/rounds/bridgeWatch.js';
import type { TickSummary } from '../../monitoring/sessionWatchdog.js';
import type { ConfigSource } from '../../src/config/configSource.js';
import { homesOf } from '../../src/config/servedPlaces.js';
import { isProcessAlive } from '../../src/host/identity.js';
import { claimSchema, requireReadable } from '../../src/jobs/schema.js';
import { openStore, type Store } from '../../src/jobs/store.js';
import { Wakes } from '../../src/jobs/wakes.js';
import { Lifecycle } from '../../src/log/lifecycle.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import { SECOND } from '../../src/time.js';
import { bridgeGauge, logsGauge, redisGauge, watchdogGauge } from '../health/gauges.js';
import { probeFolder } from '../health/writeProbe.js';
import { JobQueue } from '../queue/pump.js';
import { buildChat } from './chat.js';
import { Connections, redisUrlOf } from './connections.js';
import { buildEvents, type Foundation, layFoundation } from './foundation.js';
import { reloadConfiguration } from './reloading.js';
import { buildStorePulse, buildVitals } from './vitals.js';
import { buildWatchdog } from './watchdogParts.js';

/** What one look may wait for reports and messages that it set off. */
const SETTLE_MS = 30 * SECOND;

const LOG_FILE = 'watchdog.log';

export interface Standby {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Reads the configuration again; never throws. */
  reload(): Promise<void>;
  /** One line in its log. */
  log(sentence: string): void;
  /** One look, with everything that follows from it; leaves nothing open. */
  checkOnce(how: { act: boolean }): Promise<TickSummary>;
}

/**
 * @param source asked anew for whatever may be reloaded
 * @param stopping ends the waiting for a Redis that is away; null does not wait
 * @throws UnreachableError where there is no Redis
 */
export async function assembleWatchdog(
  source: ConfigSource,
  logStream: TerminalStream,
  stopping: AbortSignal | null,
): Promise<Standby> {
  const { settings } = source;
  const foundation = layFoundation(settings, logStream, LOG_FILE);
  const { clock, logger } = foundation;
  const connections = new Connections(() => redisUrlOf(settings), foundation, stopping);
  const store = openStore(await connections.open('commands'), clock);
  await requireReadable(store.redis, store.keys).catch((error: unknown) => {
    connections.closeAll();
    throw error;
  });
  const wakes = new Wakes(await connections.open('subscriber'), store.keys);
  const connection = await connections.open('commands');
  const queue = new JobQueue({ store, host: settings.host, connection, clock, logger });
  const events = buildEvents(foundation, store);
  const chat = buildChat(foundation, store, events, null);
  const bridgeWatch = watchOverBridge(foundation, store, events);
  const stopped = new AbortController();
  let isOneLook = false;
  const { watchdog, lease, folders, saga, pulse, record, chores } = buildWatchdog(foundation, {
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
      if (!isOneLook) tellWhatWaits(foundation, store);
    },
  });
  const telegram = chat.telegram === null ? [] : [chat.telegram.chat];
  const vitals = buildVitals(foundation, {
    logFile: LOG_FILE,
    isTerminal: logStream.isTTY === true,
    gauges: [
      redisGauge(() => store.presences.touch(settings.host), clock),
      watchdogGauge(watchdog, lease, clock),
      bridgeGauge(() => bridgeWatch.living(), clock),
      logsGauge(
        () => probeFolder(settings.logsFolder),
        () => events.owed(),
      ),
    ],
    // With the environment of the bridge beside it, the port is the bridge's.
    isHealthRequired: false,
  });
  const services = new Lifecycle('watchdog', logger, [
    ...vitals,
    buildStorePulse(foundation, store),
    wakes,
    events,
    chat.delivery,
    ...telegram,
    pulse,
    lease,
    folders,
    watchdog,
    ...chores,
    bridgeWatch,
  ]);
  const close = async () => {
    await queue.close();
    connections.closeAll();
  };
  return {
    log: (sentence) => logger.info(sentence),
    reload: () => reloadConfiguration(source, null, logger),
    async start() {
      await claimSchema(store.redis, store.keys);
      await services.start();
    },
    async stop() {
      await services.stop();
      stopped.abort();
      await saga.settle();
      await close();
    },
    async checkOnce({ act }) {
      isOneLook = true;
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

/** A standby ends and revives, it runs nothing: whoever reads its log should know what is not done meanwhile. */
function tellWhatWaits({ logger, settings, here }: Foundation, store: Store): void {
  const { records, presences } = store;
  Promise.all([records.sessionIds('active'), records.sessionIds('pending'), presences.ofHost(settings.host)])
    .then(([active, pending, presence]) => {
      const isBridgeUp = presence !== null && isProcessAlive(presence.owner, here) !== false;
      const fields = { active: active.length, pending: pending.length, bridge_is_up: isBridgeUp };
      const counted = `${active.length} running, ${pending.length} waiting`;
      const isDraining = presence?.draining_since !== undefined;
      if (isBridgeUp && isDraining)
        logger.info(fields, `sessions: ${counted}; the bridge is stopping: it begins nothing`);
      else if (isBridgeUp) logger.info(fields, `sessions: ${counted}; a bridge runs them`);
      else logger.warn(fields, `sessions: ${counted}; nobody runs messages while no bridge is up: start one`);
    })
    .catch((err: unknown) => logger.warn({ err }, 'how many sessions wait could not be read'));
}
