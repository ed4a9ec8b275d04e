/**
 * Codex' plan, the files that it changed and the tokens that it used, from typed fields only. Rollouts and `codex exec --json`
 * differ in the fields' names (seen with 0.169.0).
 */
import type { ObservedEvent, PlanItem, PlanStatus } from '../../journal/schema.js';
import { asFields, type Fields, fieldsAt, listAt, numberAt, textAt } from '../draft/fields.js';

type Named<Name extends ObservedEvent['event']> = Extract<ObservedEvent, { event: Name }>;
/** The caller names the call, and says whether Codex changed its files. */
export type FilesEvent = Named<'files'>;

const STATUSES: readonly PlanStatus[] = ['pending', 'in_progress', 'completed'];
/** The lines of a patch that name files; lines of a file's text begin with another character. */
const PATCH_LINE = /^\*\*\* (Add File|Update File|Delete File|Move to): (.+)$/gm;

/**
 * @param items `{step, status}` of `update_plan`, or `{text, completed}` of a `todo_list`, which does not say what is in progress
 * @returns the whole list; items without a title are left out
 */
export function planOf(items: readonly Fields[]): Named<'plan'> {
  return { event: 'plan', mode: 'replace', items: items.flatMap(planItem) };
}

function planItem(item: Fields): PlanItem[] {
  const title = textAt(item, 'step') ?? textAt(item, 'text');
  if (title === null) return [];
  const known = STATUSES.find((status) => status === item.status);
  return [{ title, status: known ?? (item.completed === true ? 'completed' : 'pending') }];
}

interface Change {
  readonly path: string;
  /** `add`, `update` or `delete`. */
  readonly kind: unknown;
  readonly movedTo: string | null;
}

/**
 * @param changes by path, as in a rollout, or a list, as `codex exec --json` prints it, which does not show where a file went
 * @returns null if there are none
 */
export function filesOf(changes: unknown, tool_use_id: string): FilesEvent | null {
  if (Array.isArray(changes)) return filesEvent(listAt({ changes }, 'changes').flatMap(listedChange), tool_use_id);
  const byPath = Object.entries(asFields(changes) ?? {});
  return filesEvent(
    byPath.map(([path, change]) => namedChange(path, asFields(change) ?? {})),
    tool_use_id,
  );
}

function listedChange(change: Fields): Change[] {
  const path = textAt(change, 'path');
  if (path === null) return [];
  return typeof change.kind === 'string'
    ? [{ path, kind: change.kind, movedTo: null }]
    : [namedChange(path, fieldsAt(change, 'kind'))];
}

function namedChange(path: string, change: Fields): Change {
  return { path, kind: change.type, movedTo: textAt(change, 'move_path') };
}

/**
 * @param patch the input of `apply_patch`
 * @returns null if it names no file
 */
export function patchedFiles(patch: string, tool_use_id: string): FilesEvent | null {
  const changes: Change[] = [];
  for (const [, line, name = ''] of patch.matchAll(PATCH_LINE)) {
    const path = name.trim();
    const last = changes.at(-1);
    if (line === 'Add File') changes.push({ path, kind: 'add', movedTo: null });
    else if (line === 'Delete File') changes.push({ path, kind: 'delete', movedTo: null });
    else if (line === 'Update File') changes.push({ path, kind: 'update', movedTo: null });
    else if (last !== undefined) changes.splice(-1, 1, { ...last, movedTo: path });
  }
  return filesEvent(changes, tool_use_id);
}

function filesEvent(changes: readonly Change[], tool_use_id: string): FilesEvent | null {
  const pathsOf = (kind: string) =>
    changes.filter((change) => change.kind === kind && change.movedTo === null).map(({ path }) => path);
  const lists = { created: pathsOf('add'), modified: pathsOf('update'), deleted: pathsOf('delete') };
  const renamed = changes.flatMap(({ path, movedTo }) => (movedTo === null ? [] : [{ from: path, to: movedTo }]));
  const named = Object.entries({ ...lists, renamed }).filter(([, list]) => list.length > 0);
  return named.length === 0 ? null : { event: 'files', tool_use_id, ...Object.fromEntries(named) };
}

/** @returns null if nothing was counted; Codex' input contains cached tokens */
export function usageOf(usage: Fields, message_id: string): Named<'usage'> | null {
  const input = numberAt(usage, 'input_tokens');
  const output = numberAt(usage, 'output_tokens');
  if (input === null || output === null) return null;
  const cached = Math.min(numberAt(usage, 'cached_input_tokens') ?? 0, input);
  return { event: 'usage', message_id, input: input - cached, output, cached };
}
