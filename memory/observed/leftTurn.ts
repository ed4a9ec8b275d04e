/** A turn that did not end, in a conversation after which the session had another one: its agent was killed, or is at work elsewhere. */
import type { OpenCall } from './calls.js';

export interface LeftTurn {
  readonly conversation: string;
  /** When the agent was last seen in it, UTC epoch milliseconds. */
  readonly at: number;
  /** That were touched in it, and in no turn that ended later. */
  readonly files: readonly string[];
  /** Without a result. Empty once an agent has made calls of its own. */
  readonly calls: readonly OpenCall[];
}

/** Turns of one session that are remembered; the oldest is forgotten first. */
export const MOST_LEFT = 10;

export function leftTurn(
  conversation: string,
  at: number,
  { files, calls }: { readonly files: ReadonlySet<string>; readonly calls: readonly OpenCall[] },
): LeftTurn {
  return { conversation, at, files: [...new Set([...files, ...calls.flatMap(({ path }) => path ?? [])])], calls };
}

/** @returns the turn after a file was renamed: what it left half written is there under the new name */
export function withRenamed(turn: LeftTurn, from: string, to: string): LeftTurn {
  if (!turn.files.includes(from)) return turn;
  return { ...turn, files: [...new Set(turn.files.map((path) => (path === from ? to : path)))] };
}

/**
 * @param touched in a later turn, which has ended and made calls
 * @returns what is still left of the turn; nothing if it is done
 */
export function goneOnWith(turn: LeftTurn, touched: ReadonlySet<string>): LeftTurn[] {
  const files = turn.files.filter((path) => !touched.has(path));
  return files.length === 0 ? [] : [{ ...turn, files, calls: [] }];
}
