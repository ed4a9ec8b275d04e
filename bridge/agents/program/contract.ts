/**
 * The one contract between the bridge and any agent: start it once, read a stream of typed events, exactly one `end`.
 *
 * An agent implementation translates what its program says into events. It does not journal, does not renew leases, does
 * not end process trees and does not decide about health; the run does (`bridge/runs`).
 */
import type { AgentUser } from '../../../src/config/agentUser.js';
import type { JournalEvent } from '../../../src/journal/schema.js';
import type { Redact } from '../../../src/log/redact.js';
import type { Confinement } from './sandbox.js';

export interface AgentRequest {
  readonly sessionId: string;
  readonly runId: string;
  readonly prompt: string;
  readonly workingDirectory: string;
  /** The provider's thread to continue; null begins a new one. */
  readonly conversationId: string | null;
  readonly attempt: 1 | 2;
  /** The whole environment of the agent: allow-listed, with the run's mark in it. Nothing else may be inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** What keeps the agent away from the bridge; left out or null: nothing but the user that it runs as. */
  readonly confinement?: Confinement | null;
  /** As whom it runs; left out or null: as the bridge's own user. */
  readonly user?: AgentUser | null;
  /** What the agent says passes through it before it is cut anywhere; without it, only known shapes of secrets are found. */
  readonly redact?: Redact;
}

/** Why a run ended without an answer. `crash` may be revived, the other causes would only fail again. */
export const FAILURE_CAUSES = [
  'crash',
  'cannot_start',
  'authentication',
  'credit',
  'rate_limit',
  'context_overflow',
] as const;
export type FailureCause = (typeof FAILURE_CAUSES)[number];

export type AgentEnd =
  | { readonly kind: 'answered'; readonly answer: string }
  | {
      readonly kind: 'failed';
      readonly cause: FailureCause;
      /** Stable, without spaces: `run_failed_exit_1`, `run_failed_signal_SIGKILL`, `run_failed_to_start`. */
      readonly reason: string;
      /** A sentence for a person, in a chat or an issue; may hold the agent's own words, no path of this host. */
      readonly detail: string;
      /** With `rate_limit`: when the limit ends, UTC epoch milliseconds, where that was told. */
      readonly until?: number;
      /** What only the operator may read: where on this host to look. */
      readonly forLog?: string;
    }
  /** The signal aborted before the agent came to an end of its own. */
  | { readonly kind: 'stopped' };

export type AgentEvent =
  | { readonly type: 'journal'; readonly line: JournalEvent }
  /** The provider's thread id, as soon as it is known. */
  | { readonly type: 'conversation'; readonly conversationId: string }
  /** What the agent says to the person while it works; shown in the progress message, not journaled as text. */
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'end'; readonly end: AgentEnd };

export interface AgentRun {
  /** The agent's process, leader of a process group of its own; null for an agent without one: then it starts none. */
  readonly pid: number | null;
  /**
   * Begins with `session_start` and `user_prompt`, which the implementation tells itself (a program that hangs at once
   * owes work, too), closes the turn of an answer with `turn_end`, and leaves `session_end` to the run.
   *
   * Ends after exactly one `end` event and never throws. Reading may stall without harm: the agent's output is bounded
   * in memory.
   */
  readonly events: AsyncIterable<AgentEvent>;
}

export interface AgentCheckRequest {
  /** What a run would inherit. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where a run would work. */
  readonly workingDirectory: string;
  /** As whom a run would work; left out or null: as the bridge's own user. */
  readonly user?: AgentUser | null;
  /** Looks at files only: starts no program and asks nobody. */
  readonly quick: boolean;
}

/** What a look at an agent found, without a run. */
export type AgentCheck =
  /** It can begin, as far as that can be seen. */
  | { readonly verdict: 'ok'; readonly found: string; readonly remedy: null }
  | {
      /** A warning where it is only uncertain. */
      readonly verdict: 'warning' | 'fault';
      /** A sentence: what was seen. Never holds a secret. */
      readonly found: string;
      /** A sentence: what to do. */
      readonly remedy: string;
    };

export interface Agent {
  /** As in a project's configuration. */
  readonly kind: string;
  /**
   * @param request what to run, and where
   * @param signal aborted when the run is to end: the agent asks its program to stop, the run makes sure of it
   * @returns the run; a program that cannot be started ends with `failed`, it does not throw
   */
  start(request: AgentRequest, signal: AbortSignal): AgentRun;
  /**
   * Whether the agent is there and logged in, for the doctor. Costs nothing, changes nothing of ours, and takes half a
   * minute at the most. Left out where that can only be seen at work.
   */
  check?(request: AgentCheckRequest, signal: AbortSignal): Promise<AgentCheck>;
}
