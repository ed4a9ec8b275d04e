/**
 * The dialect of `codex exec --json` (seen with codex-cli 0.169.0): one thread event per line.
 *
 * Its calls carry no batch and no declared time. Retries are reported without their delay, so that they excuse nothing
 * (judgement rules, 11).
 */
import { z } from 'zod';
import { BY_STATUS } from '../../../src/transcripts/codex/outputs.js';
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
  z.object({ type: z.literal('turn.completed') }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
  z.object({ type: z.literal('error'), message: z.string() }),
]);
type Event = z.infer<typeof event>;
type Item = z.infer<typeof itemSchema>;

/** Items that are tool calls; the others are text. */
const CALLS = ['command_execution', 'file_change', 'mcp_tool_call', 'web_search', 'collab_tool_call'];

export class CodexDialect implements Dialect {
  readonly #open = new Set<string>();
  #lastMessage = '';

  line(text: string): ProgramLine[] {
    return readEvent(text, event, (said) => this.#interpret(said));
  }

  #interpret(said: Event): ProgramLine[] {
    switch (said.type) {
      case 'thread.started':
        return [{ kind: 'conversation', conversationId: said.thread_id }];
      case 'turn.started':
        return [];
      case 'item.started':
        return CALLS.includes(said.item.type) ? [this.#request(said.item)] : [];
      case 'item.updated':
        return [journal({ event: 'heartbeat', source: 'step' })];
      case 'item.completed':
        return this.#completed(said.item);
      case 'turn.completed':
        return [journal({ event: 'turn_end', reason: 'end_turn' }), { kind: 'answer', text: this.#lastMessage }];
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
      return [journal({ event: 'assistant_message' }), { kind: 'note', text }];
    }
    if (item.type === 'error') return [{ kind: 'note', text: String(item.message ?? '') }];
    if (!CALLS.includes(item.type)) return [journal({ event: 'assistant_message' })];
    const request = this.#open.has(item.id) ? [] : [this.#request(item)];
    this.#open.delete(item.id);
    return [...request, journal(result(item))];
  }

  #request(item: Item): ProgramLine {
    this.#open.add(item.id);
    const { id: tool_use_id, type: tool_name, ...rest } = item;
    const { status, aggregated_output, exit_code, result: _, error, ...tool_input } = rest;
    return journal({ event: 'pre_tool_use', tool_use_id, tool_name, tool_input });
  }
}

function result(item: Item): ProgramEvent {
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
