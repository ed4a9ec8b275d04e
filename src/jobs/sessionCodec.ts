/** An {@link AgentSession} as a flat record: a Redis hash with one field per property, absent if null; or one JSON object. */
import { CorruptRecordError } from '../errors.js';
import { type AgentSession, type ChatRequest, SESSION_STATUSES, type Session, type SessionRecord } from './model.js';

type Kind = 'text' | 'number' | 'json';

/** Complete by type: a property that is added to the model does not compile without a kind here. */
const FIELDS: Readonly<Record<keyof SessionRecord, Kind>> = {
  session_id: 'text',
  project_key: 'text',
  chat_id: 'text',
  message_id: 'text',
  thread_id: 'text',
  sender: 'json',
  message_text: 'text',
  handoff: 'json',
  status: 'text',
  attempt: 'number',
  revival_of: 'text',
  revived_by: 'text',
  conversation_key: 'text',
  conversation_id: 'text',
  lane: 'text',
  working_directory: 'text',
  agent: 'text',
  run: 'json',
  stop: 'json',
  released: 'json',
  incident_id: 'text',
  interruptions: 'number',
  not_before: 'number',
  wait: 'json',
  created_at: 'number',
  started_at: 'number',
  ended_at: 'number',
  last_activity: 'number',
  end_reason: 'text',
  answer: 'text',
  delivery: 'text',
  progress_message_id: 'text',
  rev: 'number',
};
const REQUEST_NAMES: ReadonlySet<keyof SessionRecord> = new Set<keyof ChatRequest>([
  'chat_id',
  'message_id',
  'thread_id',
  'sender',
  'message_text',
  'handoff',
  'delivery',
  'progress_message_id',
]);
const NAMES = Object.keys(FIELDS) as readonly (keyof SessionRecord)[];
/** The required fields of those properties that are objects. */
const PARTS: { readonly [Name in keyof SessionRecord]?: readonly string[] } = {
  run: ['run_id', 'owner.host', 'owner.boot_id', 'owner.pid_namespace', 'owner.pid', 'owner.pid_start', 'started_at'],
  stop: ['run_id', 'cause'],
  released: ['run_id', 'by'],
  wait: ['for', 'times'],
  handoff: ['id', 'home'],
};
const NO_REQUEST = nullFor(NAMES.filter((name) => REQUEST_NAMES.has(name)));
const NO_SESSION = nullFor([...NAMES.filter((name) => !REQUEST_NAMES.has(name)), 'request']);
const REQUIRED = [
  'session_id',
  'project_key',
  'chat_id',
  'message_id',
  'status',
  'attempt',
  'lane',
  'created_at',
  'rev',
] as const;

function nullFor(names: readonly string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** @returns the fields that differ from the stored session, and those to delete because they are null now */
export function encodeChanges(previous: AgentSession | null, next: AgentSession) {
  const set: string[] = [];
  const unset: string[] = [];
  for (const name of NAMES) {
    const value = fieldOf(next, name);
    const before = previous === null ? null : fieldOf(previous, name);
    if (value === before) continue;
    if (value === null) unset.push(name);
    else set.push(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return { set, unset };
}

/** @returns null if there is none @throws CorruptRecordError with the session's id and the field's name */
export function decodeSession(fields: Readonly<Record<string, string>>): AgentSession | null {
  if (Object.keys(fields).length === 0) return null;
  // All properties exist from the start: V8 is slow with an object that grows to this size, and with each copy of it.
  const session: Record<string, unknown> = { ...NO_SESSION };
  const request: Record<string, unknown> = { ...NO_REQUEST };
  session.request = request;
  for (const name of NAMES) {
    const part = REQUEST_NAMES.has(name) ? request : session;
    part[name] = decodeField(name, fields[name], fields.session_id);
  }
  for (const name of REQUIRED) {
    if ((session[name] ?? request[name] ?? null) === null) throw corrupt(fields.session_id, name, 'is missing');
  }
  if (!SESSION_STATUSES.some((status) => status === session.status)) {
    throw corrupt(fields.session_id, 'status', `is ${JSON.stringify(session.status)}`);
  }
  return session as unknown as AgentSession;
}

/** @returns the session as it is printed, its fields in the order of their names in Redis */
export function recordOf(session: AgentSession): SessionRecord {
  return Object.fromEntries(NAMES.map((name) => [name, fieldOf(session, name)])) as unknown as SessionRecord;
}

function fieldOf(session: AgentSession, name: keyof SessionRecord): unknown {
  return REQUEST_NAMES.has(name) ? session.request[name as keyof ChatRequest] : session[name as keyof Session];
}

/** Like {@link decodeSession}, but returns the error instead of throwing it. */
export function readSession(fields: Readonly<Record<string, string>>): AgentSession | CorruptRecordError | null {
  try {
    return decodeSession(fields);
  } catch (error) {
    if (error instanceof CorruptRecordError) return error;
    throw error;
  }
}

function decodeField(name: keyof SessionRecord, text: string | undefined, sessionId: string | undefined): unknown {
  if (text === undefined) return null;
  const kind = FIELDS[name];
  switch (kind) {
    case 'text':
      return text;
    case 'number': {
      const value = Number(text);
      if (!Number.isFinite(value) || text === '') throw corrupt(sessionId, name, 'is not a number');
      return value;
    }
    case 'json':
      return decodeObject(name, text, sessionId);
    default:
      return kind satisfies never;
  }
}

function decodeObject(name: keyof SessionRecord, text: string, sessionId: string | undefined): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw corrupt(sessionId, name, 'is not JSON');
  }
  for (const path of PARTS[name] ?? []) {
    const part = path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | null)?.[key], value);
    if (typeof part !== 'string' && typeof part !== 'number') throw corrupt(sessionId, name, `holds no ${path}`);
  }
  return value;
}

function corrupt(sessionId: string | undefined, field: string, how: string): CorruptRecordError {
  return new CorruptRecordError(
    `session ${sessionId ?? '(without an id)'}: the field "${field}" ${how}; the record is set aside and not judged`,
  );
}
