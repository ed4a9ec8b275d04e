/** Builds the bridge. Services stop in the reverse order of their start. */

import type { ConfigSource } from '../../src/config/configSource.js';
import { servedPlaces } from '../../src/config/servedPlaces.js';
import { Lifecycle } from '../../src/log/lifecycle.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import type { Service } from '../../src/service.js';
import { refuseUserWithoutRights, warnOfOpenAgents } from '../agents/program/isolation.js';
import { BridgePresence } from '../health/bridgePresence.js';
import { directoriesGauge, logsGauge, pollGauge, redisGauge, watchdogGauge, workerGauge } from '../health/gauges.js';
import { RestartWatch } from '../health/restartWatch.js';
import { probeFolder } from '../health/writeProbe.js';
import { WakeListener } from '../queue/wakeListener.js';
import { ForgottenNotice } from '../runs/forgottenNotice.js';
import { buildChat, type ChatParts } from './chat.js';
import { buildEvents, type Foundation, layFoundation } from './foundation.js';
import { type BridgeStores, type Ground, openStores, takeGround } from './ground.js';
import { buildIntakes, type Intakes, type Terminal } from './intakes.js';
import { rulesByProject } from './judging.js';
import { ServedAgents, warnOfDirectories } from './reloading.js';
import { type Bridge, RunningBridge } from './runningBridge.js';
import { toFillIn } from './toFillIn.js';
import { buildStorePulse, buildVitals } from './vitals.js';
import { buildWatchdog, type WatchdogParts } from './watchdogParts.js';
import { buildWork, type Work } from './work.js';

const LOG_FILE = 'bridge.log';

export interface BridgeStreams {
  readonly terminal: Terminal;
  readonly logStream: TerminalStream;
}

/**
 * @param source read again for every setting that may be reloaded
 * @param stopping aborts when the process is asked to stop: it ends the wait for an unreachable Redis, and from then on an
 * agent that ends by a signal was stopped by the shutdown
 * @returns the bridge, its Redis up and connected, nothing else started
 * @throws UsageError if an agent cannot be set up, or a living bridge has the host id or owns the logs folder
 * @throws UnreachableError if no Redis is available
 */
export async function assembleBridge(
  source: ConfigSource,
  streams: BridgeStreams,
  stopping: AbortSignal,
): Promise<Bridge> {
  const { settings } = source;
  const agents = new ServedAgents(settings.projects);
  const foundation = layFoundation(settings, streams.logStream, LOG_FILE);
  await warnOfSettings(foundation);
  const ground = await takeGround(foundation, stopping);
  try {
    const parts = await buildParts(foundation, ground, { agents, streams, stopping });
    return bridgeOf(source, parts);
  } catch (error) {
    await ground.close();
    throw error;
  }
}

/** @throws UsageError if agents cannot run as the configured user */
async function warnOfSettings({ settings, logger }: Foundation): Promise<void> {
  for (const notice of settings.notices) logger.warn(notice);
  for (const sentence of toFillIn(settings)) logger.info(sentence);
  refuseUserWithoutRights(settings);
  warnOfOpenAgents(settings, logger);
  await warnOfDirectories(settings, logger);
}

interface Given {
  readonly agents: ServedAgents;
  readonly streams: BridgeStreams;
  readonly stopping: AbortSignal;
}

interface BridgeParts extends Given {
  readonly foundation: Foundation;
  readonly ground: Ground;
  readonly stores: BridgeStores;
  readonly events: ReturnType<typeof buildEvents>;
  readonly forgotten: ForgottenNotice;
  readonly chat: ChatParts;
  readonly judging: WatchdogParts;
  readonly work: Work;
  readonly intakes: Intakes;
  /** Aborts the watchdog's outside calls that are in progress. */
  readonly stopped: AbortController;
}

async function buildParts(foundation: Foundation, ground: Ground, given: Given): Promise<BridgeParts> {
  const { settings, clock, logger } = foundation;
  const { agents, streams, stopping } = given;
  const stores = await openStores(foundation, ground);
  const { store, intakeStore, wakes, queue } = stores;
  const events = buildEvents(foundation, store);
  const forgotten = new ForgottenNotice({ clock, logger, events, host: settings.host });
  const chat = buildChat(foundation, store, events, streams.terminal);
  const stopped = new AbortController();
  const acting = { standsBy: false, endOnDisk: chat.endOnDisk, stopping: stopped.signal };
  const judging = buildWatchdog(foundation, { store, wakes, queue, events, chat: chat.router, ...acting });
  const connection = await ground.connections.open('blocking');
  const work = buildWork(foundation, { stores, chat, agents, forgotten, connection, leaving: stopping });
  const { lanes, directories } = work;
  const isMissing = (directory: string) => directories.isMissing(directory);
  const { terminal } = streams;
  const intakes = buildIntakes(foundation, intakeStore, { lanes, events, chat, terminal, isMissing });
  return { ...given, foundation, ground, stores, events, forgotten, chat, judging, work, intakes, stopped };
}

function bridgeOf(source: ConfigSource, parts: BridgeParts): Bridge {
  const { foundation, ground, stores, agents, chat, judging, work, stopped } = parts;
  const presence = buildPresence(parts);
  return new RunningBridge({
    source,
    foundation,
    ground,
    agents,
    chat,
    runner: work.runner,
    stopMark: work.stopMark,
    lifecycle: new Lifecycle('bridge', foundation.logger, servicesOf(parts, presence)),
    lost: AbortSignal.any([ground.redis.lost, work.canaries.lost, ground.only.lost]),
    async leave() {
      stopped.abort();
      await judging.saga.settle();
      await stores.queue.close();
      await presence.stop();
    },
  });
}

function servicesOf(parts: BridgeParts, presence: BridgePresence): Service[] {
  const { foundation, stores, events, forgotten, chat, judging, work, intakes } = parts;
  const { settings, clock, logger } = foundation;
  const { store, wakes } = stores;
  return [
    ...buildBridgeVitals(parts),
    buildStorePulse(foundation, store, () => forgotten.noteAll()),
    wakes,
    events,
    forgotten,
    new RestartWatch({ starts: store.bridgeStarts, events, host: settings.host, clock, logger }),
    chat.delivery,
    ...(chat.telegram === null ? [] : [chat.telegram.chat]),
    new WakeListener(wakes, chat.delivery, work.lanes),
    work.reaper,
    work.directories,
    work.cleanStart,
    work.worker,
    work.canaries,
    judging.pulse,
    judging.lease,
    judging.folders,
    judging.watchdog,
    ...judging.chores,
    ...intakes.all,
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
    runLeaseMs: settings.timings.runLeaseMs,
    get places() {
      return servedPlaces(settings);
    },
    get rules() {
      return rulesByProject(settings);
    },
    botId: chat.telegram?.api.botId ?? null,
    worker: work.worker,
    intake: intakes.telegram,
  });
}

function buildBridgeVitals({ foundation, streams, stores, events, judging, work, intakes }: BridgeParts): Service[] {
  const { settings, clock } = foundation;
  const gauges = [
    ...(intakes.telegram === null ? [] : [pollGauge(intakes.telegram, clock)]),
    redisGauge(() => stores.store.presences.touch(settings.host), clock),
    workerGauge(work.worker, clock),
    directoriesGauge(work.directories),
    watchdogGauge(judging.watchdog, judging.lease, clock),
    logsGauge(
      () => probeFolder(settings.logsFolder),
      () => events.owed(),
    ),
  ];
  const isTerminal = streams.logStream.isTTY === true;
  return buildVitals(foundation, { logFile: LOG_FILE, isTerminal, gauges, isHealthRequired: true });
}
