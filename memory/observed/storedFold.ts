/**
 * The fold of a kept copy, stored next to it: a start in a directory waits for one small file then, however long the copy is. It is
 * generated, and is used only if the copy, and the session's share of it, are those that it was made from.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { UnreachableError } from '../../src/errors.js';
import { readOwnFileSync } from '../../src/files/ownFile.js';
import { parseObject } from '../../src/json.js';
import { SECOND } from '../../src/time.js';
import type { Worklog } from '../fold/worklog.js';
import { journalIn, type Places } from '../home/places.js';
import { replaceInSession } from '../home/sessionFile.js';
import type { Workspace } from '../workspaces/workspace.js';
import { type Agent, Agents } from './agents.js';
import type { OpenCall } from './calls.js';
import type { Seal } from './keptCopy.js';
import { Observed } from './observed.js';
import { type Share, sharesOf } from './shares.js';
import type { ShellWork } from './shellWork.js';
import type { WrittenFile } from './shellWrites.js';
import type { Todo } from './todos.js';

export const FOLD_FILE = 'observed.json';
/** Must be raised whenever the same lines fold into something else. */
export const FOLD_VERSION = 14;
/** The bounds of a fold keep it far below that. */
const LARGEST_BYTES = 16 * 1024 * 1024;

type Maps = 'files' | 'tokens' | 'waits';
type Apart = Maps | 'touched' | 'shell' | 'todos' | 'agents' | 'nameOf' | 'take' | 'openCalls' | 'waitingOrders';
type EntryOf<Known> = Known extends Map<infer Key, infer Value> ? readonly [Key, Value] : never;

interface StoredFold {
  readonly key: string;
  /** The members that are JSON as they are. */
  readonly plain: Omit<Observed, Apart>;
  readonly maps: { readonly [Name in Maps]: readonly EntryOf<Observed[Name]>[] };
  readonly touched: readonly string[];
  readonly unfinished: readonly WrittenFile[];
  readonly finished: readonly EntryOf<ShellWork['finished']>[];
  readonly todos: readonly Todo[];
  readonly agents: readonly Agent[];
  readonly calls: readonly OpenCall[];
}

interface Place {
  readonly folder: string;
  /** Paths are relative to it. */
  readonly workspace: Pick<Workspace, 'root'> | null;
}

interface FoldedSession extends Place {
  readonly id: string;
  /** As it was when the copy was made. */
  readonly log: Pick<Worklog, 'conversations' | 'end'>;
}

/**
 * Stores the fold of a kept copy. A failure is ignored: the copy can be folded again.
 * @param seal of that copy, which another process may have replaced in the meantime
 */
export function storeFold(places: Places, { id, log, ...place }: FoldedSession, seal: Seal, fold: Observed): void {
  const key = keyOf(place, sharesOf(log, journalIn(place.folder), null, seal));
  if (key === null || fold.lines === 0 || storedIn(place.folder)?.key === key) return;
  const { todos, agents, files, tokens, waits, touched, shell, nameOf: _, ...plain } = fold;
  const stored: StoredFold = {
    key,
    plain,
    maps: { files: [...files], tokens: [...tokens], waits: [...waits] },
    touched: [...touched],
    unfinished: shell.unfinished,
    finished: [...shell.finished],
    todos: todos.list,
    agents: agents.list(),
    calls: fold.openCalls(),
  };
  try {
    replaceInSession(places, id, FOLD_FILE, `${JSON.stringify(stored)}\n`);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
  }
}

/**
 * @param shares of the session; its kept copy has all of them
 * @returns their fold, which takes no more lines. Null if it is not stored, or damaged
 */
export function recallFold(place: Place, shares: readonly Share[]): Observed | null {
  const key = keyOf(place, shares);
  const stored = key === null ? null : storedIn(place.folder);
  return stored?.key === key ? new RecalledFold(stored) : null;
}

function storedIn(folder: string): StoredFold | null {
  try {
    const stored = parseObject<StoredFold>(readOwnFileSync(join(folder, FOLD_FILE), LARGEST_BYTES));
    return isWhole(stored) ? stored : null;
  } catch {
    return null;
  }
}

/** Without a schema: an agent's start waits for it. */
function isWhole(stored: Partial<StoredFold> | null): stored is StoredFold {
  const { key, plain, maps, touched, unfinished, finished, todos, agents, calls } = stored ?? {};
  const { lines, errors, actions, asked, commits, orders, refusals, rewinds, leftTurns, more } = Object(plain);
  const { files, tokens, waits } = Object(maps);
  const lists = [
    touched,
    todos,
    agents,
    calls,
    errors,
    actions,
    asked,
    commits,
    orders,
    refusals,
    rewinds,
    leftTurns,
    files,
    tokens,
    waits,
    unfinished,
    finished,
  ];
  return typeof key === 'string' && lines > 0 && typeof more === 'object' && lists.every(Array.isArray);
}

/**
 * @returns the copy, the session's share of it, and what names its paths. Links are followed as they were when it was folded. Null if
 *   there is no copy
 */
function keyOf({ workspace }: Place, shares: readonly Share[]): string | null {
  const [copy] = shares.map(({ kept }) => kept?.copy);
  const stat = copy === undefined ? undefined : statSync(copy, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  const parts = shares.map(({ conversation: { provider, id, cwd, since, moved_at }, endedAt, kept }) => {
    const { first, count, digest } = kept ?? {};
    return [provider, id, cwd, since, moved_at, endedAt, first, count, digest];
  });
  // Whole seconds: a restored backup may have lost finer times.
  const changedAt = Math.floor(stat.mtimeMs / SECOND);
  return JSON.stringify([FOLD_VERSION, workspace?.root ?? null, stat.size, changedAt, parts]);
}

class RecalledFold extends Observed {
  readonly #calls: readonly OpenCall[];

  constructor({ plain, maps, touched, unfinished, finished, todos, agents, calls }: StoredFold) {
    super();
    this.#calls = calls;
    Object.assign(this, plain, {
      files: new Map(maps.files),
      tokens: new Map(maps.tokens),
      waits: new Map(maps.waits),
      touched: new Set(touched),
      agents: new RecalledAgents(agents),
    });
    this.shell.unfinished = unfinished;
    for (const [path, at] of finished) this.shell.finished.set(path, at);
    this.todos.list.push(...todos);
  }

  override take(): never {
    throw new Error('a fold that was stored takes no more lines');
  }

  override openCalls(): OpenCall[] {
    return [...this.#calls];
  }
}

class RecalledAgents extends Agents {
  readonly #list: readonly Agent[];

  constructor(list: readonly Agent[]) {
    super();
    this.#list = list;
  }

  override list(): Agent[] {
    return [...this.#list];
  }
}
