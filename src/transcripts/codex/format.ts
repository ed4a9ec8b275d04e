/**
 * Rollouts of Codex (`sessions/…/rollout-….jsonl`). Since the autumn of 2025 each record is an envelope with a time; before, it
 * was a bare item of the conversation, and only the first one had a time. Seen: 0.169.0 in use; the other shapes in published
 * recordings.
 */
import { instantOf } from '../../journal/normalise.js';
import type { JournalRecord } from '../../journal/record.js';
import { type Draft, type Format, type Hints, type Say, sayerAt } from '../draft/draft.js';
import { type Fields, fieldsAt, numberAt, textAt } from '../draft/fields.js';
import { eventDrafts } from './events.js';
import { itemDrafts } from './items.js';
import { usageOf } from './observed.js';
import { CodexWeaver } from './weaver.js';

/** The names of Codex when a person uses it interactively, newest first. */
const AT_TERMINALS = ['codex-tui', 'codex_cli_rs', 'codex_vscode'];

export const codexFormat: Format = {
  name: 'codex',
  sessionId: (record) => textAt(record.type === 'session_meta' ? fieldsAt(record, 'payload') : headOf(record), 'id'),
  directory: (record) => textAt(record.type === 'session_meta' ? fieldsAt(record, 'payload') : {}, 'cwd'),
  drafts(record, trimmer) {
    const time = instantOf(record.timestamp) ?? Number.NaN;
    return recordDrafts(record, sayerAt(time, numberAt(record, 'ordinal') ?? 0, trimmer));
  },
  agentOf: () => null,
  newWeaver: () => new CodexWeaver(),
};

function recordDrafts(record: JournalRecord, say: Say): Draft[] {
  const payload = fieldsAt(record, 'payload');
  switch (record.type) {
    case 'session_meta':
      return [say({ event: 'heartbeat', source: isAttended(payload) ? 'attended' : 'record' }, whoSpeaks(payload))];
    case 'response_item':
      return itemDrafts(payload, say, { isEnveloped: true });
    case 'event_msg':
      return eventDrafts(payload, say);
    case 'turn_context': {
      const policy = textAt(payload, 'approval_policy');
      const mode = policy === null ? {} : { permission_mode: policy };
      return [say({ event: 'heartbeat', source: 'record', ...mode })];
    }
    case 'compacted':
      return [say({ event: 'compaction' })];
    case 'token_usage_record': {
      const response = textAt(payload, 'response_id');
      const usage = response === null ? null : usageOf(fieldsAt(payload, 'usage'), response);
      const counted = say({ event: 'heartbeat', source: 'record' }, { responseEnds: true });
      return usage === null ? [counted] : [counted, say(usage)];
    }
    default:
      return record.type === undefined || record.payload !== undefined
        ? [say({ event: 'heartbeat', source: 'record' })]
        : itemDrafts(record, say, { isEnveloped: false });
  }
}

function headOf(record: JournalRecord): Fields {
  return record.type === undefined && 'instructions' in record ? record : {};
}

/** `codex exec` and programs use it, not a person. */
function whoSpeaks({ source }: Fields): Hints {
  return source === 'exec' || source === 'mcp' || (typeof source === 'object' && source !== null)
    ? { unattended: true }
    : {};
}

/** A sub-agent gets messages only from its parent, but its questions are shown to the person at the parent's terminal. */
function isAttended(payload: Fields): boolean {
  const { subagent } = fieldsAt(payload, 'source');
  return subagent !== undefined && AT_TERMINALS.includes(textAt(payload, 'originator') ?? '');
}
