/**
 * The dialect of `gemini --output-format stream-json` (seen with gemini-cli 0.61.0): one event per line.
 *
 * Its calls carry no batch and no declared time, and a shell command counts as a success whatever its exit code. A conversation
 * in which the model has said nothing is deleted when its turn fails: nothing could continue it.
 */
import * as z from 'zod';
import { failureWordsOf } from '../failures/explain.js';
import { GEMINI_WORDINGS } from '../failures/gemini.js';
import type { Dialect } from '../program/programStream.js';
import type { ProgramEvent, ProgramLine } from '../program/protocol.js';
import { failure, journal, readEvent } from './eventLines.js';

const error = z.object({ type: z.string(), message: z.string() });
const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('init'), session_id: z.string() }),
  z.object({ type: z.literal('message'), role: z.string(), content: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    tool_id: z.string(),
    tool_name: z.string(),
    parameters: z.unknown().optional(),
  }),
  z.object({
    type: z.literal('tool_result'),
    tool_id: z.string(),
    status: z.enum(['success', 'error']),
    output: z.string().optional(),
    error: error.optional(),
  }),
  z.object({ type: z.literal('error'), message: z.string() }),
  z.object({ type: z.literal('result'), status: z.enum(['success', 'error']), error: error.optional() }),
]);
type Event = z.infer<typeof event>;

/** The documented exit code for a failed login (docs/cli/headless.md of gemini-cli). */
const AUTHENTICATION_EXIT = 41;
/** Forbidden by the project's policy; other errors come from the tool, or from the agent's call. */
const DENIED = 'policy_violation';

export class GeminiDialect implements Dialect {
  readonly failureWords = failureWordsOf(GEMINI_WORDINGS);
  readonly namesConversation = true;
  /** Until the model has said something. */
  #unnamed: string | null = null;
  #text = '';

  line(text: string): ProgramLine[] {
    return readEvent(text, event, (said) => this.#interpret(said));
  }

  exited(code: number): ProgramLine[] {
    if (code !== AUTHENTICATION_EXIT) return [];
    return [{ kind: 'failure', cause: 'authentication', detail: 'the login of gemini does not work' }];
  }

  #interpret(said: Event): ProgramLine[] {
    switch (said.type) {
      case 'init':
        this.#unnamed = said.session_id;
        return [];
      case 'message':
        if (said.role !== 'assistant') return [];
        this.#text += said.content;
        return [...this.#named(), journal({ event: 'assistant_message' }), { kind: 'note', text: this.#text }];
      case 'tool_use': {
        // Text before a call is not the answer.
        this.#text = '';
        const { tool_id: tool_use_id, tool_name, parameters } = said;
        const tool_input = parameters ?? {};
        return [...this.#named(), journal({ event: 'pre_tool_use', tool_use_id, tool_name, tool_input })];
      }
      case 'tool_result':
        return [journal(result(said))];
      case 'error':
        return [{ kind: 'note', text: said.message }];
      case 'result':
        if (said.status === 'error') return [failure(said.error?.message ?? 'gemini ended with an error')];
        return [journal({ event: 'turn_end', reason: 'end_turn' }), { kind: 'answer', text: this.#text }];
      default:
        return said satisfies never;
    }
  }

  #named(): ProgramLine[] {
    const conversationId = this.#unnamed;
    this.#unnamed = null;
    return conversationId === null ? [] : [{ kind: 'conversation', conversationId }];
  }
}

function result(said: Extract<Event, { type: 'tool_result' }>): ProgramEvent {
  const outcome = said.status === 'success' ? 'ok' : said.error?.type === DENIED ? 'rejected' : 'failed';
  return {
    event: 'post_tool_use',
    tool_use_id: said.tool_id,
    outcome,
    is_error: said.status === 'error',
    tool_output_preview: said.output ?? said.error?.message ?? '',
  };
}
