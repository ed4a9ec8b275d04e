/** A journal line reduced to the fields that the judgement needs: no texts, only instants, short names and fingerprints. */
import type { PollingList } from '../../../src/config/polling.js';
import { asksFirst } from '../../../src/journal/agentVocabulary.js';
import { eventOf, instantOf, timeOf } from '../../../src/journal/normalise.js';
import { type JournalRecord, textOf } from '../../../src/journal/record.js';
import { type JournalEvent, WAIT_KINDS, type WaitKind } from '../../../src/journal/schema.js';
import { DAY } from '../../../src/time.js';
import { fingerprint, fingerprintOfJson, UNKNOWN_FINGERPRINT } from './fingerprint.js';
import { isPolling } from './polling.js';

/** The session's main agent; its lines carry no `agent_id`. */
export const MAIN_AGENT = '';

interface CommonEntry {
  /** UTC epoch milliseconds. */
  readonly time: number;
  readonly agent: string;
  readonly parentCall: string | null;
  /** From here on; null if the line does not say. */
  readonly permissionMode: string | null;
}

interface ToolEntry extends CommonEntry {
  /** Null in the older shape. */
  readonly id: string | null;
  readonly tool: string;
  readonly batch: string | null;
  /** Unknown for a result whose line does not repeat it. */
  readonly input: number;
  readonly polling: boolean;
}

export interface CallEntry extends ToolEntry {
  readonly kind: 'call';
  /** As declared, at most a day; null if nothing usable is declared. */
  readonly timeoutMs: number | null;
  /** A person is asked for it before it runs, as the call says itself. */
  readonly asksFirst: boolean;
}

export interface ResultEntry extends ToolEntry {
  readonly kind: 'result';
  /** When its call began, in the older shape; null if the line does not say. */
  readonly begunAt: number | null;
  /** Rejected, cancelled and blocked calls, and results without a flag, are neutral. */
  readonly outcome: 'ok' | 'failed' | 'neutral';
  readonly output: number;
}

export interface WaitEntry extends CommonEntry {
  readonly kind: 'wait_start' | 'wait_end';
  readonly wait: WaitKind;
  readonly call: string | null;
  readonly until: number | null;
}

export interface PlainEntry extends CommonEntry {
  readonly kind:
    | 'run_start'
    | 'human_prompt'
    | 'machine_prompt'
    /** A message, a compaction, or the agent's own sign of life. */
    | 'agent_activity'
    /** A sign of life from outside a call: it may still wait for a person. */
    | 'tool_activity'
    /** A call's own sign of life. */
    | 'tool_tick'
    | 'turn_end'
    | 'session_end'
    /** The harness wrote a record of its own: no activity, see `modelRetry.ts`. */
    | 'harness_record'
    /** A person is at the program, though none may prompt in this run. */
    | 'attended'
    /** Known, and no activity: the harness or a person wrote it. */
    | 'no_activity';
  /** The call that showed a sign of life; null if the line does not say. */
  readonly call: string | null;
}

export type Entry = CallEntry | ResultEntry | WaitEntry | PlainEntry;

/** The proof that a heartbeat gives, by its source: that the agent itself lives, or its tools, or only the harness. */
const HEARTBEATS: ReadonlyMap<unknown, PlainEntry['kind']> = new Map([
  ['stream', 'agent_activity'],
  ['step', 'agent_activity'],
  ['tool_event', 'agent_activity'],
  ['bash_progress', 'tool_tick'],
  ['mcp_progress', 'tool_tick'],
  ['hook_progress', 'tool_activity'],
  ['agent_progress', 'tool_tick'],
  ['sub_agent', 'tool_tick'],
  ['record', 'harness_record'],
  ['attended', 'attended'],
]);
const NEUTRAL_OUTCOMES: ReadonlySet<unknown> = new Set(['rejected', 'cancelled', 'blocked']);
const LONGEST_TIMEOUT_MS = DAY;

/** @returns null for a line, of either shape, without a usable time, and for unknown events */
export function toEntry(record: JournalRecord, polling?: PollingList): Entry | null {
  const event = eventOf(record);
  if (event === null) return null;
  const time = timeOf(record, event);
  if (time === null) return null;
  switch (event) {
    case 'pre_tool_use':
      return callEntry(record, time, polling);
    case 'post_tool_use':
      return resultEntry(record, time, polling);
    case 'wait_start':
    case 'wait_end':
      return waitEntry(record, time, event);
    default: {
      const kind = plainKind(event, record);
      return kind === null ? null : { kind, ...commonOf(record, time), call: textOf(record.tool_use_id) };
    }
  }
}

/** @returns whether the line shows that the agent or its tools live, as far as the line alone says. (Judgement rules, 6.) */
export function isActivity(line: JournalEvent): boolean {
  if (line.event !== 'heartbeat') return true;
  const kind = HEARTBEATS.get(line.source);
  return kind === 'agent_activity' || kind === 'tool_tick' || kind === 'tool_activity';
}

/** @returns whether a line that the judgement could use has no instant */
export function isUntimed(record: JournalRecord): boolean {
  const event = eventOf(record);
  return event !== null && timeOf(record, event) === null;
}

function plainKind(event: string, record: JournalRecord): PlainEntry['kind'] | null {
  switch (event) {
    case 'assistant_message':
    case 'compaction':
      return 'agent_activity';
    case 'heartbeat':
      return isMirror(record) ? 'tool_activity' : (HEARTBEATS.get(record.source) ?? 'no_activity');
    case 'user_prompt':
      return record.origin === 'machine' ? 'machine_prompt' : 'human_prompt';
    case 'turn_end':
    case 'session_end':
      return event;
    case 'session_start':
      return record.source === 'compact' ? 'agent_activity' : 'run_start';
    default:
      return null;
  }
}

/** The line repeats a sub-agent's words: it acts, but no call of it need be alive for that. (Judgement rules, 9.) */
function isMirror({ source, agent_id, tool_use_id }: JournalRecord): boolean {
  return source === 'agent_progress' && textOf(agent_id) !== null && textOf(tool_use_id) === null;
}

function callEntry(record: JournalRecord, time: number, polling?: PollingList): CallEntry {
  const tool = textOf(record.tool_name) ?? '';
  return {
    kind: 'call',
    ...commonOf(record, time),
    id: textOf(record.tool_use_id),
    tool,
    batch: textOf(record.batch),
    timeoutMs: timeoutOf(record.timeout_ms),
    asksFirst: record.asks_first === true || asksFirst(record.tool_input),
    input: inputOf(record, tool),
    polling: record.polling === true || isPolling(tool, record.tool_input, polling),
  };
}

function resultEntry(record: JournalRecord, time: number, polling?: PollingList): ResultEntry {
  const tool = textOf(record.tool_name) ?? '';
  return {
    kind: 'result',
    ...commonOf(record, time),
    begunAt: instantOf(record.start_time),
    id: textOf(record.tool_use_id),
    tool,
    batch: textOf(record.batch),
    outcome: outcomeOf(record),
    output: outputOf(record),
    input: inputOf(record, tool),
    polling: record.polling === true || isPolling(tool, record.tool_input, polling),
  };
}

function waitEntry(record: JournalRecord, time: number, kind: WaitEntry['kind']): WaitEntry | null {
  const wait = WAIT_KINDS.find((known) => known === record.kind);
  if (wait === undefined) return null;
  return {
    kind,
    ...commonOf(record, time),
    wait,
    call: textOf(record.tool_use_id),
    until: instantOf(record.until),
  };
}

function commonOf(record: JournalRecord, time: number): CommonEntry {
  return {
    time,
    agent: textOf(record.agent_id) ?? MAIN_AGENT,
    parentCall: textOf(record.parent_tool_use_id),
    permissionMode: textOf(record.permission_mode),
  };
}

/** Only the structured flag counts, never a word in the output. */
function outcomeOf(record: JournalRecord): ResultEntry['outcome'] {
  const { outcome, is_error } = record;
  if (NEUTRAL_OUTCOMES.has(outcome)) return 'neutral';
  if (is_error === true || outcome === 'failed') return 'failed';
  return is_error === false || outcome === 'ok' ? 'ok' : 'neutral';
}

function timeoutOf(declared: unknown): number | null {
  if (typeof declared !== 'number' || Number.isNaN(declared) || declared < 0) return null;
  return Math.min(Math.floor(declared), LONGEST_TIMEOUT_MS);
}

/** An absent input equals nothing, not even another absent one. (Judgement rules, 13.) */
function inputOf(record: JournalRecord, tool: string): number {
  const digest = textOf(record.input_digest);
  const before = fingerprint(tool);
  if (digest !== null) return fingerprint(digest, before);
  const input = record.tool_input ?? null;
  return input === null ? UNKNOWN_FINGERPRINT : fingerprintOfJson(input, before);
}

function outputOf(record: JournalRecord): number {
  const flag = record.is_error === true ? 1 : 0;
  const digest = textOf(record.output_digest);
  if (digest !== null) return fingerprint(digest, flag);
  const preview = record.tool_output_preview;
  if (preview === undefined) return UNKNOWN_FINGERPRINT;
  return typeof preview === 'string' ? fingerprint(preview, flag) : fingerprintOfJson(preview, flag);
}
