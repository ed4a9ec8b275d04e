/** Checks whether agents can be given the marks that survive an emptied environment. */
import { findMarkingProgram, type MarkingProgram } from '../agents/program/markedLine.js';
import { type CheckResult, ok, warning } from './checkResult.js';

/** @param program that sets them; searched for by default */
export function checkMarks(program: MarkingProgram | null = findMarkingProgram()): CheckResult[] {
  const name = 'marks of agents';
  if (program?.marksLanes) return [ok(name, 'every process of a run is marked by its environment and by its limits')];
  if (program !== null) {
    const found = 'runs are marked by a limit, lanes are not: RLIMIT_RSS is set lower for the bridge';
    return [warning(name, found, "take the limit away (`ulimit -Hm unlimited`, or the unit's LimitRSS)")];
  }
  const found = 'prlimit does not work here: a tool that empties its environment and leaves its session is not found';
  return [warning(name, found, 'install util-linux, so that the end of every run can be proven')];
}
