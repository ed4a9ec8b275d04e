/**
 * The work of Claude Code's calls on tasks and files, from the typed results that its transcripts and its SDK's stream share.
 *
 * Seen: 2.1.197 and 2.1.329. A sub-agent's results come without types: there the call's input has to do, and for a new file or task
 * the harness's own sentence at the result's beginning. A sub-agent's shell commands show no files.
 */
import { type ObservedEvent, PLAN_STATUSES, type PlanItem, type PlanStatus } from '../../journal/schema.js';
import type { Asked, Done, TaskPart } from '../draft/deeds.js';
import { asFields, contentText, type Fields, fieldsAt, listAt, textAt } from '../draft/fields.js';
import { shellChanges } from './shellChanges.js';

/** Redacts and cuts a text. */
export type Trim = (text: string) => string;

const TOOLS: ReadonlySet<string> = new Set([
  'TaskCreate',
  'TaskUpdate',
  'TaskList',
  'TodoWrite',
  'Read',
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
]);
/** The harness's sentence about a new file. */
const CREATED = 'File created successfully at: ';
/** The harness's sentence about a new task. */
const CREATED_TASK = /^Task #(\w+) created successfully: /;
/** The title of a task if only its number is known. */
const titleOf = (id: string): string => `#${id}`;

/** @returns null for a call that does nothing with tasks or files */
export function askedOf(tool: string, input: Fields, trim: Trim): Asked | null {
  if (!TOOLS.has(tool)) return null;
  const text = (key: string) => some(textAt(input, key), trim);
  const path = text('file_path') ?? text('notebook_path');
  const [id, title] = [text('taskId'), text('subject')];
  const todos = todosOf(input.todos, trim);
  const blockers = textsOf(input.addBlockedBy, trim);
  return {
    tool,
    ...(path !== undefined && { path }),
    ...((id ?? title) !== undefined && { task: taskOf(id, title, text('status')) }),
    ...(blockers.length > 0 && { blockers }),
    ...(todos !== null && { todos }),
  };
}

/**
 * @param result `toolUseResult` of a transcript, `tool_use_result` of the stream
 * @param content of the result for the model; read only if there is no typed one
 */
export function doneOf(result: unknown, trim: Trim, content?: unknown): Done {
  const fields = asFields(result);
  if (fields === null) return saidOf(contentText(content), trim);
  const path = some(textAt(fields, 'filePath') ?? textAt(fieldsAt(fields, 'file'), 'filePath'), trim);
  const task = asFields(fields.task);
  const moved = textAt(fieldsAt(fields, 'statusChange'), 'to');
  const tasks = Array.isArray(fields.tasks) ? listAt(fields, 'tasks').flatMap((each) => listedTask(each, trim)) : null;
  const todos = todosOf(fields.newTodos, trim);
  const changes = shellChanges(fieldsAt(fields, 'bashEditDiff'), trim);
  const { success, error, type, oldString, originalFile } = fields;
  return {
    ...(path !== undefined && { path }),
    ...((type === 'create' || (oldString === '' && !originalFile)) && { isNew: true }),
    ...(task !== null && { task: taskOf(some(textAt(task, 'id'), trim), some(textAt(task, 'subject'), trim)) }),
    ...(moved !== null && { task: taskOf(undefined, undefined, moved) }),
    ...(tasks !== null && { tasks }),
    ...(todos !== null && { todos }),
    ...(changes !== null && { changes }),
    ...((success === false || (typeof error === 'string' && error !== '')) && { isVoid: true }),
  };
}

/** @returns the little that the result for the model says, if there is no typed one */
function saidOf(text: string, trim: Trim): Done {
  const id = CREATED_TASK.exec(text)?.[1];
  if (id !== undefined) return { task: taskOf(trim(id)) };
  return text.startsWith(CREATED) ? { isNew: true } : {};
}

/** Knows the calls without a result, and the tasks, whose updates name only changed fields. */
export class Deeds {
  #calls = new Map<string, Asked>();
  #tasks = new Map<string, PlanItem>();

  copy(): Deeds {
    const copy = new Deeds();
    copy.#calls = new Map(this.#calls);
    copy.#tasks = new Map(this.#tasks);
    return copy;
  }

  asked(callId: string, asked: Asked): void {
    this.#calls.set(callId, asked);
  }

  /** @returns what the call did; a failed one may have changed files, if its result says so */
  done(callId: string, isOk: boolean, done: Done): ObservedEvent[] {
    const asked = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (done.changes !== undefined) return [{ event: 'files', tool_use_id: callId, ...done.changes }];
    if (asked === undefined || !isOk || done.isVoid === true) return [];
    switch (asked.tool) {
      case 'TaskCreate':
        return this.#created(asked, done);
      case 'TaskUpdate':
        return this.#updated(asked, done);
      case 'TaskList':
        return done.tasks === undefined ? [] : this.#listed(done.tasks);
      case 'TodoWrite': {
        const items = done.todos ?? asked.todos;
        return items === undefined ? [] : [{ event: 'plan', mode: 'replace', items }];
      }
      default:
        return filesOf(callId, asked, done);
    }
  }

  #created({ task: wanted }: Asked, { task }: Done): ObservedEvent[] {
    const title = task?.title ?? wanted?.title;
    if (title === undefined) return [];
    const id = task?.id;
    return [this.#merge(id, { ...(id !== undefined && { external_id: id }), title, status: 'pending' })];
  }

  #updated({ task: wanted, blockers = [] }: Asked, { task }: Done): ObservedEvent[] {
    const id = wanted?.id;
    if (id === undefined) return [];
    const known: PlanItem = this.#tasks.get(id) ?? { external_id: id, title: titleOf(id), status: 'pending' };
    const all = [...new Set([...(known.blocked_by ?? []), ...blockers])];
    const item: PlanItem = {
      ...known,
      title: wanted?.title ?? known.title,
      status: statusOf(task?.status ?? wanted?.status) ?? known.status,
      ...(all.length > 0 && { blocked_by: all }),
    };
    return [this.#merge(id, item)];
  }

  #listed(tasks: readonly PlanItem[]): ObservedEvent[] {
    this.#tasks.clear();
    for (const task of tasks) if (task.external_id !== undefined) this.#tasks.set(task.external_id, task);
    return [{ event: 'plan', mode: 'replace', items: tasks }];
  }

  #merge(id: string | undefined, item: PlanItem): ObservedEvent {
    if (id !== undefined) this.#tasks.set(id, item);
    return { event: 'plan', mode: 'merge', items: [item] };
  }
}

function filesOf(
  callId: string,
  { tool, path: wanted }: Asked,
  { path = wanted, isNew = false }: Done,
): ObservedEvent[] {
  if (path === undefined) return [];
  const done = tool === 'Read' ? { read: [path] } : isNew ? { created: [path] } : { modified: [path] };
  return [{ event: 'files', tool_use_id: callId, ...done }];
}

function listedTask(task: Fields, trim: Trim): PlanItem[] {
  const [id, title] = [some(textAt(task, 'id'), trim), some(textAt(task, 'subject'), trim)];
  const status = statusOf(textAt(task, 'status') ?? undefined);
  if (id === undefined || title === undefined || status === null) return [];
  const blocked_by = textsOf(task.blockedBy, trim);
  return [{ external_id: id, title, status, ...(blocked_by.length > 0 && { blocked_by }) }];
}

/** @returns null if it is no list */
function todosOf(list: unknown, trim: Trim): PlanItem[] | null {
  if (!Array.isArray(list)) return null;
  return list.flatMap((todo: unknown) => {
    const fields = asFields(todo) ?? {};
    const title = some(textAt(fields, 'content'), trim);
    const status = statusOf(textAt(fields, 'status') ?? undefined);
    return title === undefined || status === null ? [] : [{ title, status }];
  });
}

function taskOf(id?: string, title?: string, status?: string): TaskPart {
  return {
    ...(id !== undefined && { id }),
    ...(title !== undefined && { title }),
    ...(status !== undefined && { status }),
  };
}

/** @returns null for an unknown word */
function statusOf(word: string | undefined): PlanStatus | null {
  return word === 'deleted' ? 'cancelled' : (PLAN_STATUSES.find((known) => known === word) ?? null);
}

function textsOf(list: unknown, trim: Trim): string[] {
  return Array.isArray(list) ? list.filter((text): text is string => typeof text === 'string').map(trim) : [];
}

function some(text: string | null, trim: Trim): string | undefined {
  return text === null ? undefined : trim(text);
}
