/**
 * The calls of Claude Code and their results: the same blocks in its transcripts and in the stream of its SDK.
 *
 * Only a result with its error flag set has its outcome examined: typed fields decide (current versions), or for older versions
 * the harness's own sentence at the result's beginning, never a tool's words.
 */
import type { JournalRecord } from '../../journal/record.js';
import type { JournalEvent, Outcome } from '../../journal/schema.js';
import type { Hints } from '../draft/draft.js';
import { asFields, contentText, type Fields, fieldsAt, numberAt, textAt } from '../draft/fields.js';

const BY_DENIAL: ReadonlyMap<string, Outcome> = new Map([
  ['user-rejected', 'rejected'],
  ['permission-rule', 'rejected'],
  ['automode-blocked', 'rejected'],
  ['automode-unavailable', 'rejected'],
  ['automode-parsing-error', 'rejected'],
  ['interrupted', 'cancelled'],
  ['cancelled', 'cancelled'],
]);

const BY_BEGINNING: readonly (readonly [RegExp, Outcome])[] = [
  [/^The user doesn't want to (?:proceed|take this action)/, 'rejected'],
  [/^(?:Permission to use |Claude requested permissions? )/, 'rejected'],
  [/^This (?:Bash )?command (?:requires approval|contains multiple operations)/, 'rejected'],
  [/^\[Request interrupted by user/, 'cancelled'],
  [/^(?:<tool_use_error>)?(?:Cancelled: |Sibling tool call errored)/, 'cancelled'],
  [/^(?:<tool_use_error>)?(?:Error: )?PreToolUse:[^\s]+ hook (?:blocking )?error/, 'blocked'],
];

/** The harness's sentence for the model, in versions without a field for it. */
const FEEDBACK = /^The user doesn't want to (?:proceed|take this action)[^\n]*the user said:\n([\s\S]+)/;

/** States of a task that works on, as `TaskOutput` and the harness give them; `none`: nothing is said. */
const AT_WORK: ReadonlySet<string> = new Set(['none', 'pending', 'running', 'in_progress', 'paused']);
const TASK_STATE = /<status>([^<]{1,40})<\/status>/;
const TASK_ID = /<task-id>([^<]{1,200})<\/task-id>/g;

/** Tools of an MCP server may use any unit for their `timeout`. */
const FOREIGN_TOOL = /^mcp__/;

/**
 * @param block of the type `tool_use`
 * @param batch the id of its message, which all calls of one message share
 */
export function callOf(block: Fields, batch: string | null): Extract<JournalEvent, { event: 'pre_tool_use' }> {
  const tool_name = textAt(block, 'name') ?? 'unknown';
  const tool_input = asFields(block.input) ?? {};
  const timeout = declaredTimeout(tool_name, tool_input);
  return {
    event: 'pre_tool_use',
    tool_use_id: textAt(block, 'id') ?? 'unknown',
    tool_name,
    tool_input,
    ...(timeout !== null && { timeout_ms: timeout }),
    ...(batch !== null && { batch }),
  };
}

/** @param block of the type `tool_result`, which does not name the tool */
export function resultOf(block: Fields, outcome: Outcome): Extract<JournalEvent, { event: 'post_tool_use' }> {
  return {
    event: 'post_tool_use',
    tool_use_id: textAt(block, 'tool_use_id') ?? 'unknown',
    tool_name: 'unknown',
    is_error: block.is_error === true,
    outcome,
    tool_output_preview: contentText(block.content),
  };
}

/** @returns what a person said who refused the call; nothing for any other */
export function feedbackOn(record: JournalRecord, result: Fields): { readonly said?: string } {
  if (result.is_error !== true) return {};
  const said = textAt(record, 'userFeedback') ?? FEEDBACK.exec(contentText(result.content))?.[1] ?? '';
  return said.trim() === '' ? {} : { said: said.trim() };
}

export function outcomeOf(result: Fields, record: JournalRecord): Outcome {
  if (result.is_error !== true) return 'ok';
  const denial = denialOutcome(textAt(record, 'toolDenialKind'), fieldsAt(record, 'permissionDecision'));
  if (denial !== null) return denial;
  if (record.toolUseResult === 'User rejected tool use') return 'rejected';
  if (fieldsAt(record, 'toolUseResult').interrupted === true) return 'cancelled';
  const text = contentText(result.content).trimStart();
  return BY_BEGINNING.find(([beginning]) => beginning.test(text))?.[1] ?? 'failed';
}

/**
 * @param kind the harness's own word for why the call was not executed; null if it has none
 * @returns `blocked` if a hook of the project forbade the call, `rejected` if its rules or a person did; null if none of them did
 */
export function denialOutcome(kind: string | null, { decision, source }: Fields): Outcome | null {
  if (decision === 'reject' && source === 'hook') return 'blocked';
  return BY_DENIAL.get(kind ?? '') ?? (decision === 'reject' ? 'rejected' : null);
}

/**
 * A call that started a sub-agent names it in its result: at once if it works in the background. A call that stops one, or reads its
 * report, shows that it has ended.
 */
export function subAgentHints(record: JournalRecord): Hints {
  const result = fieldsAt(record, 'toolUseResult');
  const agent = textAt(result, 'agentId');
  if (agent !== null) {
    return { subAgent: agent, inBackground: result.isAsync === true || result.status === 'async_launched' };
  }
  const ended = stoppedTask(result) ?? readTask(fieldsAt(result, 'task'));
  return ended === null ? {} : { endedAgents: [ended] };
}

function stoppedTask(result: Fields): string | null {
  return textAt(result, 'task_type') === null ? null : textAt(result, 'task_id');
}

function readTask(task: Fields): string | null {
  return AT_WORK.has(textAt(task, 'status') ?? 'none') ? null : textAt(task, 'task_id');
}

/** @returns the timeout that a call declares, in milliseconds; null if it declares none */
export function declaredTimeout(tool: string, input: Fields): number | null {
  const declared = numberAt(input, 'timeout_ms') ?? (FOREIGN_TOOL.test(tool) ? null : numberAt(input, 'timeout'));
  return declared !== null && declared > 0 ? declared : null;
}

/** The harness reports the end of background tasks in its text for the model, several in one after a new start. */
export function endedTasks(record: Fields): Hints {
  const text = textAt(record, 'content') ?? '';
  if (!text.startsWith('<task-notification>')) return {};
  // One that was started again after its program had ended is reported without a state. Recordings may be cut before it.
  const [, state = text.includes('</task-notification>') ? 'none' : 'completed'] = TASK_STATE.exec(text) ?? [];
  if (AT_WORK.has(state)) return {};
  const endedAgents = [...text.matchAll(TASK_ID)].map(([, id = '']) => id);
  return endedAgents.length === 0 ? {} : { endedAgents };
}
