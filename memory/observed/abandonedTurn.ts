/** A turn that did not end, before others of the session: its agent was killed, or is at work elsewhere. */
import { basename } from 'node:path';
import type { OpenCall } from './calls.js';
import { type Working, writtenInHand } from './inHand.js';
import type { WrittenFile } from './shellWrites.js';

export interface AbandonedTurn {
  readonly conversation: string;
  /** When the agent was last seen in it, UTC epoch milliseconds. */
  readonly at: number;
  /** Touched in it, and in no turn that ended later. */
  readonly files: readonly string[];
  /** Those of them that commands of a shell were writing. */
  readonly written: readonly WrittenFile[];
  /** Without a result. Empty once an agent has made calls of its own. */
  readonly calls: readonly OpenCall[];
}

/** Turns of one session that are remembered; the oldest is forgotten first. */
const MOST_LEFT = 10;

export function abandonedTurn(
  conversation: string,
  at: number,
  working: Pick<Working, 'touched' | 'shell' | 'openCalls'>,
): AbandonedTurn {
  const [calls, written] = [working.openCalls(), writtenInHand(working)];
  const called = [...calls.flatMap(({ path }) => path ?? []), ...written.map(({ path }) => path)];
  return { conversation, at, files: [...new Set([...working.touched, ...called])], written, calls };
}

/** @returns the turn after a file was renamed: a half-written file has the new name */
export function withRenamed(turn: AbandonedTurn, from: string, to: string): AbandonedTurn {
  if (!turn.files.includes(from)) return turn;
  return { ...turn, files: [...new Set(turn.files.map((path) => (path === from ? to : path)))] };
}

/** A turn that has ended and made calls. */
interface LaterTurn {
  /** Null if it was cut off, too: then it settles only what it has changed. */
  readonly conversation: string | null;
  /** The files that it changed. */
  readonly touched: ReadonlySet<string>;
  /** Files of turns that were left, which it read or named in a command. */
  readonly looked: readonly string[];
}

/**
 * An agent that continues the same conversation knows what it left half done: once it has changed anything, or looked at one of those
 * files, they are in its hands. One that only answers a question has left them as they were.
 * @returns the turn with the files that the later one has not dealt with; nothing if there are none
 */
export function restAfter(turn: AbandonedTurn, { conversation, touched, looked }: LaterTurn): AbandonedTurn[] {
  const isSame = conversation === turn.conversation;
  if (isSame && (touched.size > 0 || turn.files.some((path) => looked.includes(path)))) return [];
  const files = turn.files.filter((path) => !touched.has(path));
  return files.length === 0 ? [] : [{ ...turn, files, calls: [] }];
}

/** @returns the files of the turns whose names are in the command */
export function namedIn(command: string | null, turns: readonly AbandonedTurn[]): string[] {
  if (command === null) return [];
  return turns.flatMap(({ files }) => files).filter((path) => command.includes(basename(path)));
}

/** A turn that seems to have been cut off, because a prompt came before its end. */
export interface CutTurn {
  readonly turn: AbandonedTurn;
  /** The prompt's instant, UTC epoch milliseconds. */
  readonly at: number;
}

/** Claude Code 2.1.329 writes these lines within 30 ms. */
const STOPPED_WITHIN_MS = 2_000;

/**
 * Orders that wait are written before the line which says that a person stopped the agent.
 * @param at of that line, UTC epoch milliseconds
 * @returns the turns without the one that it stopped
 */
export function unlessStopped(
  turns: readonly AbandonedTurn[],
  cut: CutTurn | null,
  at: number,
): readonly AbandonedTurn[] {
  return cut === null || at - cut.at >= STOPPED_WITHIN_MS ? turns : turns.filter((turn) => turn !== cut.turn);
}

/** @returns the turns with one more; the oldest are forgotten */
export function left(turns: readonly AbandonedTurn[], turn: AbandonedTurn): AbandonedTurn[] {
  return [...turns, turn].slice(-MOST_LEFT);
}
