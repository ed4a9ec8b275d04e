/**
 * The configuration of a process that serves for long: read again when somebody asks for it. What is asked anew for each
 * message, run and verdict is exchanged whole; the rest stays as the process began with it, and is named.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Project, Settings } from './settings.js';

/** Settings that connections, timers and files were made of, as an operator calls them. */
const NEEDS_RESTART: Readonly<Partial<Record<keyof Settings, string>>> = {
  redisUrl: 'REDIS_URL',
  telegram: 'TELEGRAM_BOT_TOKEN or TELEGRAM_API_ROOT',
  github: 'GITHUB_TOKEN or GITHUB_API_URL',
  pingUrl: 'WATCHDOG_PING_URL',
  timings: '`timings`',
  polling: '`polling`',
  daydreamCron: '`daydream.cron`',
  daydreamTimeZone: '`daydream.timeZone`',
};

export interface Reloaded {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** What has changed and is used only after a restart; names, never values. */
  readonly needsRestart: readonly string[];
  /** What the operator should know about it; each a sentence. */
  readonly notices: readonly string[];
}

export interface ConfigSourceOptions {
  /** As the process began. */
  readonly first: Settings;
  /** Throws UsageError with every fault. */
  readonly read: () => Promise<Settings>;
}

export class ConfigSource {
  /** Its `projects` are those of the last good reading; whoever serves asks for them each time, and keeps no copy. */
  readonly settings: Settings;
  readonly #read: () => Promise<Settings>;
  #latest: Settings;
  #reading: Promise<unknown> = Promise.resolve();

  constructor({ first, read }: ConfigSourceOptions) {
    this.#latest = first;
    this.#read = read;
    const projects = () => this.#latest.projects;
    this.settings = Object.freeze({
      ...first,
      get projects() {
        return projects();
      },
    });
  }

  /**
   * Reads again, one reading after the other.
   * @param prepare makes what the new projects need; what it throws keeps the old ones
   * @returns what is different now
   * @throws UsageError with every fault; then nothing has changed
   */
  reload(prepare: (next: ReadonlyMap<string, Project>) => void = () => undefined): Promise<Reloaded> {
    const reading = this.#reading.then(() => this.#readAgain(prepare));
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  async #readAgain(prepare: (next: ReadonlyMap<string, Project>) => void): Promise<Reloaded> {
    const { settings } = this;
    const before = this.#latest.projects;
    const read = await this.#read();
    const next = { ...read, projects: keepingUnchanged(before, read.projects) };
    prepare(next.projects);
    this.#latest = next;
    const names = Object.entries(NEEDS_RESTART) as [keyof Settings, string][];
    return {
      added: [...next.projects.keys()].filter((key) => !before.has(key)),
      removed: [...before.keys()].filter((key) => !next.projects.has(key)),
      changed: [...next.projects].flatMap(([key, project]) =>
        before.has(key) && before.get(key) !== project ? [key] : [],
      ),
      needsRestart: names.flatMap(([name, said]) => (isDeepStrictEqual(settings[name], next[name]) ? [] : [said])),
      notices: next.notices,
    };
  }
}

/** What is the same stays the same object: what was made for it need not be made anew. */
function keepingUnchanged(
  before: ReadonlyMap<string, Project>,
  next: ReadonlyMap<string, Project>,
): ReadonlyMap<string, Project> {
  const kept = [...next].map(([key, project]) => {
    const former = before.get(key);
    return [key, former !== undefined && isDeepStrictEqual(former, project) ? former : project] as const;
  });
  return new Map(kept);
}

/** @returns one sentence for the log */
export function describeReload({ added, removed, changed, needsRestart }: Reloaded): string {
  const parts = [
    ...(added.length > 0 ? [`projects added: ${added.join(', ')}`] : []),
    ...(removed.length > 0 ? [`projects removed: ${removed.join(', ')}`] : []),
    ...(changed.length > 0 ? [`projects changed: ${changed.join(', ')}`] : []),
    ...(needsRestart.length > 0 ? [`changed, but used only after a restart: ${needsRestart.join(', ')}`] : []),
  ];
  return `the configuration was read again: ${parts.length === 0 ? 'nothing has changed' : parts.join('; ')}`;
}
