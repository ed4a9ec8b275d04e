/** Builds the bridge. Services stop in the reverse order of their start. */

import type { ConfigSource } from '../../src/config/configSource.js';
import { describeService } from '../../src/config/issuePlaces.js';
import type { ReloadOutcome } from '../../src/jobs/reloads.js';
import { Lifecycle } from '../../src/log/lifecycle.js';
import type { Service } from '../../src/service.js';
import { ServedAgents } from '../agents/registry.js';
import { logStartNotices, reloadConfiguration } from '../doctor/operatorNotices.js';
import { BridgePresence } from '../health/bridgePresence.js';
import { FolderWatch } from '../health/folderWatch.js';
import { directoriesGauge, logsGauge, pollGauge, redisGauge, watchdogGauge, workerGauge } from '../health/gauges.js';
import { NotedStarts } from '../health/notedStarts.js';
import { awaitStop } from '../health/orderlyStop.js';
import { ReloadRequests } from '../health/reloadRequests.js';
import { RestartWatch } from '../health/restartWatch.js';
import { StorePulse } from '../health/storePulse.js';
import { WakeListener } from '../queue/wakeListener.js';
import { ForgottenNotice } from '../runs/forgottenNotice.js';
import { buildChat } from './chat.js';
import { buildEvents, type Foundation, layFoundation } from './foundation.js';
import { type Ground, openStores, takeGround } from './ground.js';
import { buildIntakes, type Terminal } from './intakes.js';
import { buildTerminalWatch, type ServiceStreams } from './terminals.js';
import { buildVitals } from './vitals.js';
import { buildWatchdog } from './watchdog.js';
import { buildWork } from './work.js';

const LOG_FILE = 'bridge.log';

export interface BridgeStreams extends ServiceStreams {
  readonly terminal: Terminal;
}

/**
 * @param source read again for every setting that may be reloaded
 * @param stopping aborts when the process is asked to stop: it ends the wait for an unreachable Redis, and from then on an
 * agent that ends by a signal was stopped by the shutdown
 * @returns the bridge, its Redis up and connected, nothing else started
 * @throws UsageError if an agent cannot be set up, or a living bridge has the host id or owns the logs folder
 * @throws UnreachableError if no Redis is available
 */
export async function assembleBridge(source: ConfigSource, streams: BridgeStreams, stopping: AbortSignal) {
  const { settings } = source;
  const agents = new ServedAgents(settings);
  const foundation = layFoundation(settings, streams.logStream, LOG_FILE);
  const starts = new NotedStarts(settings.logsFolder, settings.host, foundation.clock);
  starts.begin(foundation.logger);
  let ground: Ground | null = null;
  try {
    await logStartNotices(settings, foundation.logger, streams.terminal.lines !== null);
    ground = await takeGround(foundation, stopping);
    const parts = await buildParts(foundation, ground, { agents, streams, stopping });
    return bridgeOf(source, { ...parts, starts });
  } catch (error) {
    starts.ended();
    await ground?.close();
    throw error;
  }
}

type BridgeParts = Awaited<ReturnType<typeof buildParts>> & { readonly starts: NotedStarts };

async function buildParts(
  foundation: Foundation,
  ground: Ground,
  { agents, streams, stopping }: { agents: ServedAgents; streams: BridgeStreams; stopping: AbortSignal },
) {
  const { settings, clock, logger } = foundation;
  const { terminal } = streams;
  const stores = await openStores(foundation, ground);
  const { store } = stores;
  const events = buildEvents(foundation, store);
  const forgotten = new ForgottenNotice(clock, logger, events, settings.host);
  const chat = buildChat(foundation, store, events, terminal);
  const stopped = new AbortController();
  const watching = buildWatchdog(foundation, { ...stores, events, chat, standsBy: false, stopping: stopped.signal });
  const terminals = buildTerminalWatch(foundation, streams, { events, ...watching });
  const connection = await ground.connections.open('blocking');
  const work = buildWork(foundation, { stores, chat, agents, forgotten, connection, leaving: stopping });
  const intakes = buildIntakes(foundation, { store: stores.intakeStore, work, events, chat, terminal, terminals });
  return {
    foundation,
    ground,
    stores,
    agents,
    events,
    forgotten,
    chat,
    watching,
    terminals,
    work,
    intakes,
    stopped,
    terminal,
  };
}

function bridgeOf(source: ConfigSource, parts: BridgeParts) {
  const { foundation, ground, stores, agents, chat, watching, work, stopped, terminal } = parts;
  const { settings, clock, logger } = foundation;
  const presence = buildPresence(parts);
  const reload = () => reloadConfiguration(source, agents, logger, watching.tryRefusedAgain);
  const lifecycle = new Lifecycle('bridge', logger, servicesOf(parts, presence, reload));
  const leave = async () => {
    stopped.abort();
    await watching.saga.settle();
    parts.starts.ended();
    await stores.queue.close();
    await presence.stop();
    await ground.close();
  };
  return {
    /** Aborted, with the error that ends the process as its reason, when the bridge cannot continue. */
    lost: AbortSignal.any([ground.redis.lost, work.canaries.lost, ground.only.lost]),
    log: (sentence: string) => logger.info(sentence),
    /** Reads the configuration again; never throws. */
    reload,
    async start() {
      try {
        await lifecycle.start();
      } catch (error) {
        await leave();
        throw error;
      }
      logger.info(`the bridge is up: ${describeService(settings, terminal.lines !== null)}`);
    },
    async stop() {
      logger.info('the bridge is stopping');
      const marked = work.stopMark.set();
      chat.telegram?.chat.stopSoon();
      // The mark's file must be complete before the process may exit.
      await awaitStop(Promise.all([lifecycle.stop(), marked]).then(leave), settings.timings, clock, logger);
    },
    /** Ends every run by force, and returns when they are put back or that takes too long. */
    async stopNow() {
      chat.telegram?.chat.stopSoon();
      await work.runner.killAll();
      // It leads a process group of its own, and would stay alive unseen.
      await ground.redis.stop();
    },
  };
}

function servicesOf(parts: BridgeParts, presence: BridgePresence, reload: () => Promise<ReloadOutcome>): Service[] {
  const { foundation, ground, stores, events, forgotten, chat, watching, terminals, work, intakes, starts } = parts;
  const { store, wakes } = stores;
  const base = { ...foundation, store, events };
  return [
    ...buildVitals(foundation, gaugesOf(parts), true),
    new StorePulse(base, foundation.outage, () => forgotten.noteAll()),
    new FolderWatch({
      ...foundation,
      ...foundation.settings,
      logsId: stores.logsId,
      redis: ground.redis,
      client: store.redis,
      events,
    }),
    wakes,
    events,
    foundation.worklogs,
    forgotten,
    new RestartWatch(base, starts),
    ...chat.services,
    new WakeListener(wakes, chat.delivery, work.lanes),
    work.reaper,
    work.directories,
    work.cleanStart,
    work.acceptedRounds,
    work.missedEnds,
    work.worker,
    work.canaries,
    work.words,
    ...watching.services,
    terminals,
    ...intakes.all,
    new ReloadRequests({ ...base, wakes, service: 'bridge', reload }),
    { name: 'word of the living', start: () => presence.start(), stop: () => presence.drain() },
  ];
}

function buildPresence({ foundation, stores, chat, work, intakes }: BridgeParts): BridgePresence {
  const { settings, clock, logger, here } = foundation;
  return new BridgePresence({
    presences: stores.store.presences,
    clock,
    logger,
    here,
    settings,
    botId: chat.telegram?.api.botId ?? null,
    worker: work.worker,
    intake: intakes.telegram,
  });
}

function gaugesOf({ foundation, stores, events, watching, work, intakes }: BridgeParts) {
  const { settings, clock } = foundation;
  return [
    ...(intakes.telegram === null ? [] : [pollGauge(intakes.telegram, clock)]),
    redisGauge(() => stores.store.presences.touch(settings.host), clock),
    workerGauge(work.worker, clock),
    directoriesGauge(work.directories),
    watchdogGauge(watching.watchdog, watching.lease, clock),
    logsGauge(settings.logsFolder, events),
  ];
}
