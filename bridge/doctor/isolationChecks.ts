/** Checks the walls between each project's agents and the bridge, and the means to find their processes. */
import type { AgentUser } from '../../src/config/agentUser.js';
import type { Project, Settings } from '../../src/config/settings.js';
import { whyNotAs } from '../agents/program/agentUser.js';
import { isHarmless, isolationOf, WHAT_IS_OPEN, whyNotConfined, whyRefused } from '../agents/program/isolation.js';
import { findMarkingProgram, type MarkingProgram } from '../agents/program/markedLine.js';
import type { Trouble } from '../agents/program/sandbox.js';
import { type CheckResult, fault, ok, warning } from './checkResult.js';

/** @param troubleOf why no sandbox can hold a project's agents; null if one can */
export function checkIsolation(
  settings: Settings,
  troubleOf: (project: Project) => Trouble | null = (project) => whyNotConfined(project, settings),
): CheckResult[] {
  const here = [...settings.projects.values()].filter(({ isServedHere }) => isServedHere);
  return here.map((project) => checkProject(project, settings, troubleOf(project)));
}

function checkProject(project: Project, settings: Settings, trouble: Trouble | null): CheckResult {
  const name = `isolation of ${project.key}`;
  const isBoxed = isolationOf(project, trouble) === 'bubblewrap';
  if (settings.agentUser !== null && !isBoxed) return checkUser(name, settings.agentUser);
  if (project.isolation === 'none') return ok(name, `chosen: ${WHAT_IS_OPEN}`);
  if (!isBoxed && isHarmless(project)) return ok(name, 'its agent `scripted` plays a file and runs no other program');
  const refusal = whyRefused(project, settings, trouble);
  if (refusal !== null) return fault(name, `${refusal.why}; the bridge does not start`, refusal.remedy);
  if (!isBoxed) {
    const remedy = 'install bubblewrap, and allow user namespaces: docs/agents.md, "What an agent can reach"';
    return warning(name, `${trouble?.why}: ${WHAT_IS_OPEN}`, remedy);
  }
  const found =
    'bubblewrap isolates its agents from the bridge and from the home folder; network access is not restricted';
  return ok(name, found);
}

function checkUser(name: string, user: AgentUser): CheckResult {
  const trouble = whyNotAs(user);
  if (trouble !== null) return fault(name, trouble, 'see docs/agents.md, "Another user"; the bridge does not start');
  const found = `its agents are user ${user.uid}, which cannot access the bridge's files or processes; network access is not restricted`;
  return ok(name, found);
}

/** Checks whether agents can be given the marks that survive an emptied environment. */
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
