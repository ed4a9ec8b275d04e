/** The state of a worklog: what was declared about one session. Its lines are applied by the rules in `rules/`. */

import type { ProcessIdentity } from '../../src/host/identity.js';
import type {
  ConversationSource,
  EndReason,
  ErrorType,
  FileStatus,
  Lifecycle,
  Priority,
  SETTINGS,
  StepStatus,
} from '../words.js';

import type { Kept } from './kept.js';
import type { RecentEntry } from './recent.js';

/** Epoch milliseconds, UTC, are named `…_at`; texts are redacted. */
export interface Step {
  readonly id: string;
  /** In the list of tasks from which it came; null: there is none. */
  readonly external_id: string | null;
  title: string;
  readonly priority?: Priority | undefined;
  readonly blocked_by: readonly string[];
  readonly agents: readonly string[];
  readonly parallel: boolean;
  readonly planned_files: readonly string[];
  status: StepStatus;
  retries: number;
  /** Who has it in progress; null: the main agent, or a person. */
  agent: string | null;
  started_at: number | null;
  ended_at: number | null;
  reason: string | null;
  /** Completed without proof, by `done --complete`. */
  assumed: boolean;
  output: string | null;
  validation: { readonly passed: boolean; readonly details?: string | undefined } | null;
  context: Readonly<Record<string, readonly string[]>> | null;
  readonly files: { readonly created: string[]; readonly modified: string[]; readonly deleted: string[] };
  /** When it was in progress, for the attribution of what was observed. */
  readonly spans: { from: number; until: number | null }[];
}

type Planned = Pick<
  Step,
  'id' | 'external_id' | 'title' | 'priority' | 'blocked_by' | 'agents' | 'parallel' | 'planned_files'
>;

export function newStep(planned: Planned): Step {
  return {
    ...planned,
    status: 'pending',
    retries: 0,
    agent: null,
    started_at: null,
    ended_at: null,
    reason: null,
    assumed: false,
    output: null,
    validation: null,
    context: null,
    files: { created: [], modified: [], deleted: [] },
    spans: [],
  };
}

export interface FileEntry {
  status: FileStatus;
  step: string | null;
  at: number;
}

export interface Run {
  readonly process: ProcessIdentity;
  readonly agent: string | null;
  /** The bridge's own name for it; null: it is none of a bridge. */
  readonly run_id: string | null;
  readonly started_at: number;
  ended_at: number | null;
  reason: string | null;
}

export interface Conversation {
  readonly provider: string;
  readonly id: string;
  readonly source: ConversationSource;
  readonly transcript: string | null;
  readonly cwd: string | null;
  readonly workspace: string | null;
  /** Its share begins here; null: at its beginning. */
  readonly since: number | null;
  readonly at: number;
  /** The agent that has had it last; null: nobody knows it. */
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
  readonly resolution: string;
  readonly resolved: boolean;
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
  /** Of the contents of untracked files; null: there were none, or an older version has made it, which did not read them. */
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

/** A watcher noticed that the work seems to be stuck; closed when it goes on. */
export interface Notice {
  readonly id: string;
  readonly rule: string;
  readonly since: number | null;
  readonly sentence: string;
  readonly at: number;
}

/** What `session_started` says once, and `session_changed` may change where §3 lets it. */
export interface Facts {
  purpose: string;
  name: string | null;
  readonly workspace: string | null;
  /** In which its agents are started; null: the top of its workspace. */
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

/** What a session says of itself, at its beginning or later. */
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
  /** When its record was given to the agent of another session, since its last run began. */
  told_at: number | null;
  /** The digest of what each sub-agent was given last. */
  readonly given: Map<string, string>;
  /** Silence is excused until then. */
  ping: { readonly until: number; readonly detail: string | null } | null;
  readonly runs: Run[];
  readonly conversations: Conversation[];
  /** Of them, the one that has begun or was resumed last; it may have moved since. */
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
  /** The open one: at most one is. */
  readonly notices: Notice[];
  /** What is kept of its transcripts; null: nothing yet. */
  kept: Kept | null;
  /** Of files that it has touched, when its transcripts were kept: SHA-256, by path. */
  readonly digests: Map<string, string>;
  /** What happened last. */
  readonly recent: RecentEntry[];
  /** Illegal moves that somebody tried. */
  refused: number;
  /** How many entries of each list were left out. */
  readonly more: Record<string, number>;
}
