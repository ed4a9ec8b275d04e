/**
 * The words of session memory, as `docs/memory-reference.md` explains them. Each noun has its own identity and its own end; nothing is
 * inferred from prose.
 */

/** Declared. `archived` is no lifecycle: it only hides. */
export const LIFECYCLES = ['planned', 'active', 'ended'] as const;
export type Lifecycle = (typeof LIFECYCLES)[number];

/** Why a run ended: its process was proven dead, and no other line reports its end. */
export const LOST = 'lost';

/** How the reason of a run begins whose agent continues in another session, whose id follows. */
export const MOVED = 'moved to ';

export const END_REASONS = ['completed', 'failed', 'cancelled', 'superseded'] as const;
export type EndReason = (typeof END_REASONS)[number];

export const STEP_STATUSES = ['pending', 'in_progress', 'completed', 'failed', 'skipped', 'cancelled'] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export function statusWords(status: StepStatus): string {
  return status === 'in_progress' ? 'in progress' : status;
}

export const FILE_STATUSES = ['reading', 'working', 'done'] as const;
export type FileStatus = (typeof FILE_STATUSES)[number];

export const PRIORITIES = ['critical', 'high', 'normal'] as const;
export type Priority = (typeof PRIORITIES)[number];

export const ERROR_TYPES = ['validation', 'timeout', 'file_conflict', 'runtime', 'dependency'] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

/** Settings that a session declares in a few words; `summary` is for one that its bridge will end. */
export const SETTINGS = [
  ...(['workflow_mode', 'execution_mode', 'execution_backend', 'task_complexity'] as const),
  ...(['role', 'governance_level', 'framework', 'summary'] as const),
] as const;

/** The writer of a line. `program`: Claude Code, Codex, …; `watchkeeper`: this program by itself, which is never activity. */
export const ORIGINS = ['agent', 'person', 'program', 'watchkeeper'] as const;
export type Origin = (typeof ORIGINS)[number];

/** How a conversation came to a session. */
export const CONVERSATION_SOURCES = ['startup', 'resume', 'clear', 'compact', 'fork', 'bind'] as const;
export type ConversationSource = (typeof CONVERSATION_SOURCES)[number];

/** Computed from the process of the present run. `none`: there was no run. */
export const LIVENESS = ['alive', 'dead', 'unknown', 'none'] as const;
export type Liveness = (typeof LIVENESS)[number];

/**
 * The state of a process, as the program of its agent published it. `live`: that it lived, and no hook reported it. `left`: that it was in the middle
 * of its work, in a publication that outlived the process, as none does after an orderly end.
 */
export const PUBLICATIONS = ['live', 'left'] as const;
export type Publication = (typeof PUBLICATIONS)[number];

/** Computed from the time since the last activity. */
export const FRESHNESS = ['fresh', 'resumable', 'stale', 'critical', 'archivable'] as const;
export type Freshness = (typeof FRESHNESS)[number];

/** The lists of a phase for those behind it. */
export const CONTEXT_LISTS = [
  'key_interfaces_introduced',
  'patterns_established',
  'integration_points',
  'assumptions',
  'warnings',
] as const;
