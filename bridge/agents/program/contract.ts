/**
 * The one contract between the bridge and any agent: start it once, read a stream of typed events, exactly one `end`.
 *
 * An agent implementation translates what its program says into events. Journaling, renewing leases, ending process trees and
 * judging health are the run's job (`bridge/runs`).
 */
import type { AgentUser } from '../../../src/config/agentUser.js';
import type { JournalEvent } from '../../../src/journal/schema.js';
import type { Redact } from '../../../src/log/redact.js';
import type { AgentFailure } from '../failures/causes.js';
import type { Mount } from './mounts.js';

export interface Confinement {
  /** Directories that the agent may write. Absolute paths. */
  readonly directories: readonly string[];
  /** Mounts of the repositories that the directories are linked worktrees of. */
  readonly repositories: readonly Mount[];
  /** Files and folders that the agent may read but not change, even in those directories. Absolute paths. */
  readonly kept: readonly string[];
  /** Files and folders that are hidden from the agent, even in those directories. Absolute paths. */
  readonly masked: readonly string[];
  /** Folders that are hidden, except for the other paths named here. Absolute paths. */
  readonly hidden: readonly string[];
  /** Files and folders that the agent may read in the operator's home, and in folders that are hidden. Absolute paths. */
  readonly readable: readonly string[];
  /** The folder that is the agent's home, in place of the operator's; null for the home of the user that it runs as. */
  readonly home: string | null;
}

export interface AgentSurroundings {
  readonly workingDirectory: string;
  /** The whole environment of the agent: the allowed variables and, for a run, its mark. Nothing else may be inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** The walls between the agent and the bridge; absent or null if only the user that it runs as separates them. */
  readonly confinement?: Confinement | null;
  /** The user it runs as; absent or null for the bridge's own. */
  readonly user?: AgentUser | null;
}

export interface AgentRequest extends AgentSurroundings {
  readonly sessionId: string;
  readonly runId: string;
  readonly prompt: string;
  /** The provider's id of the conversation to continue; null begins a new one. */
  readonly conversationId: string | null;
  readonly attempt: 1 | 2;
  /** Applied to the agent's output before it is cut anywhere; without it, only known shapes of secrets are redacted. */
  readonly redact?: Redact;
}

export type AgentEnd =
  | { readonly kind: 'answered'; readonly answer: string }
  | (AgentFailure & {
      readonly kind: 'failed';
      /** Stable, without spaces: `run_failed_exit_1`, `run_failed_signal_SIGKILL`, `run_failed_to_start`. */
      readonly reason: string;
      /** For the operator only: where to look on this host. */
      readonly forLog?: string;
    })
  /** The signal aborted before the agent ended by itself. */
  | { readonly kind: 'stopped' };

export type AgentEvent =
  | { readonly type: 'journal'; readonly line: JournalEvent }
  /** The provider's conversation id, as soon as it is known. */
  | { readonly type: 'conversation'; readonly conversationId: string }
  | { readonly type: 'version'; readonly version: string }
  /** The agent's note to the person while it works; shown in the progress message, not journaled as text. */
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'end'; readonly end: AgentEnd };

export interface AgentRun {
  /** The agent's process, leader of its own process group; null if the agent starts none. */
  readonly pid: number | null;
  /**
   * Begins with `session_start` and `user_prompt`, which the implementation adds itself, so that a program that hangs at once
   * is noticed, too. Closes the turn of an answer with `turn_end`, and leaves `session_end` to the run.
   *
   * Ends after exactly one `end` event and never throws. A slow reader does no harm: the agent's output is bounded in memory.
   */
  readonly events: AsyncIterable<AgentEvent>;
}

/** The surroundings are those that a run would have. */
export interface AgentCheckRequest extends AgentSurroundings {
  readonly projectKey: string;
  /** Checks files only: starts no program and sends no request. */
  readonly quick: boolean;
}

export type AgentCheck =
  /** It can begin, as far as can be seen. */
  | { readonly verdict: 'ok'; readonly found: string; readonly remedy: null }
  | {
      /** A warning if it is only uncertain. */
      readonly verdict: 'warning' | 'fault';
      /** A sentence: what was seen. Never contains a secret. */
      readonly found: string;
      /** A sentence: what to do. */
      readonly remedy: string;
    };

export interface Agent {
  /** As in a project's configuration. */
  readonly kind: string;
  /** @param signal aborted when the run is to end @returns a run with `failed` if the program cannot be started: it never throws */
  start(request: AgentRequest, signal: AbortSignal): AgentRun;
  /** Checks for the doctor, within half a minute, whether the agent is installed and logged in. Absent if only a run shows it. */
  check?(request: AgentCheckRequest, signal: AbortSignal): Promise<AgentCheck>;
}
