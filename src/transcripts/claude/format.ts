/**
 * Transcripts of Claude Code (`projects/…/SESSION.jsonl` and those of its sub-agents): one record per block of a message, per
 * result, per message of the harness. The format is undocumented. Seen: 2.1.329 and 2.1.330 in use; the shapes of 1.0, 2.0 and
 * 2.1 in published recordings.
 */
import { QUESTIONS, STARTERS } from '../../journal/agentVocabulary.js';
import { contentDigest } from '../../journal/digest.js';
import { instantOf } from '../../journal/normalise.js';
import type { JournalRecord } from '../../journal/record.js';
import type { JournalEvent, Lineage } from '../../journal/schema.js';
import { isoTime } from '../../time.js';
import { type Draft, type Format, type Hints, type Say, sayerAt } from '../draft/draft.js';
import { asFields, contentText, type Fields, fieldsAt, listAt, numberAt, textAt } from '../draft/fields.js';
import type { Trimmer } from '../draft/trimmer.js';
import { callOf, endedTasks, feedbackOn, outcomeOf, resultOf, subAgentHints } from './calls.js';
import { askedOf, doneOf, type Trim } from './deeds.js';
import { originOf, PERSONS, placeOf, promptDrafts, spokenText, TYPED_COMMAND } from './prompts.js';
import { queueDrafts } from './queue.js';
import { usageOf } from './usage.js';
import { ClaudeWeaver } from './weaver.js';

/** These end a turn. After others (`max_tokens`, `pause_turn`) the harness asks again by itself. */
const LAST_STOPS = ['end_turn', 'stop_sequence', 'refusal'];
const SYNTHETIC = '<synthetic>';
const FILLER = 'No response requested.';
const PROGRESS = ['bash_progress', 'mcp_progress', 'hook_progress', 'agent_progress'];

export const claudeFormat: Format = {
  name: 'claude',
  sessionId: (record) => textAt(record, 'sessionId'),
  directory: (record) => textAt(record, 'cwd'),
  drafts: (record, trimmer) => placed(recordDrafts(record, trimmer, speakerOf(record)), record),
  agentOf(records) {
    const first = records.find(({ type }) => type === 'user' || type === 'assistant');
    return first?.isSidechain === true ? textAt(first, 'agentId') : null;
  },
  newWeaver: (mainAgent, parents, isStory) => new ClaudeWeaver(mainAgent, parents, isStory),
};

/** Records of sub-agents have their own chains. */
function placed(drafts: Draft[], record: JournalRecord): Draft[] {
  const [first] = drafts;
  const uuid = textAt(record, 'uuid');
  if (first === undefined || uuid === null || record.isSidechain === true) return drafts;
  const message = record.type === 'assistant' ? (textAt(fieldsAt(record, 'message'), 'id') ?? uuid) : null;
  // A copy of each draft would take longer than all of this.
  first.place = { uuid, parentUuid: textAt(record, 'parentUuid'), message };
  return drafts;
}

function recordDrafts(record: JournalRecord, trimmer: Trimmer, speaker: Speaker): Draft[] {
  const time = instantOf(record.timestamp) ?? untimed(record);
  if (time === null) return [];
  const sayAt = sayerAt(time, 0, trimmer);
  const say = speaker === MAIN ? sayAt : sayAs(speaker, sayAt);
  const trim: Trim = trimmer.item;
  switch (record.type) {
    case 'assistant':
      return assistantDrafts(record, say, trimmer);
    case 'user':
      return userDrafts(record, say, trim);
    case 'system':
      return systemDrafts(record, time, say);
    case 'progress':
      return progressDrafts(record, say, trimmer);
    case 'attachment':
      return attachmentDrafts(record, say);
    case 'permission-mode':
      return [say({ event: 'heartbeat', source: 'record', ...modeOf(record) })];
    case 'queue-operation':
      return queueDrafts(record, say);
    default:
      return [say({ event: 'heartbeat', source: 'record' })];
  }
}

/** Current versions record a change of mode without a time; it is not earlier than the record before it. */
function untimed({ type }: JournalRecord): number | null {
  return type === 'permission-mode' ? Number.NaN : null;
}

interface Speaker {
  readonly lineage: Lineage;
  readonly hints: Hints;
}

/** The main agent: most records are its own, and their drafts need no copies. */
const MAIN: Speaker = { lineage: {}, hints: {} };

function sayAs({ lineage, hints: common }: Speaker, say: Say): Say {
  return (event, hints) => say({ ...event, ...lineage }, { ...hints, ...common });
}

function speakerOf(record: JournalRecord): Speaker {
  const agent = textAt(record, 'agentId');
  if (record.isSidechain !== true && agent === null) return MAIN;
  return { lineage: agent === null ? {} : { agent_id: agent }, hints: { sidechain: true, ...placeOf(record) } };
}

function assistantDrafts(record: JournalRecord, say: Say, trimmer: Trimmer): Draft[] {
  const message = fieldsAt(record, 'message');
  if (record.isApiErrorMessage === true) {
    const why = spokenText(contentText(message.content));
    return [
      say({ event: 'assistant_message', stop_reason: 'error', ...why }),
      say({ event: 'turn_end', reason: 'error' }),
    ];
  }
  if (isFiller(message)) return [say({ event: 'heartbeat', source: 'record' })];
  const stop = textAt(message, 'stop_reason');
  const words: JournalEvent =
    stop === null ? { event: 'assistant_message' } : { event: 'assistant_message', stop_reason: stop };
  const usage = usageOf(message, trimmer.id);
  // Every record of a message repeats its tokens: as a hint they cost less than as a draft.
  const tokens = usage === null ? {} : { usage };
  if (typeof message.content === 'string')
    return [say({ ...words, ...spokenText(message.content) }, { turn: turnAfter(stop, true), ...tokens })];
  const blocks = listAt(message, 'content');
  const calls = blocks.some(({ type }) => type === 'tool_use');
  return blocks.map((block) => {
    if (block.type === 'tool_use')
      return callDraft(block, { batch: textAt(message, 'id'), stop, tokens }, say, trimmer.item);
    const isText = block.type === 'text';
    const turn = calls ? 'goes_on' : turnAfter(stop, isText);
    const said = isText ? { ...words, ...spokenText(block.text) } : words;
    return say(said, usage === null ? { turn } : { turn, usage });
  });
}

/** The harness puts it between two prompts of a person if the first one needs no answer. */
function isFiller(message: Fields): boolean {
  return message.model === SYNTHETIC && contentText(message.content) === FILLER;
}

/** Versions up to the spring of 2026 usually wrote a block before they knew why its message stopped. */
function turnAfter(stop: string | null, isText: boolean): NonNullable<Hints['turn']> {
  if (stop === null) return isText ? 'perhaps' : 'goes_on';
  return LAST_STOPS.includes(stop) ? 'ends' : 'goes_on';
}

interface OfMessage {
  readonly batch: string | null;
  readonly stop: string | null;
  readonly tokens: Hints;
}

function callDraft(block: Fields, { batch, stop, tokens }: OfMessage, say: Say, trim: Trim): Draft {
  const call = callOf(block, batch);
  const deed = askedOf(call.tool_name, fieldsAt(block, 'input'), trim);
  const turn = stop === null ? 'perhaps' : 'goes_on';
  const hints: Hints = deed === null ? { turn, ...tokens } : { turn, deed, ...tokens };
  const isStarter = STARTERS.has(call.tool_name);
  if (!isStarter && !QUESTIONS.has(call.tool_name)) return say(call, hints);
  if (!isStarter) return say(call, { ...hints, asksPerson: true });
  return say(call, { ...hints, asked: contentDigest(textAt(fieldsAt(block, 'input'), 'prompt') ?? '') });
}

function userDrafts(record: JournalRecord, say: Say, trim: Trim): Draft[] {
  const results = listAt(fieldsAt(record, 'message'), 'content').filter(({ type }) => type === 'tool_result');
  if (results.length === 0) return promptDrafts(record, say);
  // A record has one typed result. If it carries the results of several calls, the typed one's call is unknown.
  const typed = results.length === 1 ? record.toolUseResult : undefined;
  return results.flatMap((block) => {
    if (textAt(block, 'tool_use_id') === null) return [];
    const inBackground = textAt(fieldsAt(record, 'toolUseResult'), 'backgroundTaskId') !== null;
    const result: JournalEvent = {
      ...resultOf(block, outcomeOf(block, record)),
      ...feedbackOn(record, block),
      ...(inBackground && { in_background: true }),
    };
    const duration = numberAt(fieldsAt(record, 'toolUseResult'), 'durationMs');
    const hints = { ...subAgentHints(record), done: doneOf(typed, trim, block.content) };
    return [say({ ...result, ...(duration !== null && { duration_ms: duration }) }, hints)];
  });
}

function systemDrafts(record: JournalRecord, time: number, say: Say): Draft[] {
  switch (record.subtype) {
    case 'api_error': {
      const delayMs = numberAt(record, 'retryInMs');
      if (delayMs === null) return [say({ event: 'heartbeat', source: 'api_retry' })];
      return [say({ event: 'wait_start', kind: 'rate_limit', until: isoTime(time + delayMs) })];
    }
    case 'compact_boundary':
    case 'microcompact_boundary':
      return [say({ event: 'compaction' })];
    case 'turn_duration':
      return [
        say(
          { event: 'turn_end', reason: 'end_turn' },
          { pendingAgents: numberAt(record, 'pendingBackgroundAgentCount') ?? 0 },
        ),
      ];
    case 'agents_killed':
      return [say({ event: 'heartbeat', source: 'record' }, { endsBackground: true })];
    case 'stop_hook_summary':
      return [say({ event: 'heartbeat', source: 'stop_hook' }, stopHints(record))];
    case 'scheduled_task_fire':
      return [say({ event: 'heartbeat', source: 'record' }, { fires: true, ...placeOf(record) })];
    case 'local_command': {
      const isTyped = TYPED_COMMAND.test(textAt(record, 'content') ?? '');
      const kind = isTyped ? { command: true } : { prints: true };
      return [say({ event: 'heartbeat', source: 'local_command' }, { ...kind, ...placeOf(record) })];
    }
    default:
      return [say({ event: 'heartbeat', source: 'record' })];
  }
}

/** Hooks of other ends, such as a sub-agent's, say so in their label. */
function stopHints(record: JournalRecord): Hints {
  return /^(?:stop)?$/i.test(textAt(record, 'hookLabel') ?? '') ? { stopsTurn: true } : {};
}

function modeOf(record: JournalRecord): { readonly permission_mode?: string } {
  const mode = textAt(record, 'permissionMode');
  return mode === null ? {} : { permission_mode: mode };
}

/** Up to 2.1 the main transcript repeats records of a sub-agent's own transcript; ids keep that from counting twice. */
function progressDrafts(record: JournalRecord, say: Say, trimmer: Trimmer): Draft[] {
  const data = fieldsAt(record, 'data');
  const kind = textAt(data, 'type') ?? '';
  const source = PROGRESS.find((known) => known === kind) ?? 'record';
  const agent = textAt(data, 'agentId');
  const parent = textAt(record, 'parentToolUseID');
  if (agent === null) return [say({ event: 'heartbeat', source, ...(parent !== null && { tool_use_id: parent }) })];
  const lineage = { agent_id: agent, ...(parent !== null && { parent_tool_use_id: parent }) };
  const inner = asFields(data.message);
  const beat = say({ event: 'heartbeat', source, ...lineage }, { sidechain: true });
  if (inner?.type !== 'user' && inner?.type !== 'assistant') return [beat];
  return [beat, ...recordDrafts(inner, trimmer, { lineage, hints: { sidechain: true } })];
}

function attachmentDrafts(record: JournalRecord, say: Say): Draft[] {
  const attachment = fieldsAt(record, 'attachment');
  const kind = textAt(attachment, 'type') ?? '';
  if (kind === 'queued_command') {
    const isFromPerson = attachment.commandMode !== 'task-notification' && attachment.isMeta !== true;
    const origin = isFromPerson && PERSONS.has(originOf(attachment)) ? 'human' : 'machine';
    const ended = endedTasks({ content: attachment.prompt });
    const text = spokenText(contentText(attachment.prompt));
    return [say({ event: 'user_prompt', origin, ...text }, { joinsTurn: true, ...ended })];
  }
  return [say({ event: 'heartbeat', source: kind.startsWith('hook_') ? 'hook' : 'context' })];
}
