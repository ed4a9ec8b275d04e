/** Checks whether each project's agent is installed and can begin. */
import type { Project, Settings } from '../../src/config/settings.js';
import type { Agent, AgentCheckRequest } from '../agents/program/contract.js';
import { confinementOf, isHarmless, whyNotConfined, whyRefused } from '../agents/program/isolation.js';
import { createAgents } from '../agents/registry.js';
import { type CheckResult, ok, skipped } from './checkResult.js';

/** Each check may start an agent's program, which may be large. */
const MOST_AT_ONCE = 2;

export async function checkAgents(settings: Settings, quick: boolean, signal: AbortSignal): Promise<CheckResult[]> {
  const projects = [...settings.projects.values()].filter(({ isServedHere }) => isServedHere);
  const agents = createAgents(projects);
  const results: CheckResult[] = [];
  const waiting = projects.entries();
  const inTurn = async () => {
    for (const [place, project] of waiting) {
      const agent = agents.get(project.key);
      if (agent !== undefined) results[place] = await checkAgent(agent, settings, { project, quick }, signal);
    }
  };
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, inTurn));
  return results;
}

function requestFor(settings: Settings, { key, directory }: Project, quick: boolean): AgentCheckRequest {
  return {
    projectKey: key,
    workingDirectory: directory,
    environment: settings.agentEnvironment,
    user: settings.agentUser,
    confinement: confinementOf(settings, key),
    quick,
  };
}

async function checkAgent(
  agent: Agent,
  settings: Settings,
  { project, quick }: { readonly project: Project; readonly quick: boolean },
  signal: AbortSignal,
): Promise<CheckResult> {
  const name = `agent of ${project.key}`;
  const isRefused = !isHarmless(project) && whyRefused(project, settings, whyNotConfined(project, settings)) !== null;
  if (isRefused) return skipped(name, `not asked, because nothing would hold it: see isolation of ${project.key}`);
  const check = await agent.check?.(requestFor(settings, project, quick), signal);
  if (check === undefined) return ok(name, `${agent.kind}; it can only be checked while it works`);
  return { name, ...check };
}
