/**
 * The whole configuration: read at the edge, validated as a whole, frozen, and passed to each part that needs some of it. In a
 * long-running process, `projects` are those of the last successful read (configSource.ts): ask for them each time.
 */

import * as z from 'zod';
import type { AgentUser } from './agentUser.js';
import type { MemorySettings } from './memorySettings.js';
import { milliseconds, wholeNumber } from './numbers.js';
import type { PollingList } from './polling.js';
import type { UnusedProxy } from './proxies.js';
import type { Rule, RuleAction, Thresholds } from './rules.js';

/** The details of an agent's calls in a public repository: only tool names, times and outcomes, or everything. */
export const PUBLIC_DETAILS = ['names_only', 'full'] as const;
export type PublicDetail = (typeof PUBLIC_DETAILS)[number];

/** The means to keep a project's agents away from the bridge. */
export const ISOLATIONS = ['bubblewrap', 'none'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** Which messages of a group are for the bot: those that address it, or all. In a private chat every message is. */
export const TRIGGERS = ['addressed', 'any'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** A chat, or one topic of it, that feeds a project. */
export interface Place {
  readonly chatId: string;
  /** Null for every topic of the chat that has no place of its own. */
  readonly threadId: string | null;
  /** Real path. A place runs in parallel with the project's other ones only if it has its own directory. */
  readonly directory: string;
  readonly trigger: Trigger;
}

/**
 * The topic General of a forum, as Telegram shows it in links. Its messages carry no topic, and neither do those that are sent to it;
 * a place for it is a chat's place without its other topics.
 */
export const GENERAL_TOPIC = '1';

export interface AgentSettings {
  readonly kind: string;
  /** The rest of its configuration, for the agent's implementation. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface ProjectRules {
  readonly thresholds: Thresholds;
  readonly actions: Readonly<Record<Rule, RuleAction>>;
}

export interface Project extends ProjectRules {
  readonly key: string;
  /** Real path. */
  readonly directory: string;
  readonly places: readonly Place[];
  /** Telegram user ids that may send messages; empty if no one may. */
  readonly senders: readonly string[];
  /** `owner/name`; null keeps the project's issues in `logs/issues/`. */
  readonly repository: string | null;
  readonly publicDetail: PublicDetail;
  /** The host whose bridge runs its messages while it is alive; null for the bridge that receives a message. */
  readonly host: string | null;
  /** False if another host is its home and its directory is not here. */
  readonly isServedHere: boolean;
  /** Whether a message whose host was lost during its run is run again on another host. */
  readonly reviveAfterHostLoss: boolean;
  readonly agent: AgentSettings;
  /** The wall between its agents and the bridge; null for bubblewrap if it works, and otherwise none. */
  readonly isolation: Isolation | null;
  /** Further files that its agents may read under bubblewrap: absolute paths, most of them in the home folder. */
  readonly readable: readonly string[];
}

/** Shorter limits end healthy runs on a busy machine. */
const atLeastASecond = wholeNumber('milliseconds', 1_000);

/** The key `timings` of the configuration file. All in milliseconds. */
export const timings = z.strictObject({
  /** How long a run may continue without renewing its lease; after two of them it counts as dead. */
  runLeaseMs: atLeastASecond.default(180_000),
  /** Between SIGTERM and SIGKILL. */
  killGraceMs: milliseconds.default(10_000),
  /** A run that is lost within this time, without a word of its agent, is no attempt. */
  youngRunMs: milliseconds.default(5_000),
  /** The time that an orderly stop gives to runs that are about to end. */
  drainMs: milliseconds.default(20_000),
  /** How long a message waits for a busy provider at first; each further wait is twice as long, up to 40 times this. */
  providerPauseMs: milliseconds.default(15_000),
  /** How long a revival or a failure message waits for the URL. */
  reportWaitMs: milliseconds.default(10_000),
  /** After this, the session fails if its run's death cannot be proven. */
  proofMs: milliseconds.default(600_000),
  watchdogLeaseMs: atLeastASecond.default(10_000),
  /** The minimum time between two edits of a progress message. */
  progressEveryMs: milliseconds.default(5_000),
  /** How long the head of a free lane may wait before that is a `backlog`. */
  backlogMs: milliseconds.default(600_000),
  /** How long all bridges must be silent before a standby reports it. */
  bridgeGoneMs: atLeastASecond.default(120_000),
  /** A process whose event loop is blocked for this long ends itself. */
  stallMs: atLeastASecond.default(60_000),
});
export type Timings = Readonly<z.infer<typeof timings>>;

/** How long, and how much of, what was written is kept. */
export interface Retention {
  /** Ended sessions with their journals, and closed incidents; afterwards critical events move to the archive. */
  readonly keptMs: number;
  /** Archived events, daily reviews, and issue files that were closed as completed. */
  readonly archiveMs: number;
  /** If the archive of events is larger, its oldest files are removed early. */
  readonly archiveBytes: number;
  readonly logBytes: number;
}

export interface Settings {
  readonly projects: ReadonlyMap<string, Project>;
  /** Null for a private server of its own. */
  readonly redisUrl: string | null;
  /** Null if the terminal is the chat. */
  readonly telegram: { readonly token: string; readonly apiRoot: string } | null;
  /** Null if issues are files in `logs/issues/`. */
  readonly github: { readonly token: string; readonly apiUrl: string } | null;
  /** Five fields, UTC. */
  readonly watchdogCron: string;
  /** When the daily review is written, in its time zone; null if only on request. */
  readonly daydreamCron: string | null;
  /** The time zone of the daily review's days and clock times. */
  readonly daydreamTimeZone: string;
  readonly agentConcurrency: number;
  readonly agentUser: AgentUser | null;
  readonly agentEnvironment: Readonly<Record<string, string>>;
  /** Absolute path. */
  readonly logsFolder: string;
  /** The operator's files that agents must not read, or not change: absolute paths. Some may not exist. */
  readonly ownFiles: {
    readonly secret: readonly string[];
    readonly settled: readonly string[];
    readonly memories: readonly string[];
  };
  readonly host: string;
  /** Whether no process that the bridge starts outlives it, because it is the main process of a container. */
  readonly containerDiesWhole: boolean;
  readonly logLevel: string;
  /** The HTTP address of liveness and readiness; null if there is none. */
  readonly health: { readonly host: string; readonly port: number } | null;
  /** Requested at each tick of the acting watchdog, so that a service outside notices when requests stop. A secret. */
  readonly pingUrl: string | null;
  /** Calls that the rule `loop` ignores. */
  readonly polling: PollingList;
  readonly timings: Timings;
  readonly retention: Retention;
  readonly memory: MemorySettings;
  /** Literal values that must never be written anywhere. */
  readonly secrets: readonly string[];
  readonly programPath: string;
  /** A proxy that the environment names and that nothing here uses; null if there is none. */
  readonly unusedProxy: UnusedProxy | null;
  /** Notices for the operator about this configuration; each a sentence. */
  readonly notices: readonly string[];
}

/** @returns the project and the place that a chat's message belongs to; null if no project lists the chat */
export function placeOf(settings: Settings, chatId: string, threadId: string | null) {
  const projects = [...settings.projects.values()];
  const found = (id: string | null) => {
    const isIt = (place: Place) => place.chatId === chatId && place.threadId === id;
    return projects.flatMap((project) => project.places.filter(isIt).map((place) => ({ project, place })))[0];
  };
  return found(threadId ?? GENERAL_TOPIC) ?? found(null) ?? null;
}

/** @returns the project's own place for a chat's message; null if it lists none */
export function placeIn({ places }: Project, chatId: string, threadId: string | null): Place | null {
  const found = (id: string | null) => places.find((place) => place.chatId === chatId && place.threadId === id);
  return found(threadId ?? GENERAL_TOPIC) ?? found(null) ?? null;
}
