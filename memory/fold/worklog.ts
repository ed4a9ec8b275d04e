/** The state of a worklog: what was declared about one session. Its lines are applied by the rules in `rules/`. */

import type { ProcessIdentity } from '../../src/host/identity.js';
import type {
  ConversationSource,
  EndReason,
  ErrorType,
  FileStatus,
  Lifecycle,
  Priority,
  Publication,
  SETTINGS,
  StepStatus,
} from '../words.js';

import type { Holder } from './holder.js';
import type { Kept } from './kept.js';
import type { RecentEntry } from './recent.js';

/** Epoch milliseconds, UTC, are named `…_at`; texts are redacted. */
export interface Step {
  readonly id: string;
  /** Its id in the list of tasks that it came from. Null if it has none. */
  readonly external_id: string | null;
  title: string;
  readonly priority?: Priority | undefined;
  readonly blocked_by: readonly string[];
  readonly agents: readonly string[];
  readonly parallel: boolean;
  readonly planned_files: readonly string[];
  status: StepStatus;
  retries: number;
  /** The sub-agent that started it last. Null if that was the main agent, or a person. */
  agent: string | null;
  /** The agent that has it in progress. Null if it is not in progress, or none is known, as for a person. */
  holder: Holder | null;
  /** The id of the line that started it, or took it over last. Null if it is not in progress. */
  held_by: string | null;
  /** The id of the call that started it last: a transcript names the sub-agent of that call. Null if it is unknown. */
  call: string | null;
  started_at: number | null;
  ended_at: number | null;
  reason: string | null;
  /** Completed without proof, by `done --complete`. */
  assumed: boolean;
  output: string | null;
  validation: { readonly passed: boolean; readonly details?: string | undefined } | null;
  context: Readonly<Record<string, readonly string[]>> | null;
  /** Why its files have no context. Null if no reason was given. */
  no_context_reason: string | null;
  /** Reported for it. They are among those of their agents, too. */
  readonly tokens: Tokens;
  readonly files: { readonly created: string[]; readonly modified: string[]; readonly deleted: string[] };
  /** The times when it was in progress, so that observed changes can be attributed to it. */
  readonly spans: { from: number; until: number | null }[];
}

export interface FileEntry {
  status: FileStatus;
  step: string | null;
  at: number;
}

export interface Run {
  readonly process: ProcessIdentity;
  readonly agent: string | null;
  /** The bridge's own name for it. Null if it is none of a bridge. */
  readonly run_id: string | null;
  readonly started_at: number;
  ended_at: number | null;
  reason: string | null;
  /** Missing if hooks alone have reported it. */
  published?: Publication | undefined;
}

export interface Conversation {
  readonly provider: string;
  readonly id: string;
  readonly source: ConversationSource;
  readonly transcript: string | null;
  /** Its program keeps no transcript. */
  readonly unrecorded?: boolean;
  readonly cwd: string | null;
  readonly workspace: string | null;
  /** The start of its share. Null if that is the beginning of the conversation. */
  readonly since: number | null;
  readonly at: number;
  /** The agent that had it last. Null if it is unknown. */
  process: ProcessIdentity | null;
  /** To another session. */
  moved_at: number | null;
}

export interface Note {
  readonly text: string;
  readonly priority: Priority;
  readonly at: number;
}

export interface LogEntry {
  readonly message: string;
  readonly step: string | null;
  readonly at: number;
}

export interface DeclaredError {
  readonly agent: string | null;
  readonly type: ErrorType;
  readonly message: string;
  resolution: string;
  resolved: boolean;
  readonly step: string | null;
  readonly at: number;
}

export interface Tokens {
  input: number;
  output: number;
  cached: number;
}

export interface Checkpoint {
  readonly name: string;
  readonly head: string | null;
  readonly branch: string | null;
  readonly dirty_digest: string | null;
  /** Covers the contents of untracked files. Null if there were none, or an older version made it, which did not read them. */
  readonly untracked_digest: string | null;
  /** Files that were changed or untracked. */
  readonly dirty: number;
  readonly auto: boolean;
  readonly at: number;
}

export interface Child {
  readonly session_id: string;
  readonly step: string | null;
  readonly at: number;
}

export interface Wait {
  readonly kind: string;
  readonly since: number;
  readonly until: number | null;
}

/** A watcher noticed that the work seems to be stuck. It is closed when the work continues. */
export interface Notice {
  readonly id: string;
  readonly rule: string;
  readonly since: number | null;
  readonly sentence: string;
  readonly at: number;
}

/** The fields of `session_started`. `session_changed` may change the purpose, the name and the settings. */
export interface Facts {
  purpose: string;
  name: string | null;
  readonly workspace: string | null;
  /** Its agents are started in it. Null if that is the top of its workspace. */
  readonly cwd: string | null;
  readonly parent: string | null;
  readonly parent_step: string | null;
  readonly continues: string | null;
  readonly agent: string | null;
  readonly explicit: boolean;
  readonly concurrent: boolean;
  readonly baseline: {
    readonly head: string | null;
    readonly branch: string | null;
    readonly dirty_digest: string | null;
  } | null;
  readonly set: Settings;
}

/** Settings that a session is given, at its beginning or later. */
export type Settings = { [setting in (typeof SETTINGS)[number]]?: string | undefined } & {
  documents?: { readonly [name in 'design' | 'plan']?: Document } | undefined;
  language?: { readonly [of in 'communication' | 'documents']?: string } | undefined;
};

/** A document that a session names, and what it held then. */
export interface Document {
  /** Relative to the workspace; absolute if it is outside. */
  readonly path: string;
  /** SHA-256, hexadecimal. */
  readonly digest: string;
}

export interface Worklog {
  session_id: string | null;
  facts: Facts | null;
  lifecycle: Lifecycle;
  end: { readonly reason: EndReason; readonly summary: string | null; readonly at: number } | null;
  archived: { readonly at: number; readonly documents: readonly string[] } | null;
  created_at: number | null;
  last_activity: number | null;
  /** When a conversation was last resumed. */
  resumed_at: number | null;
  acknowledged_at: number | null;
  /** The session whose agent was given its record last, since its last run began. Null if none was. */
  told: { readonly session_id: string; readonly at: number } | null;
  /** The digest of the context that each sub-agent was given last. */
  readonly given: Map<string, string>;
  /** Something shows that its agent was asked something, although its transcript may be gone. */
  wasAsked: boolean;
  /** Silence is excused until then. */
  ping: { readonly until: number; readonly detail: string | null } | null;
  readonly runs: Run[];
  readonly conversations: Conversation[];
  /** The conversation that began or was resumed last. It may have moved to another session. */
  present: Conversation | null;
  readonly steps: Map<string, Step>;
  readonly files: Map<string, FileEntry>;
  readonly notes: Note[];
  readonly log: LogEntry[];
  readonly errors: DeclaredError[];
  readonly tokens: Map<string, Tokens>;
  readonly children: Map<string, Child>;
  readonly checkpoints: Map<string, Checkpoint>;
  /** Open waits by call, or by kind if they name none, as in the journal. */
  readonly waits: Map<string, Wait>;
  /** When a permission was last asked for, if no answer is known: also after the end of the agent, which waits no longer. */
  permission_asked_at: number | null;
  /** The open one: at most one is. */
  readonly notices: Notice[];
  /** The kept copy of its transcripts. Null if nothing was kept yet. */
  kept: Kept | null;
  /** The files that it has touched, as they were when its transcripts were kept: SHA-256, by path. */
  readonly digests: Map<string, string>;
  readonly recent: RecentEntry[];
  /** How many illegal moves were tried. */
  refused: number;
  /** How many entries of each list were left out. */
  readonly more: Record<string, number>;
}
