/**
 * The whole configuration: read at the edge, validated as a whole, frozen, and passed to each part that needs some of it. In a
 * long-running process, `projects` are those of the last successful read (configSource.ts): ask for them each time.
 */

import type { AgentUser } from './agentUser.js';
import type { PollingList } from './polling.js';
import type { Retention } from './retention.js';
import type { Rule, RuleAction, Thresholds } from './rules.js';

/** What a public repository may show of an agent's calls: only tool names, times and outcomes, or everything. */
export const PUBLIC_DETAILS = ['names_only', 'full'] as const;
export type PublicDetail = (typeof PUBLIC_DETAILS)[number];

/** What can keep a project's agents away from the bridge. */
export const ISOLATIONS = ['bubblewrap', 'none'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** A chat, or one topic of it, that feeds a project. */
export interface Place {
  readonly chatId: string;
  /** Null: every topic of the chat that has no place of its own. */
  readonly threadId: string | null;
  /** Real path. A place runs in parallel with the project's other ones only if it has its own directory. */
  readonly directory: string;
}

export interface AgentSettings {
  readonly kind: string;
  /** The rest of its configuration, for the agent's implementation. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The thresholds of each rule, and the action it leads to. */
export interface ProjectRules {
  readonly thresholds: Thresholds;
  readonly actions: Readonly<Record<Rule, RuleAction>>;
}

export interface Project extends ProjectRules {
  readonly key: string;
  /** Real path. */
  readonly directory: string;
  readonly places: readonly Place[];
  /** Telegram user ids that may send messages; empty means nobody. */
  readonly senders: readonly string[];
  /** `owner/name`; null keeps the project's issues in `logs/issues/`. */
  readonly repository: string | null;
  readonly publicDetail: PublicDetail;
  /** The host whose bridge runs its messages while it is alive; null: the bridge that receives a message. */
  readonly host: string | null;
  /** False if another host is its home and its directory is not here. */
  readonly isServedHere: boolean;
  /** Whether a message whose host was lost during its run is run again on another host. */
  readonly reviveAfterHostLoss: boolean;
  readonly agent: AgentSettings;
  /** What keeps its agents away from the bridge; null: bubblewrap if it works, otherwise nothing. */
  readonly isolation: Isolation | null;
}

/** All in milliseconds. */
export interface Timings {
  /** How long a run may continue without renewing its lease; after two of them it counts as dead. */
  readonly runLeaseMs: number;
  /** Between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  /** The time that an orderly stop gives to runs that are about to end. */
  readonly drainMs: number;
  /** How long a revival or a failure message waits for the URL. */
  readonly reportWaitMs: number;
  /** After this, the session fails if its run's death cannot be proven. */
  readonly proofMs: number;
  readonly watchdogLeaseMs: number;
  /** The minimum time between two edits of a progress message. */
  readonly progressEveryMs: number;
  /** How long the head of a free lane may wait before that is a `backlog`. */
  readonly backlogMs: number;
  /** How long all bridges must be silent before a standby reports it. */
  readonly bridgeGoneMs: number;
  /** A process whose event loop is blocked for this long ends itself. */
  readonly stallMs: number;
}

export interface Settings {
  readonly projects: ReadonlyMap<string, Project>;
  /** Null: a private server of its own. */
  readonly redisUrl: string | null;
  /** Null: the terminal is the chat. */
  readonly telegram: { readonly token: string; readonly apiRoot: string } | null;
  /** Null: issues are files in `logs/issues/`. */
  readonly github: { readonly token: string; readonly apiUrl: string } | null;
  /** Five fields, UTC. */
  readonly watchdogCron: string;
  /** When the daily review is written, in its time zone; null: only on request. */
  readonly daydreamCron: string | null;
  /** The time zone of the daily review's days and clock times. */
  readonly daydreamTimeZone: string;
  readonly agentConcurrency: number;
  /** The user that agents run as; null: the bridge's own. */
  readonly agentUser: AgentUser | null;
  /** The whole environment that an agent inherits. */
  readonly agentEnvironment: Readonly<Record<string, string>>;
  /** Absolute path. */
  readonly logsFolder: string;
  /** The operator's files that agents must not read, or not change; absolute paths, some of which may not exist. */
  readonly ownFiles: { readonly secret: readonly string[]; readonly settled: readonly string[] };
  readonly host: string;
  /** Whether no process that the bridge starts outlives it, because it is the main process of a container. */
  readonly containerDiesWhole: boolean;
  readonly logLevel: string;
  /** The HTTP address of liveness and readiness; null: none. */
  readonly health: { readonly host: string; readonly port: number } | null;
  /** Requested at each tick of the acting watchdog, so that somebody outside notices when requests stop. A secret. */
  readonly pingUrl: string | null;
  /** What the rule `loop` ignores. */
  readonly polling: PollingList;
  readonly timings: Timings;
  readonly retention: Retention;
  /** Literal values that must never be written anywhere. */
  readonly secrets: readonly string[];
  /** The search path for programs. */
  readonly programPath: string;
  /** Notices for the operator about this configuration; each a sentence. */
  readonly notices: readonly string[];
}

/** @returns the project and the place that a chat's message belongs to; null if no project lists the chat */
export function placeOf(
  settings: Settings,
  chatId: string,
  threadId: string | null,
): { project: Project; place: Place } | null {
  let wholeChat: { project: Project; place: Place } | null = null;
  for (const project of settings.projects.values()) {
    for (const place of project.places) {
      if (place.chatId !== chatId) continue;
      if (place.threadId === threadId && threadId !== null) return { project, place };
      if (place.threadId === null) wholeChat = { project, place };
    }
  }
  return wholeChat;
}
