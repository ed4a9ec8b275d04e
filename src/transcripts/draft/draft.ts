/**
 * What one record of another program's transcript says, as far as it alone can say it. Each format turns records into
 * drafts, without memory; its weaver, which sees the drafts in time order, adds what only their neighbours tell: names of
 * tools, batches, ends of turns, who started which sub-agent.
 */
import type { JournalRecord } from '../../journal/record.js';
import type { JournalEvent } from '../../journal/schema.js';
import type { Redact } from '../../journal/trim.js';

/** What of a record is no event by itself, for the weaver of its format. */
export interface Hints {
  /** Of an assistant's message: whether its turn is over with it. `perhaps`: the program does not say. */
  readonly turn?: 'ends' | 'goes_on' | 'perhaps';
  /** Of a prompt: it joined the turn that was open. */
  readonly joinsTurn?: boolean;
  /** The record's place in the conversation; only of records whose weaver needs it. */
  readonly uuid?: string;
  readonly parentUuid?: string;
  /** A sub-agent's record, whether or not it names the agent. */
  readonly sidechain?: boolean;
  /** Digest of what a sub-agent was asked: of the call that starts one, and of its first prompt. */
  readonly asked?: string;
  /** Of a result: the sub-agent that its call started, and whether that one goes on in the background. */
  readonly subAgent?: string;
  readonly inBackground?: boolean;
  /** This sub-agent has ended. */
  readonly endedAgent?: string;
  /** A command that a person typed; it is a prompt only where its expansion follows. */
  readonly command?: boolean;
  /** What a typed command was expanded to, for the model. */
  readonly expansion?: boolean;
  /** Of a call: a person is asked. */
  readonly asksPerson?: boolean;
  /** The program counted tokens: a model's response is complete. */
  readonly responseEnds?: boolean;
  /** How a call went, told apart from its result. */
  readonly verdict?: CallVerdict;
  /** No person speaks in this session. */
  readonly unattended?: boolean;
  /** The program's own name of the turn that begins. */
  readonly beginsTurn?: string;
}

export interface CallVerdict {
  readonly tool_use_id: string;
  readonly outcome: 'failed' | 'rejected';
}

export interface Draft {
  /** UTC epoch milliseconds. */
  readonly time: number;
  /** The record's number in its file, where it has one: it orders records of one instant. */
  readonly ordinal: number;
  /** Trimmed as for a journal. */
  readonly event: JournalEvent;
  readonly hints: Hints;
}

/** A journal's line before it has a session. */
export interface DatedEvent {
  readonly time: number;
  readonly event: JournalEvent;
}

export interface Weaver {
  /** @param draft not earlier than the one before */
  weave(draft: Draft): DatedEvent[];
  /** @returns what only the end of the transcript tells */
  finish(): DatedEvent[];
}

export interface WeaverOptions {
  /** A sub-agent's transcript that is judged by itself: this agent is the main one. */
  readonly mainAgent: string | null;
  /** The calls that started sub-agents, by agent, where something beside the transcript tells. */
  readonly parents: ReadonlyMap<string, string>;
}

export type TranscriptFormat = 'claude' | 'codex';

/** Everything that is known of one program's transcripts. */
export interface Format {
  readonly name: TranscriptFormat;
  /** @returns drafts in the order in which they happened; none for records that mean nothing here */
  drafts(record: JournalRecord, redact: Redact): Draft[];
  /** The program's name of the session, where the record tells it. */
  sessionId(record: JournalRecord): string | null;
  /** @returns the one sub-agent whose records these are; null for those of a session */
  agentOf(records: readonly JournalRecord[]): string | null;
  newWeaver(options: WeaverOptions): Weaver;
}
