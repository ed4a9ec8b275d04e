/**
 * The part of `@anthropic-ai/claude-agent-sdk` (0.3.329) that is used here, in our own types: the package is large and
 * proprietary, so it is not a dependency, and everything must compile without it.
 *
 * Fields are optional if the SDK's types say so, or if they were seen on the wire but are missing from its types.
 */
import type { Fields } from '../../../src/transcripts/draft/fields.js';

export const SDK_PACKAGE = '@anthropic-ai/claude-agent-sdk';

/** @throws Error if the package is not installed */
export async function loadSdk(name: string = SDK_PACKAGE): Promise<Sdk> {
  return await import(name);
}

interface Sdk {
  query(asked: { readonly prompt: string; readonly options: object }): AsyncIterable<SdkMessage> & { close(): void };
  getSessionInfo(sessionId: string, options?: { readonly dir: string }): Promise<object | undefined>;
}

export type CanUseTool = (
  toolName: string,
  input: Readonly<Record<string, unknown>>,
  about: { readonly decisionReason?: string; readonly requiresUserInteraction?: boolean },
) => Promise<{ readonly behavior: 'deny'; readonly message: string }>;

/** The fields that say whose message it is. */
export interface Voice {
  readonly parent_tool_use_id?: string | null;
  readonly agent_id?: string;
}

/** The blocks are those of Claude Code's transcripts. */
type Content = string | readonly Fields[];

export interface AssistantMessage extends Voice {
  readonly type: 'assistant';
  /** `usage` may be the count at the message's beginning. */
  readonly message: { readonly id: string; readonly content: Content; readonly usage?: Fields };
  /** A request that failed for good, reported as a message of the model. */
  readonly error?: string;
}

/** Why a result is an error although its tool reported none, and who decided about the call. */
export interface ResultMeta {
  readonly id: string;
  readonly non_execution_kind?: string;
  readonly permission_decision?: { readonly decision: string; readonly source: string };
}

export interface UserMessage extends Voice {
  readonly type: 'user';
  readonly message: { readonly content: Content };
  readonly tool_result_meta?: readonly ResultMeta[];
  /** The tool's own output; a sub-agent's call has none. */
  readonly tool_use_result?: unknown;
}

export interface ResultMessage {
  readonly type: 'result';
  readonly subtype: string;
  readonly is_error: boolean;
  readonly result?: string;
  readonly errors?: readonly string[];
  readonly terminal_reason?: string;
  readonly startup_failure_reason?: string;
  readonly api_error_status?: number | null;
}

export type SystemMessage = { readonly type: 'system' } & (
  | { readonly subtype: 'init'; readonly session_id: string; readonly claude_code_version?: string }
  | {
      readonly subtype: 'api_retry';
      readonly retry_delay_ms: number;
      readonly error_status: number | null;
      readonly error: string;
    }
  | { readonly subtype: 'compact_boundary' }
  | { readonly subtype: 'thinking_tokens' }
  | {
      readonly subtype: 'permission_denied';
      readonly tool_name: string;
      readonly message: string;
      readonly decision_reason?: string;
    }
  | {
      readonly subtype: 'task_started';
      readonly task_id: string;
      readonly task_type?: string;
      readonly tool_use_id?: string;
      readonly is_backgrounded?: boolean;
    }
  | { readonly subtype: 'task_notification'; readonly task_id: string }
  | { readonly subtype: 'background_tasks_changed'; readonly tasks: readonly { readonly ambient?: boolean }[] }
);

/** Part of an answer that is still being written; only the main agent's are sent. */
export interface StreamEvent extends Voice {
  readonly type: 'stream_event';
  readonly event: { readonly type: string; readonly message?: Fields; readonly usage?: Fields };
}

export type KnownMessage =
  | AssistantMessage
  | UserMessage
  | ResultMessage
  | StreamEvent
  | (Voice & {
      readonly type: 'tool_progress';
      readonly heartbeat?: boolean;
      readonly subagent_retry?: { readonly agent_id: string; readonly retry_delay_ms: number };
    })
  /** The limit of a plan with hours, not of an API key; `resetsAt` in epoch seconds. */
  | {
      readonly type: 'rate_limit_event';
      readonly rate_limit_info: { readonly status: string; readonly resetsAt?: number };
    }
  | { readonly type: 'conversation_reset'; readonly new_conversation_id: string }
  | SystemMessage;

/** Later versions send more kinds than are known here. */
export type SdkMessage = KnownMessage | { readonly type: 'unknown to this version' };
