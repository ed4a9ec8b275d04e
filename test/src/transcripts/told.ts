/** Transcripts for tests: literals of older shapes, recorded files, and what the translation tells of them, in short. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalRecord } from '../../../src/journal/record.js';
import { isoTime, SECOND } from '../../../src/time.js';
import { transcriptAt } from '../../../src/transcripts/companions.js';
import { TranscriptTail } from '../../../src/transcripts/transcriptTail.js';
import { testFolder } from '../../harness/folder.js';

export type Fields = Readonly<Record<string, unknown>>;

export const RECORDED = join(import.meta.dirname, '../../fixtures/transcripts');
export const START = Date.parse('2026-02-05T09:00:00.000Z');
/** Signs of life that come with everything. */
const BESIDE: readonly unknown[] = ['record', 'context', 'queue', 'stream', 'tool_event'];
/** What no rule reads. */
const OBSERVED: readonly unknown[] = ['plan', 'files', 'usage', 'order'];

/** @returns the instant so many seconds after {@link START} */
export function at(seconds: number): string {
  return isoTime(START + seconds * SECOND);
}

/** @returns the path of a new file with these records, one per line */
export function transcript(records: readonly Fields[], name = 'anything.txt.jsonl'): string {
  const path = join(testFolder(), name);
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return path;
}

export async function linesOf(path: string): Promise<JournalRecord[]> {
  const tail = new TranscriptTail(transcriptAt(path));
  const lines: JournalRecord[] = [];
  for (let more = true; more; ) {
    const batch = tail.readBatch();
    lines.push(...batch.records);
    more = batch.more;
  }
  return lines;
}

/** @returns each line that is judged as `agent: event words`, without heartbeats that come with everything */
export async function told(path: string): Promise<string[]> {
  const lines = await linesOf(path);
  return lines.filter(({ event, source }) => !BESIDE.includes(source) && !OBSERVED.includes(event)).map(inShort);
}

function inShort(line: JournalRecord): string {
  const { event, agent_id, parent_tool_use_id: parent } = line;
  const agent = agent_id === undefined ? '' : `${agent_id}${parent === undefined ? '' : ` of ${parent}`}: `;
  const ids = [line.tool_use_id, line.tool_name, line.outcome, line.timeout_ms, line.batch];
  const words = [line.source, line.origin, line.reason, line.kind, line.until, ...ids];
  return `${agent}${[event, ...words.filter((word) => word !== undefined)].join(' ')}`;
}

/** Of a transcript of Claude Code. */
export function claude(seconds: number, type: string, rest: Fields = {}): Fields {
  const uuid = `u${seconds}`;
  return { parentUuid: null, isSidechain: false, type, uuid, timestamp: at(seconds), sessionId: 'c1', ...rest };
}

export function says(seconds: number, text: string, stop: string | null = null, rest: Fields = {}): Fields {
  const message = { id: `msg${seconds}`, role: 'assistant', content: [{ type: 'text', text }], stop_reason: stop };
  return claude(seconds, 'assistant', { message, ...rest });
}

export function calls(seconds: number, id: string, tool = 'Bash', input: Fields = { command: id }, rest: Fields = {}) {
  const content = [{ type: 'tool_use', id, name: tool, input }];
  return claude(seconds, 'assistant', {
    message: { id: 'msg', role: 'assistant', content, stop_reason: null },
    ...rest,
  });
}

export function returns(seconds: number, id: string, text = 'done', isError = false, rest: Fields = {}): Fields {
  const content = [{ type: 'tool_result', tool_use_id: id, content: text, ...(isError && { is_error: true }) }];
  return claude(seconds, 'user', { message: { role: 'user', content }, ...rest });
}

export function asks(seconds: number, text: string, rest: Fields = {}): Fields {
  return claude(seconds, 'user', { message: { role: 'user', content: text }, ...rest });
}

/** Of a rollout of Codex. */
export function codex(seconds: number, type: string, payload: Fields): Fields {
  return { timestamp: at(seconds), type, payload };
}
