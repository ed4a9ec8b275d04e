/**
 * The lines of an agent program on its standard output: one JSON object per line; `event` names its kind. docs/agents.md ("The
 * protocol") describes each.
 *
 * Most lines are the journal's own, without `v`, `timestamp` and `session_id`, which the journal's writer adds; `conversation`,
 * `note`, `answer` and `failure` belong to this protocol only. A field that is null counts as absent. Unknown fields are dropped,
 * unknown events are ignored, and unreadable lines are counted; none of these ends a run. The prompt is the program's whole
 * standard input. A program that exits without an answer has failed, whatever its exit code.
 */
import * as z from 'zod';
import { type JournalEvent, OUTCOMES, PLAN_STATUSES, START_SOURCES, WAIT_KINDS } from '../../../src/journal/schema.js';
import { parseJson } from '../../../src/json.js';
import { type AgentFailure, FAILURE_CAUSES } from '../failures/causes.js';

export type ProgramLine =
  | { readonly kind: 'journal'; readonly event: ProgramEvent }
  | { readonly kind: 'conversation'; readonly conversationId: string }
  | { readonly kind: 'version'; readonly version: string }
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'answer'; readonly text: string }
  | ({ readonly kind: 'failure' } & AgentFailure)
  /** An event of a later version, or one that only the bridge may write. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'garbage' };

type Result = Extract<JournalEvent, { event: 'post_tool_use' }>;
/** A result may omit words that its call has said already. */
export type ProgramEvent = Exclude<JournalEvent, Result> | (Omit<Result, 'tool_name'> & { tool_name?: string });

const id = z.string().min(1);
const milliseconds = z.number().nonnegative();
const lineage = { agent_id: id.exactOptional(), parent_tool_use_id: id.exactOptional() };
const wait = { kind: z.enum(WAIT_KINDS), tool_use_id: id.exactOptional(), ...lineage };

const paths = z.array(id).readonly().exactOptional();
const tokens = z.int().nonnegative().default(0);
const planItem = z.object({
  external_id: id.exactOptional(),
  title: id,
  status: z.enum(PLAN_STATUSES),
  blocked_by: z.array(id).readonly().exactOptional(),
});

const lineSchema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('assistant_message'),
    stop_reason: z.string().exactOptional(),
    text: z.string().exactOptional(),
    ...lineage,
  }),
  z.object({
    event: z.literal('pre_tool_use'),
    tool_use_id: id,
    tool_name: id,
    tool_input: z.unknown().exactOptional(),
    input_digest: z.string().exactOptional(),
    timeout_ms: milliseconds.exactOptional(),
    batch: id.exactOptional(),
    polling: z.boolean().exactOptional(),
    ...lineage,
  }),
  z.object({
    event: z.literal('post_tool_use'),
    tool_use_id: id,
    tool_name: id.exactOptional(),
    is_error: z.boolean().exactOptional(),
    outcome: z.enum(OUTCOMES).exactOptional(),
    tool_output: z.string().default(''),
    output_digest: z.string().exactOptional(),
    duration_ms: milliseconds.exactOptional(),
    batch: id.exactOptional(),
    ...lineage,
  }),
  z.object({ event: z.literal('wait_start'), until: z.string().exactOptional(), ...wait }),
  z.object({ event: z.literal('wait_end'), ...wait }),
  z.object({ event: z.literal('turn_end'), reason: z.string().default('end_turn'), ...lineage }),
  z.object({ event: z.literal('heartbeat'), source: z.string().default('step'), ...lineage }),
  z.object({ event: z.literal('compaction'), ...lineage }),
  z.object({ event: z.literal('user_prompt'), text: z.string().exactOptional(), ...lineage }),
  z.object({
    event: z.literal('plan'),
    mode: z.enum(['merge', 'replace']),
    items: z.array(planItem).readonly(),
    ...lineage,
  }),
  z.object({
    event: z.literal('files'),
    tool_use_id: id.exactOptional(),
    created: paths,
    modified: paths,
    deleted: paths,
    read: paths,
    changed: paths,
    renamed: z
      .array(z.object({ from: id, to: id }))
      .readonly()
      .exactOptional(),
    more: z.int().nonnegative().exactOptional(),
    ...lineage,
  }),
  z.object({ event: z.literal('usage'), message_id: id, input: tokens, output: tokens, cached: tokens, ...lineage }),
  z.object({ event: z.literal('session_start'), source: z.enum(START_SOURCES), ...lineage }),
  z.object({ event: z.literal('conversation'), conversation_id: id }),
  z.object({ event: z.literal('agent'), version: z.string().regex(/^[\w.+-]{1,40}$/) }),
  z.object({ event: z.literal('note'), text: z.string() }),
  z.object({ event: z.literal('answer'), text: z.string() }),
  z.object({
    event: z.literal('failure'),
    cause: z.enum(FAILURE_CAUSES),
    detail: z.string().default(''),
    until: z.string().exactOptional(),
  }),
]);
type Line = z.infer<typeof lineSchema>;
export type ProtocolLine = z.input<typeof lineSchema>;

const anyEvent = z.looseObject({ event: z.string() });
const KNOWN_EVENTS = new Set(lineSchema.options.map((option) => option.shape.event.value as string));

/** @returns the meaning of one line; an `assistant_message` with a text also yields that text. Never throws */
export function parseProgramLine(text: string): ProgramLine[] {
  const found = anyEvent.safeParse(parseJson(text));
  if (!found.success) return [{ kind: 'garbage' }];
  if (!KNOWN_EVENTS.has(found.data.event)) return [{ kind: 'ignored' }];
  const parsed = lineSchema.safeParse(withoutUseless(found.data));
  return parsed.success ? interpret(parsed.data) : [{ kind: 'garbage' }];
}

function interpret(line: Line): ProgramLine[] {
  switch (line.event) {
    case 'conversation':
      return [{ kind: 'conversation', conversationId: line.conversation_id }];
    case 'agent':
      return [{ kind: 'version', version: line.version }];
    case 'note':
    case 'answer':
      return [{ kind: line.event, text: line.text }];
    case 'failure': {
      const { cause, detail, until } = line;
      return [{ kind: 'failure', cause, detail, ...(until !== undefined && { until: Date.parse(until) }) }];
    }
    case 'assistant_message': {
      const { text } = line;
      return [{ kind: 'journal', event: line }, ...(text === undefined ? [] : [{ kind: 'note' as const, text }])];
    }
    case 'pre_tool_use':
      return [{ kind: 'journal', event: { ...line, tool_input: line.tool_input ?? {} } }];
    case 'post_tool_use': {
      const { tool_output, is_error, outcome = is_error ? 'failed' : 'ok', ...rest } = line;
      const event = { ...rest, outcome, is_error: is_error ?? outcome === 'failed', tool_output_preview: tool_output };
      return [{ kind: 'journal', event }];
    }
    case 'user_prompt':
      // A person's messages come through the bridge only.
      return [{ kind: 'journal', event: { ...line, origin: 'machine' } }];
    case 'session_start':
      // The bridge reports the beginning of a run; a program may only report changes of its context.
      if (line.source === 'startup' || line.source === 'resume') return [{ kind: 'ignored' }];
      return [{ kind: 'journal', event: { ...line, source: line.source } }];
    default:
      return [{ kind: 'journal', event: line }];
  }
}

/** A call is evidence even if its timeout makes no sense: the field is dropped, not the line. */
function withoutUseless(value: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(value).filter(([key, member]) => {
    if (member === null) return false;
    if (key === 'timeout_ms' || key === 'duration_ms') return milliseconds.safeParse(member).success;
    return key !== 'until' || !Number.isNaN(Date.parse(String(member)));
  });
  return Object.fromEntries(kept);
}
