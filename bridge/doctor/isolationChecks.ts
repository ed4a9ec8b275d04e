/** What keeps each project's agents away from the bridge, and what their processes are found by. */
import type { AgentUser } from '../../src/config/agentUser.js';
import type { Settings } from '../../src/config/settings.js';
import { whyNotAs } from '../agents/program/agentUser.js';
import { isolationOf, WHAT_IS_OPEN } from '../agents/program/isolation.js';
import { findMarkingProgram, type MarkingProgram } from '../agents/program/markedLine.js';
import { whyNoSandbox } from '../agents/program/sandbox.js';
import { type CheckResult, fault, ok, warning } from './checkResult.js';

/** @param trouble why bubblewrap does not work here; null if it does */
export function checkIsolation(
  { projects, agentUser }: Settings,
  trouble: string | null = whyNoSandbox(),
): CheckResult[] {
  const here = [...projects.values()].filter(({ isServedHere }) => isServedHere);
  return here.map((project) => {
    const name = `isolation of ${project.key}`;
    const isBoxed = isolationOf(project, trouble) === 'bubblewrap';
    if (agentUser !== null && !isBoxed) return checkUser(name, agentUser);
    if (project.isolation === 'none') return ok(name, `chosen: ${WHAT_IS_OPEN}`);
    if (!isBoxed) {
      const remedy = 'install bubblewrap, and allow user namespaces: docs/agents.md, "What an agent can reach"';
      return warning(name, `${trouble}: ${WHAT_IS_OPEN}`, remedy);
    }
    if (trouble !== null)
      return fault(name, `${trouble}; the bridge does not start`, 'fix that, or set `"isolation": "none"`');
    return ok(name, 'bubblewrap isolates its agents from the bridge; network access is not restricted');
  });
}

function checkUser(name: string, user: AgentUser): CheckResult {
  const trouble = whyNotAs(user);
  if (trouble !== null) return fault(name, trouble, 'see docs/agents.md, "Another user"; the bridge does not start');
  const found = `its agents are user ${user.uid}, which cannot access the bridge's files or processes; network access is not restricted`;
  return ok(name, found);
}

/**
 * Checks whether agents can be given the marks that survive an emptied environment.
 * @param program that sets them; searched for by default
 */
export function checkMarks(program: MarkingProgram | null = findMarkingProgram()): CheckResult[] {
  const name = 'marks of agents';
  if (program?.marksLanes) return [ok(name, 'every process of a run is marked by its environment and by its limits')];
  if (program !== null) {
    const found = 'runs are marked by a limit, lanes are not: RLIMIT_RSS is set lower for the bridge';
    return [warning(name, found, "remove the limit (`ulimit -Hm unlimited`, or the unit's LimitRSS)")];
  }
  const found =
    'prlimit does not work here: a process that clears its environment and leaves its session cannot be found';
  return [warning(name, found, 'install util-linux, so that the end of every run can be verified')];
}
