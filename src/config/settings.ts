/**
 * The whole configuration: read at the edge, validated whole, frozen, and handed to whoever needs a part of it. Of a process
 * that serves, `projects` are those of the last good reading (configSource.ts): ask for them each time.
 */

import type { AgentUser } from './agentUser.js';
import type { PollingList } from './polling.js';
import type { Retention } from './retention.js';
import type { Rule, RuleAction, Thresholds } from './rules.js';

/** What a public repository may see of an agent's calls: only tool names, times and outcomes, or all. */
export const PUBLIC_DETAILS = ['names_only', 'full'] as const;
export type PublicDetail = (typeof PUBLIC_DETAILS)[number];

/** What may keep a project's agents away from the bridge. */
export const ISOLATIONS = ['bubblewrap', 'none'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** A chat, or one topic of it, that feeds a project. */
export interface Place {
  readonly chatId: string;
  /** Null: every topic of the chat that has no place of its own. */
  readonly threadId: string | null;
  /** Real path. Only a directory of its own lets a place run beside the project's other ones. */
  readonly directory: string;
}

export interface AgentSettings {
  readonly kind: string;
  /** What the agent's implementation makes of the rest of its configuration. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** What each rule needs to become true, and what is done then. */
export interface ProjectRules {
  readonly thresholds: Thresholds;
  readonly actions: Readonly<Record<Rule, RuleAction>>;
}

export interface Project extends ProjectRules {
  readonly key: string;
  /** Real path. */
  readonly directory: string;
  readonly places: readonly Place[];
  /** Telegram user ids that may ask; empty means nobody. */
  readonly senders: readonly string[];
  /** `owner/name`; null keeps the project's issues in `logs/issues/`. */
  readonly repository: string | null;
  readonly publicDetail: PublicDetail;
  /** Whose bridge runs its messages while it is there; null: of the bridge that takes a message in. */
  readonly host: string | null;
  /** False where another host is its home and its directory is not here. */
  readonly isServedHere: boolean;
  /** Whether a message whose host was lost with its run is run again on another one. */
  readonly reviveAfterHostLoss: boolean;
  readonly agent: AgentSettings;
  /** What keeps its agents away from the bridge; null: bubblewrap where it works, else nothing. */
  readonly isolation: Isolation | null;
}

/** All in milliseconds. */
export interface Timings {
  /** How long a run may go on without renewing its lease; after two of them it counts as dead. */
  readonly runLeaseMs: number;
  /** Between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  /** What an orderly stop gives to runs that are about to end. */
  readonly drainMs: number;
  /** How long a revival or a failure message waits for the URL. */
  readonly reportWaitMs: number;
  /** After this, a death that cannot be proven makes the session fail. */
  readonly proofMs: number;
  readonly watchdogLeaseMs: number;
  /** The least time between two edits of a progress message. */
  readonly progressEveryMs: number;
  /** How long the head of a free lane may wait before that is a `backlog`. */
  readonly backlogMs: number;
  /** How long a standby misses every bridge before it reports that. */
  readonly bridgeGoneMs: number;
  /** A process whose event loop stood still this long ends itself. */
  readonly stallMs: number;
}

export interface Settings {
  readonly projects: ReadonlyMap<string, Project>;
  /** Null: an own private server. */
  readonly redisUrl: string | null;
  /** Null: the terminal is the chat. */
  readonly telegram: { readonly token: string; readonly apiRoot: string } | null;
  /** Null: issues are files in `logs/issues/`. */
  readonly github: { readonly token: string; readonly apiUrl: string } | null;
  /** Five fields, UTC. */
  readonly watchdogCron: string;
  /** When the daily review is written, in its time zone; null: only when somebody asks for it. */
  readonly daydreamCron: string | null;
  /** Whose days and clock times the daily review has. */
  readonly daydreamTimeZone: string;
  readonly agentConcurrency: number;
  /** As whom agents run; null: as the bridge's own user. */
  readonly agentUser: AgentUser | null;
  /** The whole environment that an agent inherits. */
  readonly agentEnvironment: Readonly<Record<string, string>>;
  /** Absolute path. */
  readonly logsFolder: string;
  /** Files of the operator's that agents must not read, or not change; absolute paths, some of which may not be there. */
  readonly ownFiles: { readonly secret: readonly string[]; readonly settled: readonly string[] };
  readonly host: string;
  /** Whether no process that the bridge starts outlives it: it is the main process of a container. */
  readonly containerDiesWhole: boolean;
  readonly logLevel: string;
  /** Where liveness and readiness are told over HTTP; null: nowhere. */
  readonly health: { readonly host: string; readonly port: number } | null;
  /** Asked for at each tick of the acting watchdog, so that somebody outside notices when none comes. A secret. */
  readonly pingUrl: string | null;
  /** What the rule `loop` leaves out. */
  readonly polling: PollingList;
  readonly timings: Timings;
  readonly retention: Retention;
  /** Literal values that must never be written anywhere. */
  readonly secrets: readonly string[];
  /** Where programs are looked for. */
  readonly programPath: string;
  /** What the operator should know about this configuration; each a sentence. */
  readonly notices: readonly string[];
}

/**
 * @returns the project and the place that a chat's message belongs to; null where no project lists the chat
 */
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
