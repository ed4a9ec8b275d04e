import { revivalSessionId } from '../ids.js';
import type { AgentSession, ChatRequest, OutboxEntry, SessionRecord } from './model.js';

/** The fields that intake sets; all others have their initial values. */
export type SessionDraft = Pick<
  SessionRecord,
  | 'session_id'
  | 'project_key'
  | 'chat_id'
  | 'message_id'
  | 'thread_id'
  | 'sender'
  | 'message_text'
  | 'conversation_key'
  | 'lane'
  | 'working_directory'
  | 'agent'
> &
  Pick<ChatRequest, 'handoff'>;

/** The fields that no run has changed yet. */
const UNTOUCHED = {
  status: 'pending',
  revived_by: null,
  run: null,
  stop: null,
  released: null,
  incident_id: null,
  interruptions: 0,
  not_before: null,
  wait: null,
  started_at: null,
  ended_at: null,
  last_activity: null,
  end_reason: null,
  answer: null,
  rev: 1,
} as const;

const MOST_CHANGES_PER_MS = 1_000;

/** @returns a pending session, accepted at `now` (epoch ms) */
export function newSession(draft: SessionDraft, now: number): AgentSession {
  const { chat_id, message_id, thread_id, sender, message_text, handoff = null, ...session } = draft;
  // The spreads are last: V8 takes fifty times as long for an object of this size that begins with them.
  return {
    request: {
      chat_id,
      message_id,
      thread_id,
      sender,
      message_text,
      handoff,
      delivery: null,
      progress_message_id: null,
    },
    attempt: 1,
    revival_of: null,
    conversation_id: null,
    created_at: now,
    ...session,
    ...UNTOUCHED,
  };
}

export function newOutboxEntry(
  session: AgentSession,
  kind: OutboxEntry['kind'],
  text: string,
  now: number,
): OutboxEntry {
  return {
    session_id: session.session_id,
    kind,
    chat_id: session.request.chat_id,
    thread_id: session.request.thread_id,
    reply_to: session.request.message_id,
    progress_message_id: session.request.progress_message_id,
    text,
    state: 'queued',
    parts_done: 0,
    edit_into: null,
    tries: 0,
    due_at: now,
    // Due at once: a clock that is set back afterwards delays nothing.
    waits_ms: 0,
    claimed_until: null,
    last_error: null,
    created_at: now,
    // A sender that still holds an entry that Redis has forgotten must not save it over one that was stored again.
    rev: now * MOST_CHANGES_PER_MS,
  };
}

/** A new run starts with fresh evidence: only the person's request and its place are carried over. */
export function revivalOf(session: AgentSession, now: number): AgentSession {
  return {
    ...session,
    ...UNTOUCHED,
    // Counted over both attempts, so that no message is run again and again.
    interruptions: session.interruptions,
    session_id: revivalSessionId(session.session_id),
    attempt: 2,
    revival_of: session.session_id,
    created_at: now,
    request: { ...session.request, delivery: null },
  };
}
