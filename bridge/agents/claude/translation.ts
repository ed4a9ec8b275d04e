/**
 * Translates the messages of the SDK's stream into lines of the protocol.
 *
 * Included: messages, every call and its result, what calls did with tasks and files, tokens, sub-agents, retries as waits for a
 * rate limit, compactions, signs that the stream goes on. Left out: cost, and messages that only show that the harness is alive
 * (`status`, `heartbeat` of a tool's progress), because it is alive even while the model hangs.
 */
import type { Lineage } from '../../../src/journal/schema.js';
import { type Clock, isoTime, SECOND } from '../../../src/time.js';
import { askedOf, Deeds, toldOf } from '../../../src/transcripts/claude/deeds.js';
import { type Fields, fieldsAt, textAt } from '../../../src/transcripts/draft/fields.js';
import type { AgentFailure } from '../failures/causes.js';
import type { Reading } from '../failures/statedEnd.js';
import type { ProtocolLine } from '../program/protocol.js';
import { blocksOf, outcomeOf, returned, spoken } from './blocks.js';
import { describeResult, failureOf, isRefusal } from './failure.js';
import type { Denials } from './permissions.js';
import type {
  AssistantMessage,
  KnownMessage,
  ResultMessage,
  SdkMessage,
  SystemMessage,
  UserMessage,
  Voice,
} from './sdk.js';
import { SubAgents } from './subAgents.js';
import { Tokens } from './tokens.js';

/** The minimum interval of the signs of one stream. */
const STREAM_SIGN_EVERY_MS = SECOND;
/** An expired login is renewed at the first refusal. A request that is refused again after that stays refused. */
const MOST_REFUSALS = 3;
const SAID_NOTHING = '(The agent ended its turn without a word.)';

/** The bridge redacts and cuts what it reads. */
const asItIs = (text: string) => text;

/** How the query ended so far. */
export type QueryEnd =
  | { readonly kind: 'answered'; readonly answer: string }
  | ({ readonly kind: 'failed' } & AgentFailure);

export class Translation {
  readonly #clock: Clock;
  readonly #denials: Denials;
  readonly #subAgents = new SubAgents();
  readonly #deeds = new Deeds();
  readonly #tokens = new Tokens();
  /** Agents with an announced retry, by id; the main one is `''`. */
  readonly #retrying = new Set<string>();
  readonly #lastSign = new Map<string, number>();
  #conversationId: string;
  /** The version that was stated last. */
  #stated: string | null = null;
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
        return known.event.type === 'ping' ? [] : [...this.#streamSign(known), ...this.#tokens.streamed(known)];
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
    for (const block of blocks) this.#noteDeed(block);
    const lines = blocks.map((block) => spoken(block, message.message.id, lineage));
    return [...this.#recovered(lineage), ...lines, ...this.#tokens.said(message.message, lineage)];
  }

  #noteDeed(block: Fields): void {
    const id = textAt(block, 'id');
    const deed = askedOf(textAt(block, 'name') ?? '', fieldsAt(block, 'input'), asItIs);
    if (block.type === 'tool_use' && id !== null && deed !== null) this.#deeds.asked(id, deed);
  }

  #user(message: UserMessage): ProtocolLine[] {
    const lineage = this.#subAgents.lineage(message);
    const results = blocksOf(message.message.content).filter(({ type }) => type === 'tool_result');
    // A message has one typed result: of several, nobody knows whose it is.
    const done = results.length === 1 ? toldOf(message.tool_use_result, asItIs, results[0]?.content) : {};
    return results.flatMap((block): ProtocolLine[] => {
      const call = textAt(block, 'tool_use_id');
      if (call === null) return [];
      const outcome = outcomeOf(
        block,
        message.tool_result_meta?.find(({ id }) => id === call),
      );
      const deeds = this.#deeds.told(call, outcome === 'ok', done).map((deed) => ({ ...deed, ...lineage }));
      return [...this.#subAgents.returned(call), { ...returned(block, outcome), ...lineage }, ...deeds];
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
    const read = failureOf(result, this.#error, this.#reading());
    // A limit with its end is that of a plan, whatever the words are.
    const isOfPlan =
      this.#limitEndsAt !== null && (read.cause === 'rate_limit' || read.cause === 'provider_unavailable');
    const cause = isOfPlan ? 'rate_limit' : read.cause;
    const end = (isOfPlan ? this.#limitEndsAt : null) ?? read.until ?? null;
    const detail = `${describeResult(result)}${end === null ? '' : `; the limit ends at ${isoTime(end)}`}`;
    return { kind: 'failed', cause, detail, ...(end !== null && { until: end }) };
  }

  #reading(): Reading {
    return { now: this.#clock.now(), zone: new Intl.DateTimeFormat().resolvedOptions().timeZone };
  }

  #system(message: SystemMessage): ProtocolLine[] {
    switch (message.subtype) {
      case 'init':
        return [
          ...this.#converse(message.session_id),
          ...this.#version(message.claude_code_version),
          ...this.#newTurn(),
        ];
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

  #version(version: string | undefined): ProtocolLine[] {
    if (version === undefined || version === this.#stated) return [];
    this.#stated = version;
    return [{ event: 'agent', version }];
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
        const detail = `the model's provider refused the request ${this.#refusals} times (${retry.error.replaceAll('_', ' ')}, status ${retry.error_status ?? 'unknown'})`;
        this.#end = { kind: 'failed', ...failureOf(result, retry.error, this.#reading()), detail };
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
