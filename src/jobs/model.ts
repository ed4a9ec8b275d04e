/**
 * The vocabulary, before anything that uses it.
 *
 * - **project**: a key, a working directory, the chats that feed it, a GitHub repository for its issues, an agent.
 * - **message**: one request, identified by (project, chat, message id); the id alone is not unique.
 * - **session**: the work for one message, an {@link AgentSession} record in Redis.
 * - **lane**: a working directory (host + real path); first in, first out, one run at a time.
 * - **run**: one agent process tree that executes a session.
 * - **conversation**: the agent provider's thread of messages. `conversation_key` is our name for it, `conversation_id` the
 *   provider's.
 * - **journal**: `logs/sessions/{session_id}/tool_use.jsonl`, written from the agent's own event stream.
 * - **timeline**: the fold of a journal: clocks, open waits, batches, repeats.
 * - **wait**: a reason why silence is expected; it has an owner and an expiry.
 * - **finding**: one detector's verdict on one session, with its evidence.
 * - **incident**: the durable record of one unhealthy session being handled, step by step.
 * - **revival**: the one permitted re-enqueue of a message.
 *
 * Records that leave the process (Redis, JSON lines, `--json`) are written in snake_case; all times are UTC epoch milliseconds
 * unless a name says otherwise. Sessions and what belongs to them are in this file; `findings.ts` has what they are judged by,
 * `incidents.ts` what follows from that.
 */
import type { ProcessIdentity } from '../host/identity.js';

/** `pending → active → completed | failed | cancelled`; `active → pending` only for an orderly interruption. */
export const SESSION_STATUSES = ['pending', 'active', 'completed', 'failed', 'cancelled'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** The process that runs the session, and the known facts about the run's end. */
export interface Run {
  readonly run_id: string;
  /** The bridge process that owns the run. */
  readonly owner: ProcessIdentity;
  readonly pid: number | null;
  /** When that process started, as in {@link ProcessIdentity}; missing in records of earlier versions. */
  readonly pid_start?: string;
  readonly started_at: number;
  /** The logs folder that holds its journal; missing in records of earlier versions. */
  readonly logs_id?: string;
  /** The version of the agent's program, as it states it; missing if it does not, and in records of earlier versions. */
  readonly agent_version?: string;
  /** The disk refused lines of its journal, so the journal is too incomplete to judge by. */
  readonly journal_torn?: true;
}

/** Why it is certain that no process of a run is left. */
export interface DeathProof {
  readonly run_id: string;
  readonly proven_at: number;
  /** `scan`: an empty scan in the run's own pid namespace and boot. `no_process`: its agent starts no process. */
  readonly by: 'scan' | 'no_process' | 'other_boot' | 'other_container' | 'lease_over';
}

/** A lane whose last run could not be proven dead: two agents in one directory are worse than a message that waits. */
export interface BlockedLane {
  readonly lane: string;
  /** The run that the lane's holder key names. */
  readonly run_id: string;
  /** Null if there is no record: then only its marks can be looked for. */
  readonly run: Run | null;
  readonly session_id: string | null;
  readonly project_key: string | null;
  readonly since: number;
  /** Whether a critical event reports it. */
  readonly is_told: boolean;
}

/** Asks the bridge that owns a run to end it. */
export interface StopRequest {
  readonly run_id: string;
  readonly cause: 'incident' | 'cancel';
  readonly incident_id: string | null;
  readonly requested_at: number;
  /** The person reads of it elsewhere; missing if not. */
  readonly quiet?: boolean;
}

export interface Sender {
  readonly id: string;
  readonly name: string;
}

export interface HandedOver {
  readonly id: string;
  /** The home of the memory that has it, an absolute path on the host of its run. */
  readonly home: string;
}

export interface ChatRequest {
  /** Telegram's chat id in decimal, or `terminal`. */
  readonly chat_id: string;
  readonly message_id: string;
  /** Telegram's topic; null in a chat without topics. */
  readonly thread_id: string | null;
  readonly sender: Sender;
  readonly message_text: string;
  /** The handoff whose work its agent takes over. Null for none; missing in records of earlier versions. */
  readonly handoff?: HandedOver | null;
  readonly delivery: DeliveryState | null;
  /** The chat's message that is edited while the agent works. */
  readonly progress_message_id: string | null;
}

/** A failure that passes by itself, so that the message waits instead of spending an attempt. */
export interface PassingWait {
  /** `provider`: it is busy, or cannot be reached. `host`: it has no process, file or memory left to begin with. */
  readonly for: 'provider' | 'host';
  /** How often in a row. */
  readonly times: number;
}

/** The properties of every session, whatever started it. */
export interface Session {
  readonly session_id: string;
  readonly project_key: string;
  readonly status: SessionStatus;
  /** 2 is the revival. */
  readonly attempt: 1 | 2;
  readonly revival_of: string | null;
  readonly revived_by: string | null;
  /** The conversation that the message belongs to; chosen when it is accepted. */
  readonly conversation_key: string;
  /** The provider's conversation id, once the agent has reported it. */
  readonly conversation_id: string | null;
  readonly lane: string;
  readonly working_directory: string;
  /** The kind of agent, as in the project's configuration. */
  readonly agent: string;
  readonly run: Run | null;
  readonly stop: StopRequest | null;
  readonly released: DeathProof | null;
  readonly incident_id: string | null;
  /** How often its message was interrupted, in both attempts. None of these is an attempt; see {@link MOST_INTERRUPTIONS}. */
  readonly interruptions: number;
  /** A pending session is not run again before this instant, epoch ms: the reason of its wait lasts until then. */
  readonly not_before: number | null;
  /** Its last wait that spent no attempt; null if it never waited so. Missing in records of earlier versions. */
  readonly wait: PassingWait | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly last_activity: number | null;
  readonly end_reason: string | null;
  readonly answer: string | null;
  /** Compare-and-set counter: every change adds one. */
  readonly rev: number;
}

/** The work for one message of a chat. Its record is flat, in Redis and in JSON: see {@link SessionRecord}. */
export interface AgentSession extends Session {
  readonly request: ChatRequest;
}

/** A session as it is stored and printed. */
export type SessionRecord = Session & ChatRequest;

/** How often interruptions may put the sessions of one message back at their lane's head. */
export const MOST_INTERRUPTIONS = 3;

export const DELIVERY_STATES = ['queued', 'sending', 'sent', 'unknown', 'given_up'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export function isDelivered(state: DeliveryState): boolean {
  return state !== 'queued' && state !== 'sending';
}

/** The final message of a session on its way to the chat. One per session. */
export interface OutboxEntry {
  readonly session_id: string;
  readonly kind: 'answer' | 'failure' | 'cancelled';
  readonly chat_id: string;
  readonly thread_id: string | null;
  readonly reply_to: string | null;
  /** The progress message that still needs its last line; null if there is none, or it has its line. */
  readonly progress_message_id: string | null;
  /** The progress message, once its last line is in it; missing before, and in entries of earlier versions. */
  readonly closed_message_id?: string;
  readonly text: string;
  /** Only the progress message says it: the person has read of it elsewhere. Missing if not. */
  readonly quiet?: boolean;
  readonly state: DeliveryState;
  /** How many parts of the text are known to be in the chat. */
  readonly parts_done: number;
  /**
   * The message into which a part is now written by an edit, because its send had an unknown outcome; null while there is none.
   */
  readonly edit_into: string | null;
  readonly tries: number;
  /** No send before this instant (back-off, `retry_after`). */
  readonly due_at: number;
  /** How far ahead `due_at` was when it was stored, in milliseconds; missing in entries of earlier versions. */
  readonly waits_ms?: number;
  /** When the claim of a send, or of the progress message's last line, expires; null while no process has it. */
  readonly claimed_until: number | null;
  /** The process that claimed last; missing in entries of earlier versions. */
  readonly claimed_by?: ProcessIdentity;
  readonly last_error: string | null;
  readonly created_at: number;
  readonly rev: number;
}
