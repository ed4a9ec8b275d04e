/** The learnings of a memory: how one is added, found and settled. They outlive sessions and worktrees. */
import { UsageError } from '../../src/errors.js';
import { ambiguous, idsNamed, ulid } from '../../src/ids.js';
import { lastOf } from '../../src/log/shorten.js';
import { isBlank } from '../../src/log/visibleText.js';
import { repositoryOf } from '../git/history.js';
import type { Places } from '../home/places.js';
import { RefusedError } from '../logs/kind.js';
import { LONGEST_TEXT, type NewLine, type Stamp } from '../logs/line.js';
import { Log } from '../logs/log.js';
import { NewerVersionError } from '../logs/newerLog.js';
import { withLog } from '../logs/scoped.js';
import type { Workspace } from '../workspaces/workspace.js';
import {
  type Action,
  keyOf,
  type Learning,
  type LearningsEvents,
  type LearningsState,
  learningsKind,
  type Scope,
} from './kind.js';

/** Digits at the end of an id, as people are shown it: those at its beginning are a time. */
const SHORT_DIGITS = 8;
const LONGEST_TAG = 64;
/** Failures of one session that are remembered: each start of an agent reads those of all sessions. */
const MOST_FAILURES = 20;
/** A failure must have come back in so many sessions before an agent hears of it. */
export const CAME_BACK = 3;

type Lines = readonly NewLine<LearningsEvents>[];

export interface Adding {
  readonly text: string;
  readonly tags: readonly string[];
  readonly actions: readonly string[];
  readonly workspace: Workspace;
  readonly session_id: string | null;
}

export class Learnings {
  readonly #places: Places;
  readonly #stamp: Stamp;

  constructor({ places, stamp }: { readonly places: Places; readonly stamp: Stamp }) {
    this.#places = places;
    this.#stamp = stamp;
  }

  /** @returns the learnings as they are now; empty if there are none. @throws UnreachableError if the log cannot be read */
  read(): LearningsState {
    return this.log()?.state ?? learningsKind.begin();
  }

  /** As {@link read}, for a caller who names one of them. @throws NewerVersionError if lines of a newer version may have it */
  readToChange(): LearningsState {
    const log = this.log();
    if (log !== null && log.counts.newer > 0) throw new NewerVersionError(log.path, 'change it');
    return log?.state ?? learningsKind.begin();
  }

  /**
   * @returns the ids of the learning and its actions
   * @throws UsageError if a text is missing or too long
   */
  add({ text, tags, actions, workspace, session_id }: Adding): {
    readonly id: string;
    readonly actions: readonly string[];
  } {
    const id = ulid(this.#stamp.clock);
    const learned = learningsKind.line('learned', {
      id,
      text: this.#whole('the learning', text),
      tags: [...new Set(tags.map((tag) => this.#whole('a tag', tag, LONGEST_TAG)))],
      ...scopeOf(workspace),
      root: workspace.root,
      session_id,
    });
    const following = actions.map((each) => this.#action(id, each));
    this.#write(() => [learned, ...following.map(({ line }) => line)]);
    return { id, actions: following.map((each) => each.id) };
  }

  /** @returns the id of the action. @throws UsageError if there is no such learning; RefusedError if it was dropped in the meantime */
  addAction(learning: Learning, text: string): string {
    const { id, line } = this.#action(learning.id, text);
    this.#write(() => [line]);
    return id;
  }

  /** @returns whether it was done already */
  finish({ id }: Action): boolean {
    let isKnown = false;
    this.#write(({ actions }) => {
      isKnown = actions.get(id)?.done_at != null;
      return isKnown ? [] : [learningsKind.line('done', { action: id })];
    });
    return isKnown;
  }

  /** @returns whether it was dropped already */
  drop(id: string): boolean {
    let isKnown = false;
    this.#write(({ dropped }) => {
      isKnown = dropped.has(id);
      return isKnown ? [] : [learningsKind.line('dropped', { learning: id })];
    });
    return isKnown;
  }

  /** Remembers what failed in a session, as digests. May be lost: then fewer sessions are counted. */
  noteFailures(session_id: string, workspace: Workspace, failures: readonly string[]): void {
    const scope = scopeOf(workspace);
    const stamp = { ...this.#stamp, origin: 'watchkeeper' } as const;
    this.#withLog((log) =>
      log.write(
        ({ failed }) => {
          const known = failed.get(keyOf(scope));
          // One that came back often enough needs no more lines.
          const isKnown = (sessions: readonly string[] = []) =>
            sessions.length >= CAME_BACK || sessions.includes(session_id);
          const added = failures.filter((failure) => !isKnown(known?.get(failure)));
          if (added.length === 0) return [];
          return [learningsKind.line('failed', { ...scope, session_id, failures: added.slice(0, MOST_FAILURES) })];
        },
        stamp,
        { isFact: true, isDurable: false },
      ),
    );
  }

  #action(learning: string, text: string) {
    const id = ulid(this.#stamp.clock);
    return { id, line: learningsKind.line('action', { id, learning, text: this.#whole('the action', text) }) };
  }

  /** A log cuts long texts. Nothing that was typed is lost that way. */
  #whole(what: string, given: string, longest = LONGEST_TEXT): string {
    const text = this.#stamp.redact(given).trim();
    if (isBlank(text)) throw new UsageError(`${what} is empty`);
    if (text.length <= longest) return text;
    throw new UsageError(`${what} has ${text.length} characters; at most ${longest} fit`);
  }

  /** @returns null if nothing was added. @throws UnreachableError if it cannot be read */
  log(): Log<LearningsState, LearningsEvents> | null {
    return Log.read(this.#places.learnings, learningsKind);
  }

  #write(decide: (state: LearningsState) => Lines): void {
    const outcomes = this.#withLog((log) => log.write(decide, this.#stamp));
    const refusal = outcomes.find((outcome) => outcome !== null);
    if (refusal) throw new RefusedError(refusal);
  }

  #withLog<Result>(work: (log: Log<LearningsState, LearningsEvents>) => Result): Result {
    this.#places.prepare();
    return withLog(this.#places.learnings, learningsKind, work);
  }
}

/** @returns where a learning of a workspace belongs */
export function scopeOf({ id, root, kind }: Workspace): Scope {
  return { repository: kind === 'git' ? repositoryOf(root) : null, workspace: id };
}

/** @returns the end of an id, which is enough to name it */
export function shortId(id: string): string {
  return lastOf(id, SHORT_DIGITS);
}

/**
 * @param all by id, the oldest first
 * @param what for the error: `learning`
 * @param name an id, or the beginning or the end of one
 * @throws UsageError if it names none, or several
 */
export function namedIn<Entry extends { readonly text: string }>(
  all: ReadonlyMap<string, Entry>,
  what: string,
  name: string,
): Entry {
  const ids = idsNamed([...all.keys()].toReversed(), name);
  if (ids.length > 1) {
    const rows = ids.map((id) => `${id}  ${all.get(id)?.text}`);
    throw ambiguous(name, rows, `${what}s`);
  }
  const [id] = ids;
  const found = id === undefined ? undefined : all.get(id);
  if (found === undefined)
    throw new UsageError(
      `there is no ${what} ${JSON.stringify(name)}; \`watchkeeper learn\` shows all of this repository`,
    );
  return found;
}

/** @returns the tags of all learnings: among them are the failures that some are about */
export function tagsOf({ learnings }: LearningsState): ReadonlySet<string> {
  return new Set([...learnings.values()].flatMap(({ tags }) => tags));
}

/** @returns the failures that came back in several sessions of a scope, and that no learning is about */
export function cameBack(state: LearningsState, scope: Scope): string[] {
  const known = tagsOf(state);
  return [...(state.failed.get(keyOf(scope)) ?? [])].flatMap(([id, sessions]) =>
    sessions.length >= CAME_BACK && !known.has(id) ? [id] : [],
  );
}
