/** Watches the directories of agents on this host. A missing one takes only its own project out of service, until it is back. */
import {
  directoryFor,
  isDirectory,
  type ProjectDirectory,
  type ServedPlace,
  servedDirectories,
  servedPlaces,
} from '../../src/config/servedPlaces.js';
import type { Settings } from '../../src/config/settings.js';
import { CorruptRecordError } from '../../src/errors.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { hostOfLane, laneOf } from '../../src/jobs/names.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import { RepeatedService } from '../../src/rounds.js';
import { type Clock, SECOND } from '../../src/time.js';

const LOOK_EVERY_MS = 5 * SECOND;

export interface DirectoryWatchParts {
  readonly settings: Settings;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Started when a directory is back: sessions that wait for it may begin. */
  readonly lanes: { startAll(): Promise<void>; startNext(lane: string): Promise<void> };
}

export class DirectoryWatch extends RepeatedService {
  readonly name = 'project directories';
  readonly #parts: DirectoryWatchParts;
  #missing: ReadonlyMap<string, string> = new Map();
  #known: { readonly projects: Settings['projects']; readonly places: readonly ServedPlace[] } | null = null;
  #followed: Settings['projects'] | null = null;

  constructor(parts: DirectoryWatchParts) {
    super(parts.clock, LOOK_EVERY_MS, 'with a pause');
    this.#parts = parts;
  }

  /** Projects that were out of service at the last check. */
  get outOfService(): readonly string[] {
    return [...new Set(this.#missing.values())];
  }

  isMissing(path: string): boolean {
    return this.#missing.has(path);
  }

  /** Checks now. @returns true if a run in this directory has to wait; never for a directory that is not configured */
  async mustWait(path: string): Promise<boolean> {
    const isServed = servedDirectories(this.#parts.settings.projects).some((served) => served.path === path);
    return isServed && !(await isDirectory(path));
  }

  /** A waiting message runs in the directory that its place has now. @returns whether it was moved @throws ioredis' error */
  async follow(session: AgentSession): Promise<boolean> {
    const { settings, store, logger, lanes } = this.#parts;
    const { session_id, project_key, request, working_directory: former, lane } = session;
    const directory = directoryFor(this.#places(settings), project_key, request.chat_id, request.thread_id);
    if (directory === null || directory === former) return false;
    if ((await store.lanes.moveTo(session, laneOf(settings.host, directory), directory, [])) === null) return false;
    logger.info(
      { session_id },
      `session ${session_id}: it waits for ${directory} now, as configured, not for ${former}`,
    );
    void lanes.startNext(lane);
    return true;
  }

  /** Asked for before every run. */
  #places(settings: Settings): readonly ServedPlace[] {
    if (this.#known?.projects !== settings.projects) {
      this.#known = { projects: settings.projects, places: servedPlaces(settings) };
    }
    return this.#known.places;
  }

  override async start(): Promise<void> {
    if (this.isRunning) return;
    await this.runOnce();
    await super.start();
  }

  /** One check. Never throws. */
  async runOnce(): Promise<void> {
    const { settings, logger, lanes } = this.#parts;
    await this.#followAll().catch((err: unknown) =>
      logger.warn({ err }, 'messages that wait for a former directory will be moved in the next round'),
    );
    const before = this.#missing;
    const served = servedDirectories(settings.projects);
    const missing = await missingOf(served);
    this.#missing = missing;
    for (const [path, project_key] of missing) {
      if (before.has(path)) continue;
      const said = `project "${project_key}" is out of service: ${path} is not a directory; its messages wait until it is`;
      logger.error({ project_key }, said);
    }
    const over = [...before].filter(([path]) => !missing.has(path));
    for (const [path, project_key] of over) {
      const isServed = served.some((directory) => directory.path === path);
      const how = isServed ? `${path} is back` : `${path} is no longer its directory, so it is not missed`;
      logger.info({ project_key }, `project "${project_key}": ${how}`);
    }
    if (over.length > 0) void lanes.startAll();
  }

  /** Once for each configuration. */
  async #followAll(): Promise<void> {
    const { settings, store } = this.#parts;
    const { projects } = settings;
    if (projects === this.#followed) return;
    const waiting = await store.records.sessions(await store.records.sessionIds('pending'));
    for (const session of waiting) {
      if (!(session instanceof CorruptRecordError) && hostOfLane(session.lane) === settings.host)
        await this.follow(session);
    }
    this.#followed = projects;
  }
}

async function missingOf(directories: readonly ProjectDirectory[]): Promise<Map<string, string>> {
  const missing = new Map<string, string>();
  for (const { projectKey, path } of directories) if (!(await isDirectory(path))) missing.set(path, projectKey);
  return missing;
}
