/** The agent's own list of tasks, followed through all its wordings. A program's word on its own tasks is never refused. */
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { addTo, type More } from '../fold/bounds.js';
import { STEP_STATUSES, type StepStatus } from '../words.js';

export interface Todo {
  /** `t1`, `t2`, … */
  readonly id: string;
  title: string;
  status: StepStatus;
  conversation: string;
  external_id: string | null;
  readonly created_at: number;
  changed_at: number;
  /** The last of them. */
  earlier_titles: readonly string[];
}

export interface PlanItem {
  readonly external_id: string | null;
  readonly title: string;
  readonly status: StepStatus;
}

export interface Plan {
  /** `replace`: a whole list. */
  readonly mode: 'merge' | 'replace';
  readonly conversation: string;
  readonly items: readonly PlanItem[];
  readonly at: number;
}

const MOST_TITLES = 5;
const OPEN: readonly StepStatus[] = ['pending', 'in_progress', 'failed'];

export class Todos {
  readonly list: Todo[] = [];
  readonly #more: More;
  #made = 0;

  constructor(more: More) {
    this.#more = more;
  }

  take(plan: Plan): void {
    const matches = this.#match(plan);
    const made = new Set<Todo>();
    for (const [index, item] of plan.items.entries()) {
      const todo = matches.get(index) ?? this.#takenOver(item, plan);
      if (todo === undefined) made.add(this.#add(item, plan));
      else {
        matches.set(index, todo);
        this.#update(todo, item, plan.at);
      }
    }
    if (plan.mode === 'merge') return;
    const kept = new Set(matches.values());
    for (const todo of this.#ofConversation(plan)) {
      if (kept.has(todo) || made.has(todo) || !OPEN.includes(todo.status)) continue;
      todo.status = 'cancelled';
      todo.changed_at = plan.at;
    }
  }

  /** @returns the known task of each item, by the item's place in the list */
  #match(plan: Plan): Map<number, Todo> {
    const free = new Set(this.#ofConversation(plan));
    const matches = new Map<number, Todo>();
    const pair = (isSame: (todo: Todo, item: PlanItem) => boolean) => {
      for (const [index, item] of plan.items.entries()) {
        if (matches.has(index)) continue;
        const todo = [...free].find((candidate) => isSame(candidate, item));
        if (todo === undefined) continue;
        matches.set(index, todo);
        free.delete(todo);
      }
    };
    pair((todo, { external_id }) => external_id !== null && todo.external_id === external_id);
    const isNameless = (todo: Todo, item: PlanItem) => item.external_id === null || todo.external_id === null;
    pair((todo, item) => isNameless(todo, item) && todo.title === item.title && OPEN.includes(todo.status));
    // A whole list repeats what is done, too.
    if (plan.mode === 'replace') pair(({ title }, item) => item.external_id === null && title === item.title);
    if (plan.mode === 'replace') this.#pairReworded(plan, matches, free);
    return matches;
  }

  /** One old and one new item that are left over at the same place are a rewording. */
  #pairReworded(plan: Plan, matches: Map<number, Todo>, free: Set<Todo>): void {
    const olds = [...free].filter(({ status }) => OPEN.includes(status));
    const news = plan.items.flatMap((_, index) => (matches.has(index) ? [] : [index]));
    const [old] = olds;
    const [place] = news;
    if (olds.length !== 1 || news.length !== 1 || old === undefined || place === undefined) return;
    const places = this.#ofConversation(plan).filter(({ status }) => status !== 'cancelled');
    if (places.indexOf(old) === place) matches.set(place, old);
  }

  /**
   * An agent that continues the work of another conversation has a list of its own, and cannot end a task of the other list. It writes
   * down again what is left.
   * @returns the open task of another conversation with the same title, which is one of this conversation from then on
   */
  #takenOver({ title, external_id }: PlanItem, { conversation }: Plan): Todo | undefined {
    const todo = this.#leftBy(conversation, title);
    if (todo !== undefined) Object.assign(todo, { conversation, external_id });
    return todo;
  }

  #leftBy(conversation: string, title: string): Todo | undefined {
    const isLeft = (todo: Todo) => todo.conversation !== conversation && OPEN.includes(todo.status);
    return this.list.find((one) => isLeft(one) && one.title === title);
  }

  #update(todo: Todo, { title, status, external_id }: PlanItem, at: number): void {
    todo.external_id ??= external_id;
    const words = isNameless({ title, external_id }) ? todo.title : title;
    if (todo.title === words && todo.status === status) return;
    if (todo.title !== words) {
      // It has the words of one that another conversation has left: that is the same task, written down again.
      const left = this.#leftBy(todo.conversation, words);
      if (left !== undefined) Object.assign(left, { status: 'cancelled', changed_at: at });
      if (!isNameless(todo)) todo.earlier_titles = [...todo.earlier_titles, todo.title].slice(-MOST_TITLES);
    }
    todo.title = words;
    todo.status = status;
    todo.changed_at = at;
  }

  #ofConversation({ conversation }: Plan): Todo[] {
    return this.list.filter((todo) => todo.conversation === conversation);
  }

  #add({ external_id, title, status }: PlanItem, { conversation, at }: Plan): Todo {
    this.#made += 1;
    const named = { id: `t${this.#made}`, title, status, conversation, external_id };
    const todo: Todo = { ...named, created_at: at, changed_at: at, earlier_titles: [] };
    addTo(this.list, todo, { more: this.#more, name: 'todos', isSettled: (known) => !OPEN.includes(known.status) });
    return todo;
  }
}

/**
 * Whether only the number of a task is known: then the number takes the place of its title (`deeds.ts`). The run has begun after the
 * task was made, or a sub-agent moves a task of the main agent.
 */
export function isNameless({
  title,
  external_id,
}: {
  readonly title: string;
  readonly external_id?: string | null;
}): boolean {
  return typeof external_id === 'string' && title === `#${external_id}`;
}

/** @returns the task that has, or had, the title of a step; undefined if none */
export function taskTitled(list: readonly Todo[], title: string): Todo | undefined {
  return list.findLast((task) => task.title === title) ?? list.findLast((task) => task.earlier_titles.includes(title));
}

/** Takes a line of the event `plan`. A whole list without ids belongs to its agent: only the main agent's is the session's. */
export function takePlan(
  todos: Todos,
  record: JournalRecord,
  { isMain, at }: { readonly isMain: boolean; readonly at: number },
): void {
  const items = planItemsOf(record.items);
  const mode = record.mode === 'replace' ? 'replace' : 'merge';
  if (!isMain && mode === 'replace' && items.every(({ external_id }) => external_id === null)) return;
  todos.take({ mode, conversation: textOf(record.session_id) ?? '', items, at });
}

/** @returns the items of a line of the event `plan`, without those that are none */
function planItemsOf(items: unknown): PlanItem[] {
  return Array.isArray(items) ? items.flatMap(planItemOf) : [];
}

function planItemOf(value: unknown): PlanItem[] {
  const { external_id, title, status } = Object(value);
  const known = STEP_STATUSES.find((word) => word === status);
  if (typeof title !== 'string' || known === undefined) return [];
  return [{ external_id: textOf(external_id), title, status: known }];
}
