/** The bridge, built. What is started first is stopped last. */

import type { Settings } from '../../src/config/settings.js';
import { ulid } from '../../src/ids.js';
import { Lifecycle } from '../../src/lifecycle.js';
import type { TerminalStream } from '../../src/logDestinations.js';
import type { DeathProof } from '../../src/model.js';
import type { Service } from '../../src/service.js';
import { openStore, type Store } from '../../src/store/store.js';
import { Wakes } from '../../src/store/wakes.js';
import { isoTime } from '../../src/time.js';
import { createAgents } from '../agents/registry.js';
import { type ChatMessage, MessageAcceptor } from '../intake/acceptMessage.js';
import { Commands } from '../intake/commands.js';
import { JobQueue } from '../queue/pump.js';
import { SessionWorker } from '../queue/worker.js';
import { startEmbeddedRedis } from '../redis/embeddedRedis.js';
import { endRun } from '../runs/endRun.js';
import { endPredecessorsRuns } from '../runs/predecessors.js';
import { promptOf } from '../runs/prompt.js';
import { Reaper } from '../runs/reaper.js';
import { Runner } from '../runs/runner.js';
import { TelegramIntake } from '../telegram/intake.js';
import { RejectedUpdates } from '../telegram/rejectedUpdates.js';
import { TerminalIntake } from '../terminal/terminalIntake.js';
import { buildChat, type ChatParts } from './chat.js';
import { LOST_JOB_PAUSE_MS, pumpSafely, wakeDispatch } from './dispatch.js';
import { Connections, type Foundation, layFoundation } from './foundation.js';
import { buildWatchdog } from './watchdogParts.js';

export interface BridgeStreams {
  readonly terminal: {
    write(text: string): void;
    /** Lines that a person types; null where nobody can. */
    readonly lines: AsyncIterable<string> | null;
  };
  readonly logStream: TerminalStream;
}

/**
 * @param stopping ends the waiting for a Redis that is away
 * @returns the bridge, its Redis up and connected, nothing else started
 * @throws UsageError where an agent cannot be set up, or a living bridge owns the logs folder
 * @throws UnreachableError where there is no Redis to be had
 */
export async function assembleBridge(
  settings: Settings,
  streams: BridgeStreams,
  stopping: AbortSignal,
): Promise<Pick<Service, 'start' | 'stop'>> {
  const agents = createAgents(settings.projects.values());
  const foundation = layFoundation(settings, streams.logStream, 'bridge.log');
  const { logger, clock } = foundation;
  for (const notice of settings.notices) logger.warn(notice);
  const redis = await obtainRedis(foundation);
  const connections = new Connections(redis.url, logger);
  const closeAll = async () => {
    connections.closeAll();
    await redis.stop();
  };
  try {
    await connections.waitUntilReachable(clock, stopping);
    const store = openStore(await connections.open('commands'), clock);
    const wakes = new Wakes(await connections.open('subscriber'), store.keys);
    const queue = new JobQueue(store, settings.host, await connections.open('commands'), (error) =>
      logger.error(error.message),
    );
    const chat = buildChat(foundation, store, streams.terminal);
    const stopped = new AbortController();
    const parts = { store, wakes, queue, chat: chat.router, stopping: stopped.signal };
    const { watchdog, lease, saga } = buildWatchdog(foundation, parts);
    const reaper = new Reaper({
      clock,
      leaseMs: settings.timings.runLeaseMs,
      graceMs: settings.timings.killGraceMs,
      notify: (sentence) => logger.warn(sentence),
    });
    const worker = new SessionWorker({
      host: settings.host,
      bullPrefix: store.keys.bullPrefix,
      connection: await connections.open('blocking'),
      concurrency: settings.agentConcurrency,
      logger,
      onJobLost: () => void clock.after(LOST_JOB_PAUSE_MS, () => void pumpSafely(queue, logger)),
      clock,
      runner: buildRunner(foundation, store, wakes, chat, reaper, agents),
    });
    const beginning = predecessorCleaning(foundation, store, queue);
    const dispatch = wakeDispatch(wakes, queue, chat, logger);
    const intakes = buildIntakes(foundation, store, queue, chat, streams);
    const telegram = chat.telegram === null ? [] : [chat.telegram.chat];
    const services = [
      wakes,
      chat.delivery,
      ...telegram,
      dispatch,
      reaper,
      beginning,
      worker,
      lease,
      watchdog,
      ...intakes,
    ];
    const lifecycle = new Lifecycle('bridge', logger, services);
    const leave = async () => {
      stopped.abort();
      await saga.settle();
      await queue.close();
      await closeAll();
    };
    return {
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
        await lifecycle.stop();
        await leave();
        logger.info('the bridge has stopped');
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function obtainRedis({ settings, clock, logger }: Foundation): Promise<{ url: string; stop(): Promise<void> }> {
  if (settings.redisUrl !== null) return { url: settings.redisUrl, stop: async () => undefined };
  const { logsFolder, programPath: path, host } = settings;
  const redis = await startEmbeddedRedis({ logsFolder, path, host, clock });
  if (redis.notice !== null) logger.warn(redis.notice);
  logger.info(`REDIS_URL is not set: the bridge owns a ${redis.kind}, data below ${logsFolder}`);
  return redis;
}

function buildRunner(
  foundation: Foundation,
  store: Store,
  wakes: Wakes,
  chat: ChatParts,
  reaper: Reaper,
  agents: ReturnType<typeof createAgents>,
): Runner {
  const { settings, clock, logger, redact, here } = foundation;
  const { logsFolder, timings } = settings;
  return new Runner(
    {
      store,
      clock,
      logger,
      here,
      logsFolder,
      redact,
      runLeaseMs: timings.runLeaseMs,
      agentEnvironment: settings.agentEnvironment,
      agentOf: (projectKey) => agents.get(projectKey) ?? null,
      projectOf: (key) => settings.projects.get(key) ?? null,
      promptOf: (session) => promptOf(store, logsFolder, redact, session),
      reaper,
      endProcesses: (runId, groupPid) => endProcesses(foundation, runId, groupPid),
      display: chat.progress,
    },
    wakes,
    timings,
  );
}

async function endProcesses(
  { settings, clock }: Foundation,
  runId: string,
  groupPid: number | null,
): Promise<DeathProof | null> {
  const report = await endRun({ runId, groupPid }, { clock, graceMs: settings.timings.killGraceMs });
  return report.proven ? { run_id: runId, proven_at: clock.now(), by: 'scan' } : null;
}

/** Before any job is taken: nothing of a dead predecessor may still work in a lane. */
function predecessorCleaning(foundation: Foundation, store: Store, queue: JobQueue): Service {
  const { logger, here } = foundation;
  return {
    name: 'clean start',
    async start() {
      const ended = await endPredecessorsRuns({
        store,
        logger,
        here,
        endProcesses: (runId, groupPid) => endProcesses(foundation, runId, groupPid),
      });
      if (ended.length > 0)
        logger.warn({ sessions: ended }, `runs of a bridge that died are ended: ${ended.join(', ')}`);
      await queue.pump();
    },
    stop: async () => undefined,
  };
}

function buildIntakes(
  foundation: Foundation,
  store: Store,
  queue: JobQueue,
  chat: ChatParts,
  { terminal }: BridgeStreams,
): Service[] {
  const { settings, clock, logger: log, redact } = foundation;
  const unroutable = (message: ChatMessage) => logUnroutable(foundation, message);
  const acceptor = new MessageAcceptor({ store, settings, clock, unroutable });
  const describeActivity = (sessionId: string) => chat.progress.describe(sessionId);
  const commands = new Commands({ store, clock, describeActivity });
  const pump = () => queue.pump();
  const intakes: Service[] = [];
  if (chat.telegram !== null) {
    const rejected = new RejectedUpdates(settings.logsFolder, redact, clock, log);
    intakes.push(new TelegramIntake({ store, api: chat.telegram.api, clock, log, acceptor, commands, pump, rejected }));
  }
  const [project] = settings.projects.values();
  if (terminal.lines !== null && project !== undefined) {
    const { lines } = terminal;
    intakes.push(new TerminalIntake({ lines, writer: terminal, project, acceptor, commands, clock, log, pump }));
  }
  return intakes;
}

function logUnroutable({ clock, events, logger }: Foundation, message: ChatMessage): void {
  const id = ulid(clock);
  const event = {
    v: 1,
    id: `${id}.detected`,
    incident_id: id,
    final: true,
    timestamp: isoTime(clock.now()),
    event: 'message_unroutable',
    session_id: null,
    project_key: null,
    reason: 'chat_not_listed',
    rule: null,
    action_taken: 'detected',
    github_issue: null,
    details: { chat_id: message.chatId, thread_id: message.threadId, message_id: message.messageId },
    untrusted_excerpt: message.text,
  } as const;
  events
    .logCriticalEvent(event)
    .catch((err: unknown) => logger.error({ err, event }, 'a critical event was not written'));
}

function describe(settings: Settings): string {
  const projects = [...settings.projects.keys()].join(', ') || 'none';
  const chat = settings.telegram === null ? 'the terminal is the chat (no TELEGRAM_BOT_TOKEN)' : 'Telegram';
  const issues = settings.github === null ? 'issues are files in logs/issues (no GITHUB_TOKEN)' : 'issues go to GitHub';
  return `projects ${projects}; ${chat}; ${issues}; ${settings.agentConcurrency} agents at once`;
}
