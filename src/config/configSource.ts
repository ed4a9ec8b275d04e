/**
 * The configuration of a long-running process, which can be read again on request. The settings looked up for each message, run
 * and verdict are replaced as a whole; the others keep their initial values, and changes to them are reported.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Project, Settings } from './settings.js';

/** Settings that connections, timers and files were made from, by their names for the operator. */
const NEEDS_RESTART: Readonly<Partial<Record<keyof Settings, string>>> = {
  redisUrl: 'REDIS_URL',
  telegram: 'TELEGRAM_BOT_TOKEN or TELEGRAM_API_ROOT',
  github: 'GITHUB_TOKEN or GITHUB_API_URL',
  pingUrl: 'WATCHDOG_PING_URL',
  timings: '`timings`',
  polling: '`polling`',
  memory: '`memory`',
  daydreamCron: '`daydream.cron`',
  daydreamTimeZone: '`daydream.timeZone`',
};

export interface Reloaded {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** Changed settings that take effect only after a restart; names, never values. */
  readonly needsRestart: readonly string[];
  /** Notices for the operator; each a sentence. */
  readonly notices: readonly string[];
}

export class ConfigSource {
  /** Its `projects` are those of the last successful read; callers ask for them each time, and keep no copy. */
  readonly settings: Settings;
  readonly #read: () => Promise<Settings>;
  #latest: Settings;
  #reading: Promise<unknown> = Promise.resolve();

  /** @param read throws UsageError with every fault */
  constructor(first: Settings, read: () => Promise<Settings>) {
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
   * Reads again; reads run one after the other.
   * @param prepare makes the parts that the new projects need; if it throws, the old ones stay
   * @returns the changes
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

/** Unchanged projects stay the same objects, so that parts made for them need not be made again. */
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
  const parts = Object.entries({
    'projects added': added,
    'projects removed': removed,
    'projects changed': changed,
    'changed, but used only after a restart': needsRestart,
  }).flatMap(([what, names]) => (names.length > 0 ? [`${what}: ${names.join(', ')}`] : []));
  return `the configuration was read again: ${parts.length === 0 ? 'nothing has changed' : parts.join('; ')}`;
}
