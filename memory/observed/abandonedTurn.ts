/** A turn that did not end, in an earlier conversation of the session: its agent was killed, or is at work elsewhere. */
import type { OpenCall } from './calls.js';

export interface AbandonedTurn {
  readonly conversation: string;
  /** When the agent was last seen in it, UTC epoch milliseconds. */
  readonly at: number;
  /** Touched in it, and in no turn that ended later. */
  readonly files: readonly string[];
  /** Without a result. Empty once an agent has made calls of its own. */
  readonly calls: readonly OpenCall[];
}

/** Turns of one session that are remembered; the oldest is forgotten first. */
export const MOST_LEFT = 10;

export function abandonedTurn(
  conversation: string,
  at: number,
  { files, calls }: { readonly files: ReadonlySet<string>; readonly calls: readonly OpenCall[] },
): AbandonedTurn {
  return { conversation, at, files: [...new Set([...files, ...calls.flatMap(({ path }) => path ?? [])])], calls };
}

/** @returns the turn after a file was renamed: a half-written file has the new name */
export function withRenamed(turn: AbandonedTurn, from: string, to: string): AbandonedTurn {
  if (!turn.files.includes(from)) return turn;
  return { ...turn, files: [...new Set(turn.files.map((path) => (path === from ? to : path)))] };
}

/**
 * @param touched in a later turn, which has ended and made calls
 * @returns the turn with the files that no later turn has touched; nothing if there are none
 */
export function restAfter(turn: AbandonedTurn, touched: ReadonlySet<string>): AbandonedTurn[] {
  const files = turn.files.filter((path) => !touched.has(path));
  return files.length === 0 ? [] : [{ ...turn, files, calls: [] }];
}
