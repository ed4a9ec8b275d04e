/** The items of a conversation with Codex' model: messages, calls, results. */

import { asksFirst, QUESTIONS } from '../../journal/agentVocabulary.js';
import { contentDigest } from '../../journal/digest.js';
import type { JournalEvent, ObservedEvent } from '../../journal/schema.js';
import { parseJson } from '../../json.js';
import type { Draft, Say } from '../draft/draft.js';
import { asFields, contentText, type Fields, fieldsAt, listAt, numberAt, textAt } from '../draft/fields.js';
import { patchedFiles, planOf } from './observed.js';
import { readOutput } from './outputs.js';

/** Texts that the harness adds to the conversation in the person's name. */
const HARNESS_TEXT = /^\s*(?:<[a-z_]+>|# AGENTS\.md instructions|## )/;
/** Times within a script that runs several calls. */
const SCRIPT_TIMES = /\b(?:yield_time_ms|timeout_ms)["']?\s*:\s*(\d{1,9})/g;

/** @param isEnveloped if so, events report prompts, too */
export function itemDrafts(item: Fields, say: Say, { isEnveloped }: { readonly isEnveloped: boolean }): Draft[] {
  switch (item.type) {
    case 'message':
      return messageDrafts(item, say, isEnveloped);
    case 'reasoning':
      return [say({ event: 'heartbeat', source: 'stream' })];
    case 'function_call':
    case 'custom_tool_call':
    case 'tool_search_call':
      return callDrafts(item, inputOf(item), say);
    case 'local_shell_call':
      return callDrafts({ name: 'local_shell', ...item }, fieldsAt(item, 'action'), say);
    case 'web_search_call':
    case 'image_generation_call':
      return [say({ event: 'heartbeat', source: 'step' })];
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
    case 'tool_search_output':
      return resultDrafts(item, say);
    case 'compaction':
    case 'context_compaction':
      return [say({ event: 'compaction' })];
    default:
      return [say({ event: 'heartbeat', source: 'record' })];
  }
}

function messageDrafts(item: Fields, say: Say, isEnveloped: boolean): Draft[] {
  const content = contentText(item.content);
  const text = content === '' ? {} : { text: content };
  if (item.role === 'assistant') return [say({ event: 'assistant_message', ...text }, { turn: 'perhaps' })];
  const isPrompt = item.role === 'user' && !isEnveloped && !HARNESS_TEXT.test(content);
  return [
    say(isPrompt ? { event: 'user_prompt', origin: 'human', ...text } : { event: 'heartbeat', source: 'context' }),
  ];
}

function callDrafts(item: Fields, input: unknown, say: Say): Draft[] {
  const id = textAt(item, 'call_id') ?? textAt(item, 'id');
  const tool = textAt(item, 'name') ?? textAt(item, 'type') ?? 'unknown';
  if (id === null) return [say({ event: 'heartbeat', source: 'step' })];
  const timeout = returnsWithin(input);
  const directory = textAt(asFields(input) ?? {}, 'workdir') ?? textAt(asFields(input) ?? {}, 'working_directory');
  const call: JournalEvent = {
    event: 'pre_tool_use',
    tool_use_id: id,
    tool_name: tool,
    tool_input: input,
    ...(timeout !== null && { timeout_ms: timeout }),
    ...(directory !== null && { directory }),
    ...(asksFirst(input) && { asks_first: true }),
  };
  const does = effectOf(tool, input, id);
  return [
    say(call, {
      ...(QUESTIONS.has(tool) && { asksPerson: true }),
      ...(does !== null && { ifOk: say(does).event as ObservedEvent }),
    }),
  ];
}

/** The effect of a successful call on the plan or on files; null for other calls. */
function effectOf(tool: string, input: unknown, id: string): ObservedEvent | null {
  const fields = asFields(input) ?? {};
  if (tool === 'update_plan') return planOf(listAt(fields, 'plan'));
  if (tool === 'apply_patch') return patchedFiles(textAt(fields, 'input') ?? '', id);
  const [program, patch] = Array.isArray(fields.command) ? fields.command : [];
  return program === 'apply_patch' && typeof patch === 'string' ? patchedFiles(patch, id) : null;
}

/** Arguments are JSON in a text; the input of a custom tool is a text in any language. */
function inputOf(item: Fields): unknown {
  const text = textAt(item, 'arguments');
  if (text !== null) return asFields(parseJson(text)) ?? { text };
  return asFields(item.arguments) ?? { input: item.input ?? null };
}

/** Codex returns from a call after its `yield_time_ms` at the latest; `timeout` and `timeout_ms` end the command. */
function returnsWithin(input: unknown): number | null {
  const fields = asFields(input) ?? {};
  const own = numberAt(fields, 'timeout_ms') ?? numberAt(fields, 'yield_time_ms') ?? numberAt(fields, 'timeout');
  if (own !== null) return own > 0 ? own : null;
  const times = [...(textAt(fields, 'input') ?? '').matchAll(SCRIPT_TIMES)].map(([, time]) => Number(time));
  return times.length === 0 ? null : times.reduce((sum, time) => sum + time, 0);
}

function resultDrafts(item: Fields, say: Say): Draft[] {
  const id = textAt(item, 'call_id') ?? textAt(item, 'id');
  if (id === null) return [say({ event: 'heartbeat', source: 'tool_event' })];
  const { text, result, outcome, durationMs, inBackground } = readOutput(item.output);
  const done: JournalEvent = {
    event: 'post_tool_use',
    tool_use_id: id,
    tool_name: 'unknown',
    is_error: outcome !== 'ok',
    outcome,
    tool_output_preview: text,
    output_digest: contentDigest(result),
    ...(durationMs !== null && { duration_ms: durationMs }),
    ...(inBackground && { in_background: true }),
  };
  return [say(done)];
}
