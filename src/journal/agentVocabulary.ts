/**
 * The words of the known agents, Claude Code and Codex: their tools and their permission modes.
 *
 * The questions of each mode: https://docs.claude.com/en/docs/claude-code/iam#permission-modes, and `approval_policy` in
 * https://developers.openai.com/codex/config-reference.
 */

export const SHELLS = words('Bash PowerShell shell shell_command local_shell exec_command exec');
export const EDITS = words('Edit MultiEdit Write NotebookEdit apply_patch');
/** They finish at once unless they are held up. */
export const INSTANT = words(...EDITS, 'Read NotebookRead Glob Grep LS view_image read_file list_dir grep_files');
/** They ask a person a question of their own. */
export const QUESTIONS = words('AskUserQuestion ExitPlanMode request_user_input');
/** They start a sub-agent of Claude Code; newest name first. */
export const STARTERS = words('Agent Task');
/** They keep the agent's own list of tasks, which a record shows as a list. */
export const LISTS = words('TodoWrite TaskCreate TaskUpdate TaskList TaskGet update_plan');
/** They pass messages between agents. */
export const SPEECH = words('SendMessage TaskOutput spawn_agent send_input wait_agent');
/** No permission is asked for them: they wait for something else, or for nothing. Those that start sub-agents ask for these. */
export const NEVER_ASKED = words(
  'TaskOutput TaskStop TodoWrite BashOutput KillShell AskUserQuestion',
  'request_user_input update_plan write_stdin wait wait_agent spawn_agent send_input',
);

/** The mode of a transcript whose version does not record it: it asks by default. */
export const UNSTATED_MODE = 'unstated';
/** Claude Code's, then Codex'. */
export const ASKING_MODES = words(`default plan ${UNSTATED_MODE} untrusted on-request on-failure`);
/** They do edits unasked. `auto` asks if its checks of commands refuse too often, or are unavailable. */
export const EDITING_MODES = words('acceptEdits auto');

/** Codex' calls that ask a person before they run, whatever the tool: as members of the input, or within a script. */
const ESCALATES = words('require_escalated with_additional_permissions');
const SCRIPTED_ESCALATION =
  /["']?\b(?:sandbox_permissions["']?\s*:\s*["'`](?:require_escalated|with_additional_permissions)|with_escalated_permissions["']?\s*:\s*true\b)/;

/** @returns whether a call says in its input that a person is asked for it first */
export function asksFirst(input: unknown): boolean {
  const { sandbox_permissions, with_escalated_permissions, input: script } = membersOf(input);
  if (with_escalated_permissions === true) return true;
  if (typeof sandbox_permissions === 'string') return ESCALATES.has(sandbox_permissions);
  return typeof script === 'string' && SCRIPTED_ESCALATION.test(script);
}

/** The fields of a call's input that describe it best. */
const SUBJECTS = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'description'];

/** @returns the most informative text of a call's input; null if it has none */
export function subjectOf(input: unknown): string | null {
  const fields = membersOf(input);
  const found = SUBJECTS.map((name) => fields[name]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found : null;
}

function membersOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {};
}

function words(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(' ')));
}
