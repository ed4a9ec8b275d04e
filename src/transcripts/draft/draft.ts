/**
 * A draft is the meaning of one record of another program's transcript by itself. Each format turns records into drafts, without
 * memory. Its weaver sees the drafts in time order and adds what only their neighbours show: tool names, batches, ends of turns,
 * and which call started which sub-agent.
 */
import type { JournalRecord } from '../../journal/record.js';
import type { JournalEvent, ObservedEvent } from '../../journal/schema.js';
import type { Asked, Done, Usage } from './deeds.js';
import type { Trimmer } from './trimmer.js';

/** The parts of a record that are no event by themselves, for its format's weaver. */
export interface Hints {
  /** For an assistant's message: whether its turn ends with it. `perhaps`: the program does not say. */
  readonly turn?: 'ends' | 'goes_on' | 'perhaps';
  /** For a prompt: it joined the open turn. */
  readonly joinsTurn?: boolean;
  /** The record's place in the conversation; only if its weaver needs it. */
  readonly uuid?: string;
  readonly parentUuid?: string;
  /** A sub-agent's record, whether or not it names the agent. */
  readonly sidechain?: boolean;
  /** Digest of a sub-agent's prompt: on the call that starts it, and on its first prompt. */
  readonly asked?: string;
  /** For a result: the sub-agent that its call started, and whether it continues in the background. */
  readonly subAgent?: string;
  readonly inBackground?: boolean;
  /** These sub-agents have ended; the program says so twice about some. */
  readonly endedAgents?: readonly string[];
  /** For the end of a turn: how many sub-agents work on in the background, zero if the program does not say. */
  readonly pendingAgents?: number;
  /** No sub-agent works on in the background. */
  readonly endsBackground?: boolean;
  /** A command that a person typed; it is a prompt only if its expansion follows. */
  readonly command?: boolean;
  /** The output of a typed command for the person. */
  readonly prints?: boolean;
  /** A text of the harness for the model; it may be what a typed command was expanded to. */
  readonly expansion?: boolean;
  /** The program fires a task; the text of it follows. */
  readonly fires?: boolean;
  /** The harness is done with the end of a turn, unless it has sent the agent on. */
  readonly stopsTurn?: boolean;
  /** For a call: it asks a person. */
  readonly asksPerson?: boolean;
  /** The program counted tokens: a model's response is complete. */
  readonly responseEnds?: boolean;
  /** For counted tokens: the program repeats the count. */
  readonly isRepeated?: boolean;
  /** For a call: its effect if it succeeds. */
  readonly ifOk?: ObservedEvent;
  /** A call's outcome, recorded separately from its result. */
  readonly verdict?: CallVerdict;
  /** No person takes part in this session. */
  readonly unattended?: boolean;
  /** The program's own name of the turn that begins. */
  readonly beginsTurn?: string;
  /** For a call: its subject. For a result: the work done. */
  readonly deed?: Asked;
  readonly done?: Done;
  /** The tokens of the message that the record is part of. */
  readonly usage?: Usage;
}

export interface CallVerdict {
  readonly tool_use_id: string;
  readonly outcome: 'failed' | 'rejected';
}

export interface Draft {
  /** UTC epoch milliseconds. */
  readonly time: number;
  /** The record's number in its file, if it has one: it orders records of one instant. */
  readonly ordinal: number;
  /** Trimmed as its reader wants it. */
  readonly event: JournalEvent;
  readonly hints: Hints;
  /** The place of the record, with its first draft; only if its weaver needs it. */
  place?: RecordPlace;
}

/** A record's place in a conversation that may have branches. */
export interface RecordPlace {
  readonly uuid: string;
  readonly parentUuid: string | null;
  /** The id of the agent's message that it is part of; null if it is of none. */
  readonly message: string | null;
}

/** Makes the drafts of one record. */
export type Say = (event: JournalEvent, hints?: Hints) => Draft;

/** @returns the function that makes the drafts of a record of this time, at this place among records of the same time */
export function sayerAt(time: number, ordinal: number, trimmer: Trimmer): Say {
  return (event, hints = {}) => ({ time, ordinal, event: trimmer.event(event), hints });
}

/** A journal's line before it has a session. */
export interface DatedEvent {
  readonly time: number;
  readonly event: JournalEvent;
}

export interface Weaver {
  /** @param draft not earlier than the one before */
  weave(draft: Draft): DatedEvent[];
  /** @returns events that only the end of the transcript shows */
  finish(): DatedEvent[];
  /** @returns one that continues by itself from here */
  copy(): Weaver;
}

export type TranscriptFormat = 'claude' | 'codex';

/** How to read one program's transcripts. */
export interface Format {
  readonly name: TranscriptFormat;
  /** @returns drafts in time order; none for records without a meaning here */
  drafts(record: JournalRecord, trimmer: Trimmer): Draft[];
  /** The program's name of the session, if the record contains it. */
  sessionId(record: JournalRecord): string | null;
  /** The directory where the agent works, if the record contains it. */
  directory(record: JournalRecord): string | null;
  /** @returns the one sub-agent whose records these are; null for those of a session */
  agentOf(records: readonly JournalRecord[]): string | null;
  /**
   * @param mainAgent for a sub-agent's transcript that is judged by itself: this agent is the main one
   * @param parents the calls that started sub-agents, by agent, if a file next to the transcript names them. They may be added
   *   to as long as no draft of the agent was woven
   * @param isStory the drafts come in the order of their file: what a person took back is said
   */
  newWeaver(mainAgent: string | null, parents: ReadonlyMap<string, string>, isStory?: boolean): Weaver;
}
