/**
 * The dialect of `codex exec --json` (seen with codex-cli 0.169.0): one thread event per line.
 *
 * Its calls carry no batch and no declared time. Retries are reported without their delay, so that they excuse nothing
 * (judgement rules, 11). Its tasks are done or not; which one is in progress is not said. A moved file is reported as an update
 * of the old one. Tokens are counted since the thread began, also by runs that continue it.
 */
import * as z from 'zod';
import type { Newest } from '../../../src/newest.js';
import type { Clock } from '../../../src/time.js';
import { filesOf, planOf, usageOf } from '../../../src/transcripts/codex/observed.js';
import { BY_STATUS } from '../../../src/transcripts/codex/outputs.js';
import { asFields, type Fields, listAt } from '../../../src/transcripts/draft/fields.js';
import { CODEX_WORDINGS } from '../failures/codex.js';
import { failureWordsOf } from '../failures/explain.js';
import type { AgentRequest } from '../program/contract.js';
import type { Dialect } from '../program/programStream.js';
import type { ProgramEvent, ProgramLine } from '../program/protocol.js';
import { failure, journal, readEvent } from './eventLines.js';

const itemSchema = z.looseObject({ id: z.string(), type: z.string() });
const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thread.started'), thread_id: z.string() }),
  z.object({ type: z.literal('turn.started') }),
  z.object({ type: z.literal('item.started'), item: itemSchema }),
  z.object({ type: z.literal('item.updated'), item: itemSchema }),
  z.object({ type: z.literal('item.completed'), item: itemSchema }),
  z.object({ type: z.literal('turn.completed'), usage: z.unknown().optional() }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
  z.object({ type: z.literal('error'), message: z.string() }),
]);
type Event = z.infer<typeof event>;
type Item = z.infer<typeof itemSchema>;
type Result = Extract<ProgramEvent, { event: 'post_tool_use' }>;

/** Items that are tool calls; the others are text. */
const CALLS = ['command_execution', 'file_change', 'mcp_tool_call', 'web_search', 'collab_tool_call'];

/** Tokens that threads had used at the end of their last run, by thread. */
export type Totals = Newest<string, Fields>;

/** For a run of `command.ts`. @param totals of the agent's threads */
export function codex({ conversationId }: AgentRequest, _: Clock, totals: Totals): Dialect {
  return new CodexDialect({ isResumed: conversationId !== null, totals });
}

export class CodexDialect implements Dialect {
  readonly failureWords = failureWordsOf(CODEX_WORDINGS);
  readonly #open = new Set<string>();
  readonly #isResumed: boolean;
  readonly #totals: Totals | null;
  #lastMessage = '';
  #thread: string | null = null;

  /** @param totals shared by an agent's runs; null if the tokens of resumed threads are not counted */
  constructor({ isResumed = false, totals = null }: { isResumed?: boolean; totals?: Totals | null } = {}) {
    this.#isResumed = isResumed;
    this.#totals = totals;
  }

  line(text: string): ProgramLine[] {
    return readEvent(text, event, (said) => this.#interpret(said));
  }

  #interpret(said: Event): ProgramLine[] {
    switch (said.type) {
      case 'thread.started':
        this.#thread = said.thread_id;
        return [{ kind: 'conversation', conversationId: said.thread_id }];
      case 'turn.started':
        return [];
      case 'item.started':
        return CALLS.includes(said.item.type) ? [this.#request(said.item)] : planLines(said.item);
      case 'item.updated':
        return [...planLines(said.item), journal({ event: 'heartbeat', source: 'step' })];
      case 'item.completed':
        return this.#completed(said.item);
      case 'turn.completed':
        return [
          ...this.#usage(asFields(said.usage)),
          journal({ event: 'turn_end', reason: 'end_turn' }),
          { kind: 'answer', text: this.#lastMessage },
        ];
      case 'turn.failed':
        return [failure(said.error.message)];
      case 'error':
        // Reported by the harness, also on retries: not activity of the agent.
        return [journal({ event: 'heartbeat', source: 'api_retry' }), { kind: 'note', text: said.message }];
      default:
        return said satisfies never;
    }
  }

  #completed(item: Item): ProgramLine[] {
    const text = typeof item.text === 'string' ? item.text : '';
    if (item.type === 'agent_message') {
      this.#lastMessage = text;
      return [journal({ event: 'assistant_message', ...(text !== '' && { text }) }), { kind: 'note', text }];
    }
    if (item.type === 'error') return [{ kind: 'note', text: String(item.message ?? '') }];
    if (!CALLS.includes(item.type)) return [...planLines(item), journal({ event: 'assistant_message' })];
    const request = this.#open.has(item.id) ? [] : [this.#request(item)];
    this.#open.delete(item.id);
    const done = result(item);
    const files = done.outcome === 'ok' ? filesOf(item.changes, item.id) : null;
    return [...request, journal(done), ...(files === null ? [] : [journal(files)])];
  }

  /** The tokens of this run: the thread's total by now, less its total before. */
  #usage(total: Fields | null): ProgramLine[] {
    if (total === null || this.#thread === null) return [];
    const before = this.#isResumed ? this.#totals?.get(this.#thread) : {};
    this.#totals?.set(this.#thread, total);
    if (before === undefined) return [];
    const used = Object.entries(total).map(([name, count]) => [name, Number(count) - Number(before[name] ?? 0)]);
    const usage = usageOf(Object.fromEntries(used), `${this.#thread}_${total.input_tokens}_${total.output_tokens}`);
    return usage === null || Math.min(usage.input, usage.output, usage.cached) < 0 ? [] : [journal(usage)];
  }

  #request(item: Item): ProgramLine {
    this.#open.add(item.id);
    const { id: tool_use_id, type: tool_name, ...rest } = item;
    const { status, aggregated_output, exit_code, result: _, error, ...tool_input } = rest;
    return journal({ event: 'pre_tool_use', tool_use_id, tool_name, tool_input });
  }
}

function planLines(item: Item): ProgramLine[] {
  return item.type === 'todo_list' ? [journal(planOf(listAt(item, 'items')))] : [];
}

function result(item: Item): Result {
  const outcome = BY_STATUS.get(item.status) ?? 'ok';
  const output = item.aggregated_output ?? item.error ?? item.result ?? '';
  return {
    event: 'post_tool_use',
    tool_use_id: item.id,
    outcome,
    is_error: outcome !== 'ok',
    tool_output_preview: typeof output === 'string' ? output : JSON.stringify(output),
  };
}
