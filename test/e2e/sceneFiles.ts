/** The files that a scene's bridge is configured by, as an operator would write them. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScenarioFile } from '../../bridge/agents/scenario.js';
import type { Rule, RuleAction, Thresholds } from '../../src/config/rules.js';
import type { Isolation, PublicDetail, Timings } from '../../src/config/settings.js';

export type Scenario = ScenarioFile['scenarios'][number];

export interface SceneChat {
  readonly id: number;
  /** The name of a directory of its own; without one the chat works in the project's. */
  readonly directory?: string;
}

export interface SceneProject {
  readonly chats: readonly SceneChat[];
  /** As in the project's configuration; without it, the scripted agent with these scenarios. */
  readonly agent?: { readonly kind: string };
  /** Played in this order of preference; the scripted agent's own default comes last. */
  readonly scenarios?: readonly Scenario[];
  /** Telegram user ids; without them, everybody who speaks by default in its chats. */
  readonly senders?: readonly number[];
  readonly thresholds?: Partial<Thresholds>;
  readonly actions?: Partial<Record<Rule, RuleAction>>;
  readonly publicDetail?: PublicDetail;
  readonly host?: string;
  readonly reviveAfterHostLoss?: boolean;
  /** `none` by default: the tests look at an agent's processes and files from outside. */
  readonly isolation?: Isolation;
}

export interface SceneConfiguration {
  readonly projects: Readonly<Record<string, SceneProject>>;
  readonly timings?: Partial<Timings>;
  /** What the rule `loop` leaves out beside the default list. */
  readonly polling?: { readonly tools: readonly string[] };
}

export const REPOSITORY = 'example/fleet';
/** Who speaks in a group unless the test says otherwise. */
const GROUP_SPEAKER = 1;

/** Short enough for a test, long enough for a busy machine. */
const TIMINGS: Partial<Timings> = {
  runLeaseMs: 3_000,
  killGraceMs: 800,
  drainMs: 500,
  reportWaitMs: 10_000,
  proofMs: 20_000,
  watchdogLeaseMs: 4_000,
  progressEveryMs: 300,
};

/**
 * Writes `watchkeeper.config.json`, the scenarios and the working directories.
 * @param folder the scene's; everything lies below it
 */
export function writeSceneFiles(folder: string, { projects, timings, polling }: SceneConfiguration): void {
  mkdirSync(join(folder, 'scenarios'), { recursive: true });
  const entries = Object.entries(projects).map(([key, project]) => {
    writeJson(join(folder, 'scenarios', `${key}.json`), { scenarios: project.scenarios ?? [PLAY_DEFAULT] });
    return [key, projectEntry(folder, key, project)];
  });
  writeJson(join(folder, 'watchkeeper.config.json'), {
    projects: Object.fromEntries(entries),
    timings: { ...TIMINGS, ...timings },
    ...(polling && { polling }),
  });
}

/** A scenario file may not be empty; this one never matches. */
const PLAY_DEFAULT: Scenario = { when: { message: '(?!)' }, steps: [] };

function projectEntry(folder: string, key: string, project: SceneProject): object {
  const { chats, thresholds, actions, publicDetail, host, reviveAfterHostLoss, isolation = 'none' } = project;
  const directory = join('work', key);
  mkdirSync(join(folder, directory), { recursive: true });
  const places = chats.map(({ id, directory: own }) => {
    // In a scene's group every message is work.
    const place = { id, ...(id < 0 && { trigger: 'any' }) };
    if (own === undefined) return place;
    mkdirSync(join(folder, directory, own), { recursive: true });
    return { ...place, directory: join(directory, own) };
  });
  return {
    directory,
    chats: places,
    senders: project.senders ?? [...new Set(chats.map(({ id }) => (id < 0 ? GROUP_SPEAKER : id)))],
    repository: REPOSITORY,
    agent: project.agent ?? { kind: 'scripted', scenario: join('scenarios', `${key}.json`) },
    isolation,
    ...(thresholds && { thresholds }),
    ...(actions && { actions }),
    ...(publicDetail && { publicDetail }),
    ...(host && { host }),
    ...(reviveAfterHostLoss !== undefined && { reviveAfterHostLoss }),
  };
}

function writeJson(path: string, content: object): void {
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}
