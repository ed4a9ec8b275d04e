/** The watchdog as a process of its own: a standby next to a bridge, or a single look. */

import { BridgeWatch } from '../../monitoring/rounds/bridgeWatch.js';
import type { ConfigSource } from '../../src/config/configSource.js';
import { homesOf } from '../../src/config/servedPlaces.js';
import type { Settings } from '../../src/config/settings.js';
import { claimSchema, requireReadable } from '../../src/jobs/schema.js';
import { openStore } from '../../src/jobs/store.js';
import { Wakes } from '../../src/jobs/wakes.js';
import { Lifecycle } from '../../src/log/lifecycle.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import type { Service } from '../../src/service.js';
import { reloadConfiguration } from '../doctor/operatorNotices.js';
import { bridgeGauge, logsGauge, redisGauge, watchdogGauge } from '../health/gauges.js';
import { ReloadRequests } from '../health/reloadRequests.js';
import { StorePulse } from '../health/storePulse.js';
import { logWhatWaits } from '../health/whatWaits.js';
import { JobQueue } from '../queue/pump.js';
import { Connections } from '../redis/connections.js';
import { redisUrlOf } from '../redis/endpoint.js';
import { buildChat } from './chat.js';
import { buildEvents, type Foundation, layFoundation } from './foundation.js';
import { buildTerminalWatch, type ServiceStreams } from './terminals.js';
import { buildVitals } from './vitals.js';
import { buildWatchdog } from './watchdog.js';

const LOG_FILE = 'watchdog.log';

/** @param stopping ends the wait for an unreachable Redis @throws UnreachableError if there is none */
export async function assembleStandby(source: ConfigSource, streams: ServiceStreams, stopping: AbortSignal) {
  const foundation = layFoundation(source.settings, streams.logStream, LOG_FILE);
  const { logger } = foundation;
  const stores = await openStores(foundation, stopping);
  const { store } = stores;
  const parts = buildParts(foundation, stores, () => logWhatWaits(store, foundation.here, logger));
  const reload = () => reloadConfiguration(source, null, logger, parts.tryRefusedAgain);
  const { wakes } = stores;
  const requests = new ReloadRequests({ ...foundation, store, wakes, service: 'watchdog', reload });
  const services = [...servicesOf(foundation, parts, streams), requests];
  const lifecycle = new Lifecycle('watchdog', logger, services);
  return {
    log: (sentence: string) => logger.info(sentence),
    /** Reads the configuration again; never throws. */
    reload,
    async start() {
      await claimSchema(store.redis, store.keys);
      await lifecycle.start();
    },
    async stop() {
      await lifecycle.stop();
      parts.stopped.abort();
      await parts.saga.settle();
      await stores.close();
    },
  };
}

/** @returns two ways of looking once; each leaves nothing open @throws UnreachableError if there is no Redis */
export async function assembleLook(settings: Settings, logStream: TerminalStream) {
  const foundation = layFoundation(settings, logStream, LOG_FILE);
  const stores = await openStores(foundation, null);
  const { close } = stores;
  const { watchdog, lease, record } = buildParts(foundation, stores);
  return {
    /** Only looks: nothing is stored, filed or sent. */
    look: () => watchdog.checkAllSessions({ act: false }).finally(close),
    /** One look, and everything that follows from it. */
    async lookAndAct() {
      try {
        await lease.start();
        await record.runOnce();
        return await watchdog.lookAndAct(settings.timings.reportWaitMs);
      } finally {
        await lease.stop();
        await close();
      }
    },
  };
}

async function openStores({ settings, clock, logger, outage }: Foundation, stopping: AbortSignal | null) {
  const { host } = settings;
  const connections = new Connections(() => redisUrlOf(settings), outage, clock, stopping);
  const store = openStore(await connections.open('commands'), clock);
  await requireReadable(store.redis, store.keys).catch((error: unknown) => {
    connections.closeAll();
    throw error;
  });
  const wakes = new Wakes(await connections.open('subscriber'), store.keys);
  const connection = await connections.open('commands');
  const queue = new JobQueue({ store, host, connection, clock, logger });
  const close = async () => {
    await queue.close();
    connections.closeAll();
  };
  return { store, wakes, queue, close };
}

type StandbyStores = Awaited<ReturnType<typeof openStores>>;

function buildParts(foundation: Foundation, stores: StandbyStores, onActing?: () => void) {
  const { settings } = foundation;
  const { store, wakes, queue } = stores;
  const events = buildEvents(foundation, store);
  const chat = buildChat(foundation, store, events, null);
  const bridgeWatch = new BridgeWatch({
    ...foundation,
    store,
    events,
    goneMs: settings.timings.bridgeGoneMs,
    get homes() {
      return homesOf(settings);
    },
  });
  const stopped = new AbortController();
  const { signal: stopping } = stopped;
  const isPingDue = async () => (await bridgeWatch.living()) !== null;
  const given = { store, wakes, queue, events, chat, standsBy: true, stopping, isPingDue, onActing };
  return { store, wakes, events, chat, bridgeWatch, stopped, ...buildWatchdog(foundation, given) };
}

function servicesOf(
  foundation: Foundation,
  { store, wakes, events, chat, bridgeWatch, ...watching }: ReturnType<typeof buildParts>,
  streams: ServiceStreams,
): Service[] {
  const { settings, clock, outage } = foundation;
  const { host, logsFolder } = settings;
  const gauges = [
    redisGauge(() => store.presences.touch(host), clock),
    watchdogGauge(watching.watchdog, watching.lease, clock),
    bridgeGauge(() => bridgeWatch.living(), clock),
    logsGauge(logsFolder, events),
  ];
  return [
    // If it shares the environment of a bridge, the port belongs to the bridge.
    ...buildVitals(foundation, gauges, false),
    new StorePulse({ ...foundation, store, events }, outage),
    wakes,
    events,
    ...chat.services,
    ...watching.services,
    buildTerminalWatch(foundation, streams, { events, ...watching }),
    bridgeWatch,
  ];
}
