/**
 * Translates the messages of the SDK's stream into lines of the protocol.
 *
 * Included: the main agent's messages, every call and its result, sub-agents, retries as waits for a rate limit, compactions,
 * signs that the stream goes on. Left out: token usage and cost (nothing here uses them), and messages that only show that the
 * harness is alive (`status`, `heartbeat` of a tool's progress), because it is alive even while the model hangs.
 */
import type { Lineage } from '../../../src/journal/schema.js';
import { type Clock, isoTime, SECOND } from '../../../src/time.js';
import { callOf, denialOutcome, resultOf } from '../../../src/transcripts/claude/calls.js';
import { type Fields, textAt } from '../../../src/transcripts/draft/fields.js';
import type { AgentFailure } from '../program/contract.js';
import type { ProtocolLine } from '../program/protocol.js';
import { causeOf, describeResult, isRefusal } from './failure.js';
import type { Denials } from './permissions.js';
import type {
  AssistantMessage,
  KnownMessage,
  ResultMessage,
  ResultMeta,
  SdkMessage,
  SystemMessage,
  UserMessage,
  Voice,
} from './sdk.js';
import { SubAgents } from './subAgents.js';

/** The minimum interval of the signs of one stream. */
const STREAM_SIGN_EVERY_MS = SECOND;
/** An expired login is renewed at the first refusal. A request that is refused again after that stays refused. */
const MOST_REFUSALS = 3;
const SAID_NOTHING = '(The agent ended its turn without a word.)';

/** How the query ended so far. */
export type QueryEnd =
  | { readonly kind: 'answered'; readonly answer: string }
  | ({ readonly kind: 'failed' } & AgentFailure);

export class Translation {
  readonly #clock: Clock;
  readonly #denials: Denials;
  readonly #subAgents = new SubAgents();
  /** Agents with an announced retry, by id; the main one is `''`. */
  readonly #retrying = new Set<string>();
  readonly #lastSign = new Map<string, number>();
  #conversationId: string;
  #error: string | null = null;
  #refusals = 0;
  /** Epoch milliseconds; null if no limit was reported as reached. */
  #limitEndsAt: number | null = null;
  #backgroundTasks = 0;
  #turnIsOver = false;
  #end: QueryEnd | null = null;

  /** @param conversationId the requested one */
  constructor(conversationId: string, denials: Denials, clock: Clock) {
    this.#conversationId = conversationId;
    this.#denials = denials;
    this.#clock = clock;
  }

  /** The last end of a turn; a background task may begin another turn. */
  get end(): QueryEnd | null {
    return this.#end;
  }

  /** Whether there is nothing more to wait for. */
  get isOver(): boolean {
    return this.#end !== null && (this.#end.kind === 'failed' || this.#backgroundTasks === 0);
  }

  translate(message: SdkMessage): ProtocolLine[] {
    const known = message as KnownMessage;
    switch (known.type) {
      case 'assistant':
        return this.#assistant(known);
      case 'user':
        return this.#user(known);
      case 'result':
        return this.#result(known);
      case 'system':
        return this.#system(known);
      case 'stream_event':
        // A model that hangs sends pings, too.
        return known.event.type === 'ping' ? [] : this.#streamSign(known);
      case 'tool_progress':
        if (known.subagent_retry !== undefined) {
          const { agent_id, retry_delay_ms } = known.subagent_retry;
          return this.#retry({ ...known, agent_id }, retry_delay_ms);
        }
        if (known.heartbeat === true) return [];
        return [{ event: 'heartbeat', source: 'tool_event', ...this.#subAgents.lineage(known) }];
      case 'rate_limit_event': {
        const { status, resetsAt } = known.rate_limit_info;
        this.#limitEndsAt = status === 'rejected' && resetsAt !== undefined ? resetsAt * SECOND : null;
        return [];
      }
      case 'conversation_reset':
        return [...this.#converse(known.new_conversation_id), { event: 'session_start', source: 'clear' }];
      default:
        // A message of a later version: by its nature it may be ignored.
        known satisfies never;
        return [];
    }
  }

  #assistant(message: AssistantMessage): ProtocolLine[] {
    if (message.error !== undefined) {
      this.#error = message.error;
      return [];
    }
    const lineage = this.#subAgents.lineage(message);
    const blocks = blocksOf(message.message.content);
    return [...this.#recovered(lineage), ...blocks.map((block) => spoken(block, message.message.id, lineage))];
  }

  #user(message: UserMessage): ProtocolLine[] {
    const lineage = this.#subAgents.lineage(message);
    return blocksOf(message.message.content).flatMap((block): ProtocolLine[] => {
      const call = textAt(block, 'tool_use_id');
      if (block.type !== 'tool_result' || call === null) return [];
      const meta = message.tool_result_meta?.find(({ id }) => id === call);
      return [...this.#subAgents.returned(call), { ...returned(block, meta), ...lineage }];
    });
  }

  #result(result: ResultMessage): ProtocolLine[] {
    this.#turnIsOver = true;
    this.#end = result.is_error
      ? this.#failed(result)
      : { kind: 'answered', answer: result.result?.trim() || SAID_NOTHING };
    return [{ event: 'turn_end', reason: result.terminal_reason ?? result.subtype }];
  }

  #failed(result: ResultMessage): QueryEnd {
    const cause = causeOf(result, this.#error);
    const end = cause === 'rate_limit' ? this.#limitEndsAt : null;
    const detail = `${describeResult(result)}${end === null ? '' : `; the limit ends at ${isoTime(end)}`}`;
    return { kind: 'failed', cause, detail, ...(end !== null && { until: end }) };
  }

  #system(message: SystemMessage): ProtocolLine[] {
    switch (message.subtype) {
      case 'init':
        return [...this.#converse(message.session_id), ...this.#newTurn()];
      case 'api_retry':
        return this.#apiRetry(message);
      case 'compact_boundary':
        return [{ event: 'compaction' }];
      case 'thinking_tokens':
        return this.#streamSign({});
      case 'permission_denied':
        this.#denials.note(message.tool_name, message.decision_reason ?? message.message);
        return [];
      case 'task_started':
        return this.#subAgents.started(message);
      case 'task_notification':
        return this.#subAgents.ended(message.task_id);
      case 'background_tasks_changed':
        this.#backgroundTasks = message.tasks.filter(({ ambient }) => ambient !== true).length;
        return [];
      default:
        message satisfies never;
        return [];
    }
  }

  /** `init` comes with each turn; turns after the first are begun by background tasks. */
  #newTurn(): ProtocolLine[] {
    if (!this.#turnIsOver) return [];
    this.#turnIsOver = false;
    return [{ event: 'user_prompt' }];
  }

  #converse(conversationId: string): ProtocolLine[] {
    if (conversationId === this.#conversationId) return [];
    this.#conversationId = conversationId;
    return [{ event: 'conversation', conversation_id: conversationId }];
  }

  #apiRetry(retry: Extract<SystemMessage, { subtype: 'api_retry' }>): ProtocolLine[] {
    if (isRefusal(retry)) {
      this.#refusals += 1;
      if (this.#refusals >= MOST_REFUSALS) {
        const result = { type: 'result', subtype: retry.error, is_error: true } as const;
        const detail = `the model's provider refused the request ${this.#refusals} times (${retry.error}, status ${retry.error_status ?? 'unknown'})`;
        this.#end = { kind: 'failed', cause: causeOf(result, retry.error), detail };
        return [];
      }
    }
    return this.#retry({}, retry.retry_delay_ms);
  }

  #retry(voice: Voice, delayMs: number): ProtocolLine[] {
    const lineage = this.#subAgents.lineage(voice);
    this.#retrying.add(lineage.agent_id ?? '');
    const until = isoTime(this.#clock.now() + delayMs);
    return [{ event: 'wait_start', kind: 'rate_limit', until, ...lineage }];
  }

  /** An agent's next message ends its retries. */
  #recovered(lineage: Lineage): ProtocolLine[] {
    this.#refusals = 0;
    if (!this.#retrying.delete(lineage.agent_id ?? '')) return [];
    return [{ event: 'wait_end', kind: 'rate_limit', ...lineage }];
  }

  #streamSign(voice: Voice): ProtocolLine[] {
    const lineage = this.#subAgents.lineage(voice);
    const agent = lineage.agent_id ?? '';
    const now = this.#clock.monotonic();
    if (now - (this.#lastSign.get(agent) ?? Number.NEGATIVE_INFINITY) < STREAM_SIGN_EVERY_MS) return [];
    this.#lastSign.set(agent, now);
    return [...this.#recovered(lineage), { event: 'heartbeat', source: 'stream', ...lineage }];
  }
}

function blocksOf(content: string | readonly Fields[]): readonly Fields[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** A message of the agent, or a call that it begins. */
function spoken(block: Fields, batch: string, lineage: Lineage): ProtocolLine {
  if (block.type === 'tool_use' && textAt(block, 'id') !== null) return { ...callOf(block, batch), ...lineage };
  const text = block.type === 'text' && lineage.agent_id === undefined ? textAt(block, 'text') : null;
  return { event: 'assistant_message', ...(text?.trim() && { text }), ...lineage };
}

/**
 * The outcome comes from typed fields only: the result's flag, and the stamp of Claude Code's harness on results that are not the
 * tool's own (`tool_result_meta`, seen with 2.1.329). Validation errors and unknown tools carry no stamp: they are the agent's
 * failures.
 */
function returned(block: Fields, meta: ResultMeta | undefined): ProtocolLine {
  const denial = denialOutcome(meta?.non_execution_kind ?? null, meta?.permission_decision ?? {});
  const outcome = block.is_error === true ? (denial ?? 'failed') : 'ok';
  const { tool_output_preview: tool_output, tool_name: _, ...result } = resultOf(block, outcome);
  return { ...result, tool_output };
}
