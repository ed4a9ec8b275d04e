/**
 * Translates the messages of the SDK's stream into lines of the protocol.
 *
 * Included: messages, every call and its result, what calls did with tasks and files, tokens, sub-agents, retries as waits for a
 * rate limit, compactions, signs that the stream continues. Left out: cost, and messages that only show that the harness is alive
 * (`status`, `heartbeat` of a tool's progress), because it is alive even while the model hangs.
 */
import { type Clock, isoTime, SECOND } from '../../../src/time.js';
import { askedOf, Deeds, doneOf } from '../../../src/transcripts/claude/deeds.js';
import { type Fields, fieldsAt, textAt } from '../../../src/transcripts/draft/fields.js';
import type { AgentFailure } from '../failures/causes.js';
import type { Reading } from '../failures/statedEnd.js';
import type { ProtocolLine } from '../program/protocol.js';
import { blocksOf, outcomeOf, returned, spoken } from './blocks.js';
import { describeResult, failureOf, Retries } from './failure.js';
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
const SAID_NOTHING = '(The agent ended its turn without a word.)';

/** The bridge redacts and cuts each line that it reads. */
const asItIs = (text: string) => text;

export type QueryEnd =
  | { readonly kind: 'answered'; readonly answer: string }
  | ({ readonly kind: 'failed' } & AgentFailure);

export class Translation {
  readonly #clock: Clock;
  readonly #denials: Denials;
  readonly #subAgents = new SubAgents();
  readonly #deeds = new Deeds();
  readonly #tokens = new Tokens();
  readonly #retries: Retries;
  readonly #lastSign = new Map<string, number>();
  #conversationId: string;
  #stated: string | null = null;
  #error: string | null = null;
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
    this.#retries = new Retries(clock);
  }

  /** The last end of a turn; a background task may begin another turn. */
  get end(): QueryEnd | null {
    return this.#end;
  }

  /**
   * Whether a turn is open: that of the prompt, or a later one. A resumed conversation may hold a background task that an earlier
   * run left unfinished; then Claude Code first plays a turn about that, which says nothing, and the prompt's turn is the second.
   */
  get isInTurn(): boolean {
    return !this.#turnIsOver;
  }

  /** Whether there is nothing more to wait for. */
  get isOver(): boolean {
    if (this.#end?.kind === 'failed') return true;
    return this.#end !== null && !this.isInTurn && this.#backgroundTasks === 0;
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
          return this.#retries.announced(this.#subAgents.lineage({ ...known, agent_id }), retry_delay_ms);
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
    return [...this.#retries.ended(lineage), ...lines, ...this.#tokens.said(message.message, lineage)];
  }

  #noteDeed(block: Fields): void {
    const id = textAt(block, 'id');
    const deed = askedOf(textAt(block, 'name') ?? '', fieldsAt(block, 'input'), asItIs);
    if (block.type === 'tool_use' && id !== null && deed !== null) this.#deeds.asked(id, deed);
  }

  #user(message: UserMessage): ProtocolLine[] {
    const lineage = this.#subAgents.lineage(message);
    const results = blocksOf(message.message.content).filter(({ type }) => type === 'tool_result');
    // A message has one typed result. If it carries the results of several calls, the typed one's call is unknown.
    const typed = results.length === 1 ? message.tool_use_result : undefined;
    return results.flatMap((block): ProtocolLine[] => {
      const call = textAt(block, 'tool_use_id');
      if (call === null) return [];
      const outcome = outcomeOf(
        block,
        message.tool_result_meta?.find(({ id }) => id === call),
      );
      const done = doneOf(typed, asItIs, block.content);
      const deeds = this.#deeds.done(call, outcome === 'ok', done).map((deed) => ({ ...deed, ...lineage }));
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

  /** `init` comes with each turn; those after the first follow background tasks. */
  #newTurn(): ProtocolLine[] {
    if (!this.#turnIsOver) return [];
    this.#turnIsOver = false;
    // A turn that said nothing has answered nothing: if this one breaks off, the run has no answer.
    if (this.#end?.kind === 'answered' && this.#end.answer === SAID_NOTHING) this.#end = null;
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
    const detail = this.#retries.refused(retry);
    if (detail === null) return this.#retries.announced(this.#subAgents.lineage({}), retry.retry_delay_ms);
    const result = { type: 'result', subtype: retry.error, is_error: true } as const;
    this.#end = { kind: 'failed', ...failureOf(result, retry.error, this.#reading()), detail };
    return [];
  }

  #streamSign(voice: Voice): ProtocolLine[] {
    const lineage = this.#subAgents.lineage(voice);
    const agent = lineage.agent_id ?? '';
    const now = this.#clock.monotonic();
    if (now - (this.#lastSign.get(agent) ?? Number.NEGATIVE_INFINITY) < STREAM_SIGN_EVERY_MS) return [];
    this.#lastSign.set(agent, now);
    return [...this.#retries.ended(lineage), { event: 'heartbeat', source: 'stream', ...lineage }];
  }
}
