/** Recognises the program that wrote a file by its records; its name is not used. */
import { eventOf } from '../journal/normalise.js';
import type { JournalRecord } from '../journal/record.js';
import { claudeFormat } from './claude/format.js';
import { codexFormat } from './codex/format.js';
import type { Format } from './draft/draft.js';
import { asFields } from './draft/fields.js';

/** Items of Codex' conversations, as they were before there were envelopes. */
const BARE_ITEMS: readonly unknown[] = [
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
];

/** @returns `journal` for a line of a journal of either shape; null for an unknown record */
export function formatOf(record: JournalRecord): Format | 'journal' | null {
  if (eventOf(record) !== null) return 'journal';
  if (isOfClaude(record)) return claudeFormat;
  return isOfCodex(record) ? codexFormat : null;
}

function isOfClaude(record: JournalRecord): boolean {
  if (typeof record.type !== 'string') return false;
  if (typeof record.sessionId === 'string' || typeof record.leafUuid === 'string') return true;
  if (record.type === 'file-history-snapshot') return true;
  const isSpoken = record.type === 'user' || record.type === 'assistant';
  return isSpoken && typeof record.uuid === 'string' && asFields(record.message) !== null;
}

function isOfCodex(record: JournalRecord): boolean {
  if (record.record_type === 'state') return true;
  if (record.type === undefined) {
    return 'instructions' in record && typeof record.id === 'string' && typeof record.timestamp === 'string';
  }
  if (typeof record.type === 'string' && asFields(record.payload) !== null) return typeof record.timestamp === 'string';
  return BARE_ITEMS.includes(record.type) && record.message === undefined;
}
