/**
 * The dialect of `gemini --output-format stream-json` (seen with gemini-cli 0.61.0): one event per line.
 *
 * Its calls carry no batch and no declared time, and a shell command counts as a success whatever its exit code.
 */
import { z } from 'zod';
import type { Dialect } from '../program/programStream.js';
import type { ProgramEvent, ProgramLine } from '../program/protocol.js';
import { causeOfWords } from './causes.js';

const error = z.object({ type: z.string(), message: z.string() });
const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('init'), session_id: z.string() }),
  z.object({ type: z.literal('message'), role: z.string(), content: z.string() }),
  z.object({ type: z.literal('tool_use'), tool_id: z.string(), tool_name: z.string(), parameters: z.unknown() }),
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

export function geminiDialect(): Dialect {
  return new Gemini();
}

class Gemini implements Dialect {
  #text = '';

  line(text: string): ProgramLine[] {
    if (text.trim() === '') return [];
    const value = parseJson(text);
    const parsed = event.safeParse(value);
    if (parsed.success) return this.#interpret(parsed.data);
    return [{ kind: z.object({ type: z.string() }).safeParse(value).success ? 'ignored' : 'garbage' }];
  }

  exited(code: number): ProgramLine[] {
    if (code !== AUTHENTICATION_EXIT) return [];
    return [{ kind: 'failure', cause: 'authentication', detail: 'the login of gemini does not work' }];
  }

  #interpret(told: Event): ProgramLine[] {
    switch (told.type) {
      case 'init':
        return [{ kind: 'conversation', conversationId: told.session_id }];
      case 'message':
        if (told.role !== 'assistant') return [];
        this.#text += told.content;
        return [journal({ event: 'assistant_message' }), { kind: 'note', text: this.#text }];
      case 'tool_use': {
        // Text before a call is not the answer.
        this.#text = '';
        const { tool_id: tool_use_id, tool_name, parameters } = told;
        return [journal({ event: 'pre_tool_use', tool_use_id, tool_name, tool_input: parameters ?? {} })];
      }
      case 'tool_result':
        return [journal(result(told))];
      case 'error':
        return [{ kind: 'note', text: told.message }];
      case 'result': {
        if (told.status === 'success') {
          return [journal({ event: 'turn_end', reason: 'end_turn' }), { kind: 'answer', text: this.#text }];
        }
        const words = told.error?.message ?? 'gemini ended with an error';
        return [{ kind: 'failure', cause: causeOfWords(words), detail: words }];
      }
      default:
        return told satisfies never;
    }
  }
}

function result(told: Extract<Event, { type: 'tool_result' }>): ProgramEvent {
  const outcome = told.status === 'success' ? 'ok' : told.error?.type === DENIED ? 'rejected' : 'failed';
  return {
    event: 'post_tool_use',
    tool_use_id: told.tool_id,
    outcome,
    is_error: told.status === 'error',
    tool_output_preview: told.output ?? told.error?.message ?? '',
  };
}

function journal(event: ProgramEvent): ProgramLine {
  return { kind: 'journal', event };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
