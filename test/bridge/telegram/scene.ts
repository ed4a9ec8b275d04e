/** Real parts around the bridge's Telegram side: a Bot API server, a Redis, and a clock that the test moves. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AcceptanceClocks } from '../../../bridge/chat/acceptanceClocks.js';
import { SendMemory } from '../../../bridge/chat/sendMemory.js';
import { TelegramApi, type TelegramFoundation } from '../../../bridge/telegram/api.js';
import { BotNumbers } from '../../../bridge/telegram/botNumbers.js';
import { TelegramDelivery } from '../../../bridge/telegram/delivery/delivery.js';
import type { Turn } from '../../../bridge/telegram/intake/pollerTurn.js';
import { ProgressDisplay } from '../../../bridge/telegram/progress/progress.js';
import { ProgressEdits } from '../../../bridge/telegram/progress/progressEdits.js';
import { ProgressMemory } from '../../../bridge/telegram/progress/progressMemory.js';
import { memorySettings } from '../../../src/config/memorySettings.js';
import { pollingWith } from '../../../src/config/polling.js';
import { DEFAULT_ACTIONS } from '../../../src/config/projects.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import type { Project, Settings } from '../../../src/config/settings.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { telegramSessionId } from '../../../src/ids.js';
import type { CriticalEvent } from '../../../src/jobs/incidents.js';
import type { AgentSession, DeathProof, Run } from '../../../src/jobs/model.js';
import { conversationKey, laneOf } from '../../../src/jobs/names.js';
import { openStore } from '../../../src/jobs/store.js';
import { createLogger } from '../../../src/log/logger.js';
import { createRedactor } from '../../../src/log/redact.js';
import { DAY, SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { openTestRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';
import { startTelegramPeer, type TelegramPeer } from '../../peers/telegram/telegramPeer.js';

export const CHAT = -100_500;
export const OTHER_CHAT = -100_600;
export const PERSON = 1;
const LEASE_MS = 180_000;

/** Where there is one bridge, it is always its turn. */
export const ONLY_POLLER: Turn = {
  isOurs: true,
  isCertain: true,
  over: new AbortController().signal,
  fence: () => [],
  giveWay: () => undefined,
  untilOurs: async () => undefined,
};

export interface Scene extends TelegramFoundation {
  readonly peer: TelegramPeer;
  readonly clock: WatchedClock;
  readonly edits: ProgressEdits;
  readonly memory: SendMemory;
  readonly logged: string[];
  readonly logsFolder: string;
  readonly settings: Settings;
  readonly redisUrl: string;
  readonly prefix: string;
  readonly drainMs: number;
  /** The critical events that were told. */
  readonly told: CriticalEvent[];
}

/** Tells sleepers from timers: a loop that is in a call does not sleep. */
export class WatchedClock extends ManualClock {
  sleepers = 0;

  override async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    this.sleepers += 1;
    await super.sleep(delayMs, signal);
    this.sleepers -= 1;
  }
}

export async function openScene(): Promise<Scene> {
  const clock = new WatchedClock();
  const peer = await startTelegramPeer({ clock });
  afterThisTest(() => peer.stop());
  const { redis, prefix, url } = await openTestRedis();
  const logged: string[] = [];
  const logsFolder = testFolder();
  const told: CriticalEvent[] = [];
  const redact = createRedactor([peer.token]);
  const logger = createLogger({
    level: 'debug',
    redact,
    clock,
    destinations: [{ name: 'the test', write: (line) => void logged.push(line) }],
  });
  const store = openStore(redis, clock, prefix);
  const here = readProcessIdentity('testhost');
  const api = new TelegramApi({ token: peer.token, apiRoot: peer.url }, clock);
  const events = { logCriticalEvent: async (event: CriticalEvent) => void told.push(event) };
  const ground = { store, clock, logger, redact, here, events, api };
  const base = { ...ground, numbers: new BotNumbers(ground) };
  return {
    ...base,
    peer,
    edits: new ProgressEdits(base),
    memory: new SendMemory(base, logsFolder),
    logged,
    logsFolder,
    prefix,
    drainMs: 10_000,
    told,
    redisUrl: url,
    settings: testSettings([project('popoto', '/srv/popoto', [CHAT])]),
  };
}

/** The boot's clock is the one that tests cannot move. */
export function clocksOf({ clock }: Pick<Scene, 'clock'>): AcceptanceClocks {
  return new AcceptanceClocks(clock, { sinceBootMs: () => clock.monotonic() });
}

/** Shows nothing until a test begins it. */
export function displayOf(scene: Scene, clocks = clocksOf(scene)): ProgressDisplay {
  const display = new ProgressDisplay(
    scene,
    scene.edits,
    new ProgressMemory(scene.logsFolder, scene.logger),
    3 * SECOND,
    clocks,
  );
  afterThisTest(() => display.stop());
  return display;
}

/** @param scene `ended` hears of each message of which its chat is owed nothing more once its last line is written */
export function deliveryOf(
  scene: Scene & { readonly ended?: (sessionId: string) => void },
  progress: ProgressDisplay = displayOf(scene),
): TelegramDelivery {
  const { ended = () => undefined } = scene;
  return new TelegramDelivery({ ...scene, accepted: { ended } }, progress, scene.memory, scene.drainMs);
}

export function project(key: string, directory: string, chats: readonly number[], senders = [String(PERSON)]): Project {
  return {
    key,
    directory,
    places: chats.map((chat) => ({ chatId: String(chat), threadId: null, directory, trigger: 'any' as const })),
    senders,
    repository: null,
    publicDetail: 'names_only',
    host: null,
    isServedHere: true,
    reviveAfterHostLoss: true,
    isolation: null,
    readable: [],
    agent: { kind: 'scripted', options: {} },
    thresholds: DEFAULT_THRESHOLDS,
    actions: DEFAULT_ACTIONS,
  };
}

export function testSettings(projects: readonly Project[]): Settings {
  return {
    projects: new Map(projects.map((each) => [each.key, each])),
    redisUrl: null,
    telegram: null,
    github: null,
    watchdogCron: '*/5 * * * *',
    daydreamCron: null,
    daydreamTimeZone: 'UTC',
    agentConcurrency: 2,
    agentUser: null,
    agentEnvironment: {},
    logsFolder: '/nonexistent',
    ownFiles: { secret: [], settled: [], memories: [] },
    containerDiesWhole: false,
    host: 'testhost',
    logLevel: 'info',
    health: null,
    pingUrl: null,
    polling: pollingWith(),
    memory: memorySettings().parse(undefined),
    retention: { keptMs: 30 * DAY, archiveMs: 365 * DAY, archiveBytes: 1024 ** 3, logBytes: 10 * 1024 ** 2 },
    timings: {
      runLeaseMs: LEASE_MS,
      killGraceMs: 10_000,
      youngRunMs: 5_000,
      drainMs: 10_000,
      providerPauseMs: 15_000,
      reportWaitMs: 10_000,
      proofMs: 600_000,
      watchdogLeaseMs: 60_000,
      progressEveryMs: 3_000,
      backlogMs: 600_000,
      bridgeGoneMs: 120_000,
      stallMs: 60_000,
    },
    secrets: [],
    programPath: '',
    unusedProxy: null,
    notices: [],
  };
}

interface Asked {
  readonly chat?: number;
  readonly threadId?: number;
  readonly text?: string;
  readonly directory?: string;
}

/** A message of a person, accepted and being worked on; `threadId` and `chat` say where. */
export async function activeSession(scene: Scene, options: Asked = {}): Promise<AgentSession> {
  return begun(scene, await waitingSession(scene, options));
}

/** A message of a person, accepted; the parameters are those of {@link activeSession}. */
export async function waitingSession(scene: Scene, options: Asked = {}): Promise<AgentSession> {
  const { chat = CHAT, threadId, text = 'do it', directory = '/srv/popoto' } = options;
  const messageId = scene.peer.say(chat, text, { userId: PERSON, ...(threadId !== undefined && { threadId }) });
  const thread = threadId === undefined ? null : String(threadId);
  const { session } = await scene.store.transitions.accept({
    session_id: telegramSessionId('popoto', String(chat), String(messageId)),
    project_key: 'popoto',
    chat_id: String(chat),
    message_id: String(messageId),
    thread_id: thread,
    sender: { id: String(PERSON), name: 'Person 1' },
    message_text: text,
    conversation_key: conversationKey('popoto', String(chat), thread, 0),
    lane: laneOf('testhost', directory),
    working_directory: directory,
    agent: 'scripted',
  });
  return session;
}

export async function begun(scene: Scene, session: AgentSession): Promise<AgentSession> {
  const active = (await scene.store.transitions.start(session, runOf(session), LEASE_MS))?.session;
  if (active === undefined) throw new Error(`${session.session_id} is not at the head of a free lane`);
  return active;
}

export async function answered(scene: Scene, session: AgentSession, answer: string): Promise<AgentSession> {
  const done = await scene.store.transitions.complete(session.session_id, runIdOf(session), answer);
  if (done === null) throw new Error(`${session.session_id} could not be answered`);
  return done.session;
}

export function runIdOf(session: AgentSession): string {
  return `run-${session.session_id}`;
}

export function proofOf(session: AgentSession, now: number): DeathProof {
  return { run_id: runIdOf(session), proven_at: now, by: 'scan' };
}

/** @returns the session with a progress message of its own in the chat */
export async function withProgressMessage(scene: Scene, session: AgentSession): Promise<AgentSession> {
  const progressMessageId = await scene.api.sendMessage(
    { chatId: session.request.chat_id, threadId: session.request.thread_id, replyTo: session.request.message_id },
    { plain: 'Working …', html: null },
  );
  const next = await scene.store.transitions.recordRun(session.session_id, runIdOf(session), { progressMessageId });
  if (next === null) throw new Error('the progress message was not recorded');
  return next;
}

function runOf(session: AgentSession): Run {
  const owner = { host: 'testhost', boot_id: 'boot', pid_namespace: '1', pid: 1, pid_start: '1' };
  return { run_id: runIdOf(session), owner, pid: null, started_at: session.created_at };
}

/** @returns the identity of a process that has ended */
export async function deadProcess(): Promise<ProcessIdentity> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const identity = readProcessIdentity('testhost', child.pid);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return identity;
}
