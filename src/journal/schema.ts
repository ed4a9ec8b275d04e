/** The journal's lines: a superset of the usual `tool_use.jsonl`. Unknown fields are kept, unknown events ignored. */

/** The version of the lines written here, and the highest that can be read. */
export const JOURNAL_VERSION = 1;

export const OUTCOMES = ['ok', 'failed', 'rejected', 'cancelled', 'blocked'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const WAIT_KINDS = ['permission', 'user', 'rate_limit', 'child'] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

/** How a program began: from scratch, with an earlier conversation, with an emptied one, or with a shortened one. */
export const START_SOURCES = ['startup', 'resume', 'clear', 'compact'] as const;
export type StartSource = (typeof START_SOURCES)[number];

/** The agent that a line belongs to; without `agent_id` it is the main one. */
export interface Lineage {
  readonly agent_id?: string;
  /** The call that started this sub-agent. */
  readonly parent_tool_use_id?: string;
  /** The mode from here on, in the program's own words; `unstated` in transcripts without it. Only for sessions in terminals. */
  readonly permission_mode?: string;
}

/** A task of the agent's own list. */
export interface PlanItem {
  /** In the program's list. */
  readonly external_id?: string;
  readonly title: string;
  readonly status: PlanStatus;
  /** External ids. */
  readonly blocked_by?: readonly string[];
}

export const PLAN_STATUSES = ['pending', 'in_progress', 'completed', 'failed', 'skipped', 'cancelled'] as const;
export type PlanStatus = (typeof PLAN_STATUSES)[number];

/** The material of a session's memory. No rule of the watchdog reads it. */
export type ObservedEvent =
  /** `replace`: the whole list; otherwise the tasks that were added or changed. */
  | { readonly event: 'plan'; readonly mode: 'merge' | 'replace'; readonly items: readonly PlanItem[] }
  /** The files that a call read or changed; absolute paths, or relative to the working directory. */
  | {
      readonly event: 'files';
      readonly tool_use_id?: string;
      readonly created?: readonly string[];
      readonly modified?: readonly string[];
      readonly deleted?: readonly string[];
      readonly read?: readonly string[];
      /** Created, modified or deleted; which of these is unknown. */
      readonly changed?: readonly string[];
      readonly renamed?: readonly { readonly from: string; readonly to: string }[];
      /** How many other files it changed; their names are unknown. */
      readonly more?: number;
    }
  /** Tokens of one message; a message counts once. */
  | {
      readonly event: 'usage';
      readonly message_id: string;
      readonly input: number;
      readonly output: number;
      readonly cached: number;
    };

/** A person's part, as only a transcript shows it. No rule of the watchdog reads it. */
export type PersonsEvent =
  /** The fate of an order that a person, or a program, gave while the agent worked. */
  {
    readonly event: 'order';
    /** `taken`: the agent has it. `withdrawn`: the person has taken it back. */
    readonly change: 'queued' | 'taken' | 'withdrawn';
    /** Digest of its words. Missing if it is the first one that was taken, or if all were withdrawn. */
    readonly order?: string;
    /** Missing unless it was queued. */
    readonly origin?: 'human' | 'machine';
    readonly text?: string;
  };

/** A person has taken the conversation back: its last prompts, and what was done for them, do not count any more. */
export interface RewoundEvent {
  readonly event: 'rewound';
  readonly prompts: number;
}

/** An event of an agent's stream. The writer adds `v`, `timestamp` and `session_id`. */
export type JournalEvent = Lineage &
  /** The bridge's own, before it starts the agent: proves that a run left a journal, and how old it was when it was lost. */
  (
    | {
        readonly event: 'run_start';
        readonly run_id: string;
        /** The host's; empty if the system has no such id. */
        readonly boot_id: string;
        /** Milliseconds from that boot to this line; missing if the system does not count them. */
        readonly since_boot_ms?: number;
        /** When the message was accepted, ISO 8601: it names the message, whatever the clock says later. */
        readonly accepted_at?: string;
      }
    | { readonly event: 'session_start'; readonly source: StartSource }
    /** The texts are beginnings, for the memory of the session; a setting leaves them out. */
    | { readonly event: 'user_prompt'; readonly origin: 'human' | 'machine'; readonly text?: string }
    | { readonly event: 'assistant_message'; readonly stop_reason?: string; readonly text?: string }
    | {
        readonly event: 'pre_tool_use';
        readonly tool_use_id: string;
        readonly tool_name: string;
        readonly tool_input: unknown;
        readonly input_digest?: string;
        readonly timeout_ms?: number;
        /** Where its relative paths begin, if the agent was not where its transcript begins. */
        readonly directory?: string;
        readonly batch?: string;
        readonly polling?: boolean;
        /** A person is asked for it before it runs, as the call says itself. */
        readonly asks_first?: boolean;
      }
    | {
        readonly event: 'post_tool_use';
        readonly tool_use_id: string;
        readonly tool_name: string;
        readonly is_error: boolean;
        readonly outcome: Outcome;
        readonly tool_output_preview: string;
        /** The words of a person who refused the call. */
        readonly said?: string;
        readonly output_digest?: string;
        readonly duration_ms?: number;
        readonly batch?: string;
        /** The command still runs, and the call only returns what it has said until then. */
        readonly in_background?: true;
      }
    | {
        readonly event: 'wait_start';
        readonly kind: WaitKind;
        readonly tool_use_id?: string;
        /** ISO 8601. */
        readonly until?: string;
      }
    | { readonly event: 'wait_end'; readonly kind: WaitKind; readonly tool_use_id?: string }
    | { readonly event: 'turn_end'; readonly reason: string }
    /** The call that it shows to be alive, if the line names one. */
    | { readonly event: 'heartbeat'; readonly source: string; readonly tool_use_id?: string }
    | { readonly event: 'compaction' }
    | ObservedEvent
    | PersonsEvent
    | RewoundEvent
    | {
        readonly event: 'session_end';
        readonly reason: string;
        /** With the reason `answered`: the whole answer, for a store that has forgotten it. */
        readonly answer?: string;
      }
  );
