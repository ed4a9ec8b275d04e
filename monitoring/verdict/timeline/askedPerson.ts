/**
 * Calls for which a person seems to be asked for permission, although no line says so: the programs that people run in
 * terminals do not record their dialogs. (Judgement rules, 9.)
 *
 * This applies only if a journal names a permission mode, and no bridge writes one: its agents are denied what they may not do.
 * What each mode asks for: https://docs.claude.com/en/docs/claude-code/iam#permission-modes, and `approval_policy` in
 * https://developers.openai.com/codex/config-reference.
 */
import { MINUTE } from '../../../src/time.js';
import type { OpenCall, RunState } from './state.js';

const SHELLS: ReadonlySet<string> = new Set([
  'Bash',
  'PowerShell',
  'shell',
  'shell_command',
  'local_shell',
  'exec_command',
  'exec',
]);
const EDITS: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit', 'apply_patch']);
/** They finish at once unless they are held up. */
const INSTANT: ReadonlySet<string> = new Set([
  ...EDITS,
  'Read',
  'NotebookRead',
  'Glob',
  'Grep',
  'LS',
  'view_image',
  'read_file',
  'list_dir',
  'grep_files',
]);
/** They wait for something else, or for nothing. */
const NEVER_ASKED: ReadonlySet<string> = new Set([
  'Task',
  'Agent',
  'TaskOutput',
  'TaskStop',
  'TodoWrite',
  'BashOutput',
  'KillShell',
  'AskUserQuestion',
  'request_user_input',
  'update_plan',
  'write_stdin',
  'wait',
  'wait_agent',
  'spawn_agent',
  'send_input',
]);
/** Claude Code's, then Codex'. `unstated`: the transcript is of a version that does not record it; it asks by default. */
const ASKING_MODES: ReadonlySet<string> = new Set([
  'default',
  'plan',
  'unstated',
  'untrusted',
  'on-request',
  'on-failure',
]);
/** They do edits unasked. `auto` asks if its checks of commands refuse too often, or are unavailable. */
const EDITING_MODES: ReadonlySet<string> = new Set(['acceptEdits', 'auto']);

const OVERDUE_MS = MINUTE;
const UNDECLARED_MS = 3 * MINUTE;

/** @returns the first instant at which a person seems to be asked for this call, UTC epoch milliseconds; null: never */
export function askedFrom(run: RunState, call: OpenCall): number | null {
  const { permissionMode: mode, hasPerson } = run;
  if (mode === null || !hasPerson || call.isHeard || call.allowanceSince !== call.since) return null;
  return asksFor(mode, call.tool) ? call.since + allowanceOf(call) : null;
}

/** @returns the first instant at which a person seems to be asked for any call; infinite if there is none */
export function firstAskedFrom(run: RunState): number {
  let first = Number.POSITIVE_INFINITY;
  if (run.permissionMode === null || !run.hasPerson) return first;
  for (const { calls } of run.agents) {
    for (const call of calls) first = Math.min(first, askedFrom(run, call) ?? first);
  }
  return first;
}

/** @returns the instant up to which owed time is summed at `now`: nobody works while a person is, or seems to be, asked */
export function owedUntil(run: RunState, now: number): number {
  if (run.turnSince === null || run.humanWaits > 0) return run.owedUntil;
  return Math.min(now, Math.max(run.owedUntil, firstAskedFrom(run)));
}

function asksFor(mode: string, tool: string): boolean {
  if (NEVER_ASKED.has(tool)) return false;
  return ASKING_MODES.has(mode) || (EDITING_MODES.has(mode) && !EDITS.has(tool));
}

function allowanceOf({ tool, timeoutMs }: OpenCall): number {
  if (INSTANT.has(tool)) return OVERDUE_MS;
  return SHELLS.has(tool) && timeoutMs !== null ? timeoutMs + OVERDUE_MS : UNDECLARED_MS;
}
