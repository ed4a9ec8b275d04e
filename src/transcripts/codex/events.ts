/** Codex's records apart from the conversation: turns, prompts, changed files, counted tokens, signs of life. */
import type { Draft, Hints, Say } from '../draft/draft.js';
import { contentText, type Fields, fieldsAt, numberAt, textAt } from '../draft/fields.js';
import { filesOf, usageOf } from './observed.js';
import { BY_STATUS } from './outputs.js';

/** Items of a turn that show that a tool is alive. */
const TOOL_EVENT = /^(?:exec_command|patch_apply|mcp_tool_call|web_search|view_image|dynamic_tool_call)/;
const SUB_AGENT_EVENT = /^(?:collab_|sub_agent_)/;

export function eventDrafts(payload: Fields, say: Say): Draft[] {
  const kind = textAt(payload, 'type') ?? '';
  switch (kind) {
    case 'task_started':
    case 'turn_started':
      return [say({ event: 'user_prompt', origin: 'machine' }, { beginsTurn: textAt(payload, 'turn_id') ?? kind })];
    case 'task_complete':
    case 'turn_complete': {
      const failed = payload.error !== undefined && payload.error !== null;
      const why = failed ? textAt(fieldsAt(payload, 'error'), 'message') : null;
      return [
        ...(why === null ? [] : [say({ event: 'assistant_message', stop_reason: 'error', text: why })]),
        say({ event: 'turn_end', reason: failed ? 'error' : 'end_turn' }, { turn: 'ends' }),
      ];
    }
    case 'turn_aborted':
      return [say({ event: 'turn_end', reason: 'interrupted' })];
    case 'shutdown_complete':
      return [say({ event: 'session_end', reason: 'shutdown' })];
    case 'user_message':
      return [promptDraft(textAt(payload, 'message'), say)];
    case 'agent_message':
    case 'agent_reasoning':
    case 'agent_reasoning_raw_content':
      return [say({ event: 'heartbeat', source: 'stream' })];
    case 'token_count':
      return [say({ event: 'heartbeat', source: 'record' }, { responseEnds: true }), ...countDrafts(payload, say)];
    case 'stream_error':
      return [say({ event: 'heartbeat', source: 'api_retry' })];
    case 'context_compacted':
      return [say({ event: 'compaction' })];
    case 'item_started':
    case 'item_completed':
      return itemEvents(fieldsAt(payload, 'item'), say);
    case 'exec_approval_request':
    case 'apply_patch_approval_request':
    case 'elicitation_request':
      return [say({ event: 'wait_start', kind: 'permission', ...callOf(payload) })];
    default:
      return [
        ...fileDrafts(payload, say),
        say({ event: 'heartbeat', source: sourceOf(kind), ...callOf(payload) }, verdictOf(payload)),
      ];
  }
}

function itemEvents(item: Fields, say: Say): Draft[] {
  switch (item.type) {
    case 'UserMessage':
      return [promptDraft(contentText(item.content), say)];
    case 'AgentMessage':
    case 'Reasoning':
      return [say({ event: 'heartbeat', source: 'stream' })];
    case 'ContextCompaction':
      return [say({ event: 'compaction' })];
    default: {
      const ended = { ...item, call_id: item.id };
      return [...fileDrafts(ended, say), say({ event: 'heartbeat', source: 'tool_event' }, verdictOf(ended))];
    }
  }
}

function promptDraft(text: string | null, say: Say): Draft {
  return say({ event: 'user_prompt', origin: 'human', ...(text !== null && text !== '' && { text }) });
}

/** The changes of a patch, unless it failed. */
function fileDrafts(ended: Fields, say: Say): Draft[] {
  const id = textAt(ended, 'call_id');
  const isDone = ended.type === 'patch_apply_end' || ended.type === 'FileChange';
  if (id === null || !isDone || verdictOf(ended).verdict !== undefined) return [];
  const files = filesOf(ended.changes, id);
  return files === null ? [] : [say(files)];
}

/** The tokens of the last response; the thread's total names it, because Codex repeats the count. */
function countDrafts(payload: Fields, say: Say): Draft[] {
  const info = fieldsAt(payload, 'info');
  const total = numberAt(fieldsAt(info, 'total_token_usage'), 'total_tokens');
  const usage = usageOf(fieldsAt(info, 'last_token_usage'), `tokens_${total}`);
  return total === null || usage === null ? [] : [say(usage, { isRepeated: true })];
}

function sourceOf(kind: string): string {
  if (TOOL_EVENT.test(kind)) return 'tool_event';
  return SUB_AGENT_EVENT.test(kind) ? 'sub_agent' : 'record';
}

function callOf(fields: Fields): { readonly tool_use_id?: string } {
  const id = textAt(fields, 'call_id');
  return id === null ? {} : { tool_use_id: id };
}

/** The end of a call as an event; its result follows as an item of the conversation, which may contain less. */
function verdictOf(fields: Fields): Hints {
  const id = textAt(fields, 'call_id');
  const failed = fields.success === false || (typeof fields.exit_code === 'number' && fields.exit_code !== 0);
  const outcome = BY_STATUS.get(fields.status) ?? (failed ? 'failed' : undefined);
  return id === null || outcome === undefined ? {} : { verdict: { tool_use_id: id, outcome } };
}
