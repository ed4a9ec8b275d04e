/**
 * Gives an agent, before its first instruction, the marks that survive an emptied environment (src/host/marks.ts). Node cannot
 * set limits, so util-linux' `prlimit` is started instead, sets them on itself and becomes the agent.
 */
import { laneLimitOf, limitMarkOf } from '../../../src/host/marks.js';
import { LANE_MARK } from '../../../src/host/processes.js';
import { type CommandLine, systemProgram, tryOut } from './findProgram.js';

export interface MarkingProgram {
  readonly path: string;
  /** A lower limit on resident memory set by the operator leaves no room for the lane's mark. */
  readonly marksLanes: boolean;
}

let found: MarkingProgram | null | undefined;

/** @returns the program that sets limits, tried once in this process; null if none works here */
export function findMarkingProgram(): MarkingProgram | null {
  if (found !== undefined) return found;
  const path = systemProgram('prlimit');
  const works = (limits: readonly string[]) =>
    path !== null && tryOut({ command: path, args: [...limits, '--', path, '--version'] }).status === 0;
  const locks = `--locks=${limitMarkOf('')}:`;
  const marksLanes = works([locks, `--rss=${laneLimitOf('')}:`]);
  found = path !== null && (marksLanes || works([locks])) ? { path, marksLanes } : null;
  return found;
}

/** @param environment of the agent, with its lane's mark @returns the same line if this host cannot set limits */
export function markedLine(
  line: CommandLine,
  { runId, environment }: { readonly runId: string; readonly environment: Readonly<Record<string, string>> },
): CommandLine {
  const program = findMarkingProgram();
  if (program === null) return line;
  const lane = environment[LANE_MARK];
  const limits = [`--locks=${limitMarkOf(runId)}:`];
  if (lane !== undefined && program.marksLanes) limits.push(`--rss=${laneLimitOf(lane)}:`);
  return { command: program.path, args: [...limits, '--', line.command, ...line.args] };
}
