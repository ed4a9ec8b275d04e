/** Transcripts with known failures, in the records of Claude Code and of Codex. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isoTime, MINUTE } from '../../../src/time.js';

export type Ending =
  | { readonly how: 'ok'; readonly output?: string }
  | { readonly how: 'exit'; readonly code: number; readonly output: string }
  /** The program itself says that the call failed. */
  | { readonly how: 'error'; readonly output: string }
  | { readonly how: 'denied'; readonly said?: string }
  | { readonly how: 'interrupted' }
  /** Because another call of its message failed. */
  | { readonly how: 'cancelled' }
  | { readonly how: 'blocked'; readonly output: string };

export interface Deed {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly ending: Ending;
}

export interface MadeSession {
  readonly provider: 'claude' | 'codex';
  readonly conversation: string;
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly deeds: readonly Deed[];
}

const REJECTED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).";

export function run(command: string, ending: Ending = { how: 'ok' }): Deed {
  return { tool: 'Bash', input: { command }, ending };
}

export function fails(command: string, output: string, code = 1): Deed {
  return run(command, { how: 'exit', code, output });
}

export function writeSession(path: string, session: MadeSession): void {
  mkdirSync(dirname(path), { recursive: true });
  const records = session.provider === 'claude' ? claudeRecords(session) : codexRecords(session);
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
}

function claudeRecords({ conversation, at, deeds }: MadeSession): object[] {
  const records: object[] = [];
  const add = (type: string, fields: object) => {
    const uuid = `00000000-0000-4000-8000-${String(records.length).padStart(12, '0')}`;
    const timestamp = isoTime(at + records.length * 1_000);
    const rest = { isSidechain: false, sessionId: conversation, version: '2.1.330', cwd: '/home/me/popoto' };
    records.push({ parentUuid: null, type, uuid, timestamp, ...rest, ...fields });
  };
  add('user', { message: { role: 'user', content: 'Mend it.' }, origin: { kind: 'human' } });
  for (const [index, { tool, input, ending }] of deeds.entries()) {
    const id = `toolu_${index}`;
    const content = [{ type: 'tool_use', id, name: tool, input }];
    const usage = { input_tokens: 1, output_tokens: 1 };
    add('assistant', { message: { id: `msg_${index}`, role: 'assistant', content, stop_reason: 'tool_use', usage } });
    const { text, ...more } = claudeEnding(ending);
    const result = {
      type: 'tool_result',
      tool_use_id: id,
      content: text,
      ...(ending.how !== 'ok' && { is_error: true }),
    };
    add('user', { message: { role: 'user', content: [result] }, ...more });
  }
  const done = [{ type: 'text', text: 'Done.' }];
  add('assistant', { message: { id: 'msg_end', role: 'assistant', content: done, stop_reason: 'end_turn' } });
  return records;
}

function claudeEnding(ending: Ending): { readonly text: string; readonly [field: string]: unknown } {
  switch (ending.how) {
    case 'ok':
      return { text: ending.output ?? 'done', toolUseResult: { stdout: ending.output ?? 'done', interrupted: false } };
    case 'exit': {
      const text = `Exit code ${ending.code}\n${ending.output}`;
      return { text, toolUseResult: `Error: ${text}` };
    }
    case 'error':
      return { text: `<tool_use_error>${ending.output}</tool_use_error>`, toolUseResult: `Error: ${ending.output}` };
    case 'denied': {
      const said = ending.said === undefined ? '' : ` To tell you how to proceed, the user said:\n${ending.said}`;
      const more = { toolUseResult: 'User rejected tool use', toolDenialKind: 'user-rejected' };
      return { text: `${REJECTED}${said}`, ...more, ...(ending.said !== undefined && { userFeedback: ending.said }) };
    }
    case 'interrupted':
      return { text: REJECTED, toolUseResult: 'User rejected tool use', toolDenialKind: 'interrupted' };
    case 'cancelled':
      return {
        text: '<tool_use_error>Cancelled: parallel tool call errored</tool_use_error>',
        toolDenialKind: 'cancelled',
      };
    case 'blocked': {
      const permissionDecision = { decision: 'reject', source: 'hook' };
      return { text: ending.output, toolDenialKind: 'permission-rule', permissionDecision };
    }
    default:
      return ending satisfies never;
  }
}

function codexRecords({ conversation, at, deeds }: MadeSession): object[] {
  const records: object[] = [];
  const add = (type: string, payload: object) => {
    records.push({ timestamp: isoTime(at + records.length * 1_000), ordinal: records.length, type, payload });
  };
  const turn_id = 'turn_1';
  add('session_meta', {
    id: conversation,
    session_id: conversation,
    timestamp: isoTime(at),
    cwd: '/home/me/popoto',
    originator: 'codex-tui',
    cli_version: '0.169.0',
  });
  add('event_msg', { type: 'task_started', turn_id });
  add('event_msg', { type: 'user_message', message: 'Mend it.' });
  for (const [index, { tool, input, ending }] of deeds.entries()) {
    const call_id = `call_${index}`;
    add('response_item', codexCall(tool, input, call_id));
    add('response_item', {
      type: tool === 'apply_patch' ? 'custom_tool_call_output' : 'function_call_output',
      call_id,
      output: codexEnding(ending),
    });
  }
  add('event_msg', { type: 'task_complete', turn_id, last_agent_message: 'Done.' });
  return records;
}

function codexCall(tool: string, input: Deed['input'], call_id: string): object {
  if (tool === 'apply_patch') return { type: 'custom_tool_call', call_id, name: tool, input: String(input.patch) };
  const given = tool === 'Bash' ? { cmd: input.command } : input;
  return {
    type: 'function_call',
    call_id,
    name: tool === 'Bash' ? 'exec_command' : tool,
    arguments: JSON.stringify(given),
  };
}

function codexEnding(ending: Ending): string {
  const framed = (code: number, output: string) =>
    `Chunk ID: 5f0c1c\nWall time: 0.8000 seconds\nProcess exited with code ${code}\nOriginal token count: 9\nOutput:\n${output}`;
  switch (ending.how) {
    case 'ok':
      return framed(0, ending.output ?? 'done');
    case 'exit':
      return framed(ending.code, ending.output);
    case 'error':
    case 'blocked':
      return ending.output;
    case 'denied':
      return 'exec command rejected by user';
    case 'interrupted':
    case 'cancelled':
      return 'Wall time: 3.3 seconds\naborted by user';
    default:
      return ending satisfies never;
  }
}

/** @returns instants of the same hour of successive days */
export function day(number: number): number {
  return Date.UTC(2026, 0, number, 9) + number * MINUTE;
}
