/** The two ways from a message to its agent that `intake.ts` compares: ours, and bare BullMQ. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Queue, Worker } from 'bullmq';
import { createCommandAgent } from '../bridge/agents/command.js';
import type { Agent, AgentEvent } from '../bridge/agents/program/contract.js';
import { buildChat } from '../bridge/assembly/chat.js';
import { buildEvents, layFoundation } from '../bridge/assembly/foundation.js';
import { buildRunner } from '../bridge/assembly/work.js';
import { LaneStarter } from '../bridge/queue/laneStarter.js';
import { JobQueue } from '../bridge/queue/pump.js';
import { WakeListener } from '../bridge/queue/wakeListener.js';
import { SessionWorker } from '../bridge/queue/worker.js';
import { Reaper } from '../bridge/runs/reaper.js';
import { ensureLogsFolderId } from '../src/files/logsFolder.js';
import { conversationKey, laneOf } from '../src/jobs/names.js';
import type { SessionDraft } from '../src/jobs/newRecords.js';
import { openStore } from '../src/jobs/store.js';
import { Wakes } from '../src/jobs/wakes.js';
import { closeRedis, openRedis } from '../src/redis/connect.js';
import { systemClock } from '../src/time.js';
import type { Scene } from './scene.js';

/** The smallest program that reads its prompt, answers and ends. */
const PROGRAM = '/bin/cat';

/** How many run at once at the most: as on a large host. */
const PLACES = 50;

export interface Load {
  readonly agents: 'in_process' | 'children';
  /** How many lanes the messages come in. */
  readonly lanes: number;
}

export interface Way {
  /** Hands a message in, until it is accepted. */
  send(lane: number): Promise<{ readonly started: Promise<void> }>;
  /** @returns when nothing runs any more */
  idle(): Promise<void>;
}

/** Calls `work` with all of a bridge between its intake and its agents. */
export async function withOurs(scene: Scene, load: Load, work: (way: Way) => Promise<void>): Promise<void> {
  const { environment, settings, store, logsFolder } = scene;
  const foundation = layFoundation(settings, NO_TERMINAL, 'bridge.log');
  const { logger, clock } = foundation;
  const connect = (purpose: 'commands' | 'subscriber' | 'blocking') =>
    openRedis(environment.REDIS_URL ?? '', { purpose, clock });
  const connections = { jobs: connect('commands'), wakes: connect('subscriber'), worker: connect('blocking') };
  await Promise.all(Object.values(connections).map((connection) => connection.connect()));
  const runs = new Runs();
  const queue = new JobQueue({ store, host: settings.host, connection: connections.jobs, clock, logger });
  const wakes = new Wakes(connections.wakes, store.keys);
  const chat = buildChat(foundation, store, buildEvents(foundation, store), null);
  const notify = (sentence: string) => logger.warn(sentence);
  const reaper = new Reaper({ clock, leaseMs: settings.timings.runLeaseMs, notify });
  const logsId = await ensureLogsFolderId(logsFolder, clock);
  const agents = new Map([['popoto', runs.watched(load.agents === 'children' ? catAgent() : idleAgent())]]);
  const forgotten = { note: () => undefined, noteLost: async () => undefined };
  const lanes = new LaneStarter({ queue, clock, logger, forgotten });
  const runner = buildRunner(foundation, queue, wakes, {
    store,
    logsId,
    lanes,
    display: SILENT,
    chat: chat.router,
    reaper,
    endOnDisk: chat.endOnDisk,
    forgotten,
    directories: { mustWait: async () => false, follow: async () => false },
    leaving: new AbortController().signal,
    agents,
  });
  const worker = new SessionWorker({
    host: settings.host,
    bullPrefix: store.keys.bullPrefix,
    connection: connections.worker,
    concurrency: PLACES,
    logger,
    lanes: { startAllSoon: () => undefined },
    clock,
    runner: {
      start: () => runner.start(),
      stop: () => runner.stop(),
      execute: (id, hasRoom) => runs.untilEnded(runner.execute(id, hasRoom)),
    },
  });
  const services = [wakes, new WakeListener(wakes, chat.delivery, lanes), reaper, worker];
  for (const service of services) await service.start();
  const accept = chat.accepted.noting(lanes.acceptor(openStore(connections.jobs, clock), settings.host));
  try {
    await work({
      send: async (lane) => {
        const draft = messageIn(scene, lane);
        const started = runs.started(draft.session_id);
        await accept(draft, []);
        return { started };
      },
      idle: async () => {
        await runs.idle();
        // They are written while nothing else is to be done: the yardstick's turn must not pay for them.
        await foundation.worklogs.stop();
      },
    });
  } finally {
    for (const service of services.reverse()) await service.stop();
    await queue.close();
    for (const connection of Object.values(connections)) closeRedis(connection);
  }
}

/** Calls `work` with a queue and a worker as BullMQ's documentation shows them. */
export async function withBare(scene: Scene, load: Load, work: (way: Way) => Promise<void>): Promise<void> {
  const connect = (purpose: 'commands' | 'blocking') =>
    openRedis(scene.environment.REDIS_URL ?? '', { purpose, clock: systemClock });
  const [commands, blocking] = [connect('commands'), connect('blocking')];
  await Promise.all([commands.connect(), blocking.connect()]);
  const runs = new Runs();
  const queue = new Queue<SessionDraft>('bare', { connection: commands });
  const take = async ({ session_id, message_text }: SessionDraft) => {
    const child = load.agents === 'children' ? spawn(PROGRAM, { cwd: scene.folder, detached: true }) : null;
    runs.hasStarted(session_id);
    if (child === null) return;
    child.stdin.end(message_text);
    child.stdout.resume();
    await once(child, 'close');
  };
  const options = { connection: blocking, concurrency: Math.min(load.lanes, PLACES) };
  const worker = new Worker<SessionDraft>('bare', ({ data }) => runs.untilEnded(take(data)), options);
  await worker.waitUntilReady();
  try {
    await work({
      send: async (lane) => {
        const draft = messageIn(scene, lane);
        const started = runs.started(draft.session_id);
        await queue.add('message', draft, { removeOnComplete: true, removeOnFail: true });
        return { started };
      },
      idle: () => runs.idle(),
    });
  } finally {
    await worker.close();
    await queue.close();
    for (const connection of [commands, blocking]) closeRedis(connection);
  }
}

let sent = 0;

/** What either way is handed: all that an agent needs to know. */
function messageIn({ folder, settings }: Scene, lane: number): SessionDraft {
  sent += 1;
  const id = `${process.hrtime.bigint()}${sent}`;
  return {
    session_id: `tg_popoto_-100_${id}`,
    project_key: 'popoto',
    chat_id: '-100',
    message_id: id,
    thread_id: null,
    sender: { id: '7', name: 'Ann' },
    message_text: 'Please look into this and tell me what you find.',
    conversation_key: conversationKey('popoto', '-100', null, lane),
    lane: laneOf(settings.host, `/srv/popoto/${lane}`),
    working_directory: folder,
    agent: 'command',
  };
}

/** Who waits for which start, and what still runs. */
class Runs {
  readonly #waiting = new Map<string, () => void>();
  readonly #running = new Set<Promise<void>>();

  started(id: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  hasStarted(id: string): void {
    this.#waiting.get(id)?.();
    this.#waiting.delete(id);
  }

  async untilEnded(run: Promise<void>): Promise<void> {
    this.#running.add(run);
    await run.finally(() => this.#running.delete(run));
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  watched(agent: Agent): Agent {
    return {
      kind: agent.kind,
      start: (request, signal) => {
        const run = agent.start(request, signal);
        this.hasStarted(request.sessionId);
        return run;
      },
    };
  }
}

/** Chats and terminals are not part of what is measured. */
const NO_TERMINAL = { write: () => true, on: () => undefined };
const SILENT = { begin: () => undefined, update: () => undefined, end: async () => undefined, messageOf: () => null };

function catAgent(): Agent {
  return createCommandAgent({ command: [PROGRAM], prompt: 'stdin', output: 'text' });
}

/** Answers at once, in this process. */
function idleAgent(): Agent {
  return { kind: 'idle', start: () => ({ pid: null, events: turn() }) };
}

async function* turn(): AsyncIterable<AgentEvent> {
  yield { type: 'end', end: { kind: 'answered', answer: 'Nothing was to be done.' } };
}
