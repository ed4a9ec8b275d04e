/**
 * Active sessions by the thousand, as a bridge leaves them: records, lanes and leases in a real Redis, made by the
 * transitions that a bridge uses, and journals in a real folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSettings } from '../src/config/readSettings.js';
import type { Settings } from '../src/config/settings.js';
import { ensureLogsFolderId } from '../src/files/logsFolder.js';
import { readProcessIdentity } from '../src/host/identity.js';
import type { AgentSession } from '../src/jobs/model.js';
import { conversationKey, laneOf } from '../src/jobs/names.js';
import { openStore, type Store } from '../src/jobs/store.js';
import { journalPath } from '../src/journal/path.js';
import { closeRedis, openRedis } from '../src/redis/connect.js';
import { DAY, HOUR, systemClock } from '../src/time.js';
import { RedisServer } from '../test/e2e/redisServer.js';
import { journalText } from './journals.js';
import { inScratchFolder } from './scratch.js';

const HOST = 'bench';
const CHAT = '-100';
/** The run's lease of none of them ends while a bench runs. */
const LEASE_MS = DAY;
/** So that what their journals tell belongs to their runs. */
const BEGUN_BEFORE_MS = HOUR;
/** How many sessions are on their way to Redis at once. */
const AT_ONCE = 500;

export interface Scene {
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly logsFolder: string;
  readonly settings: Settings;
  readonly store: Store;
}

/** Calls `work` with a Redis, a configuration and folders of its own, which are gone afterwards. */
export async function inScene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await inScratchFolder(async (folder) => {
    const server = new RedisServer(join(folder, 'redis'), {});
    await server.start();
    const redis = openRedis(server.url, { purpose: 'commands', clock: systemClock });
    try {
      await redis.connect();
      const logsFolder = join(folder, 'logs');
      const environment = environmentOf(folder, logsFolder, server.url);
      const settings = await readSettings({ environment, workingDirectory: folder });
      await ensureLogsFolderId(logsFolder, systemClock);
      await work({ environment, folder, logsFolder, settings, store: openStore(redis, systemClock) });
    } finally {
      closeRedis(redis);
      await server.stop();
    }
  });
}

function environmentOf(folder: string, logsFolder: string, redisUrl: string): Record<string, string> {
  const directory = join(folder, 'popoto');
  mkdirSync(directory);
  const config = join(folder, 'watchkeeper.config.json');
  const popoto = { directory, chats: [CHAT], isolation: 'none', agent: { kind: 'scripted', scenario: 'none.json' } };
  writeFileSync(config, JSON.stringify({ projects: { popoto } }));
  return {
    PATH: process.env.PATH ?? '',
    WATCHKEEPER_CONFIG: config,
    WATCHKEEPER_LOGS: logsFolder,
    WATCHKEEPER_HOST: HOST,
    REDIS_URL: redisUrl,
  };
}

export interface Population {
  readonly count: number;
  /** Calls of each; two fifths of a journal's lines are their requests, two fifths their results. */
  readonly calls: number;
  /** @returns when the session last did something, UTC epoch milliseconds */
  lastActivityOf(index: number): number;
}

/** @returns the sessions, each in a lane of its own, run by this process */
export async function populate(
  { logsFolder, store: { redis } }: Scene,
  population: Population,
): Promise<AgentSession[]> {
  const owner = readProcessIdentity(HOST);
  const store = openStore(redis, { ...systemClock, now: () => systemClock.now() - BEGUN_BEFORE_MS });
  const sessions: AgentSession[] = [];
  for (let from = 0; from < population.count; from += AT_ONCE) {
    const indexes = Array.from({ length: Math.min(AT_ONCE, population.count - from) }, (_, index) => from + index);
    sessions.push(...(await Promise.all(indexes.map((index) => begin(store, owner, index)))));
  }
  for (const [index, session] of sessions.entries()) {
    const path = journalPath(logsFolder, session.session_id);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, journalText(session.session_id, population.calls, population.lastActivityOf(index)));
  }
  return sessions;
}

async function begin(
  store: Store,
  owner: ReturnType<typeof readProcessIdentity>,
  index: number,
): Promise<AgentSession> {
  const directory = `/srv/popoto/${index}`;
  const { session } = await store.transitions.accept({
    session_id: `tg_popoto_${CHAT}_${index}`,
    project_key: 'popoto',
    chat_id: CHAT,
    message_id: `${index}`,
    thread_id: null,
    sender: { id: '7', name: 'Ann' },
    message_text: `Please look into case ${index} and tell me what you find.`,
    conversation_key: conversationKey('popoto', CHAT, null, index),
    lane: laneOf(HOST, directory),
    working_directory: directory,
    agent: 'scripted',
  });
  const run = { run_id: `run-${index}`, owner, pid: null, started_at: systemClock.now() - BEGUN_BEFORE_MS };
  const started = await store.transitions.start(session, run, LEASE_MS);
  if (started === null) throw new Error(`session ${session.session_id} could not be started`);
  return started.session;
}
