/** Checks whether each project's agent is installed and can begin. */
import type { Project, Settings } from '../../src/config/settings.js';
import type { Agent, AgentCheckRequest } from '../agents/program/contract.js';
import { createAgents } from '../agents/registry.js';
import { type CheckResult, ok } from './checkResult.js';

/** Each check may start an agent's program, which may be large. */
const MOST_AT_ONCE = 2;

/** @param quick whether to check files only */
export async function checkAgents(settings: Settings, quick: boolean, signal: AbortSignal): Promise<CheckResult[]> {
  const projects = [...settings.projects.values()].filter(({ isServedHere }) => isServedHere);
  const agents = createAgents(projects);
  const { agentEnvironment: environment, agentUser: user } = settings;
  const results: CheckResult[] = [];
  const waiting = projects.entries();
  const inTurn = async () => {
    for (const [place, project] of waiting) {
      const agent = agents.get(project.key);
      if (agent !== undefined) results[place] = await checkAgent(project, agent, { environment, user, quick }, signal);
    }
  };
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, inTurn));
  return results;
}

async function checkAgent(
  { key, directory }: Project,
  agent: Agent,
  look: Omit<AgentCheckRequest, 'workingDirectory'>,
  signal: AbortSignal,
): Promise<CheckResult> {
  const name = `agent of ${key}`;
  const check = await agent.check?.({ ...look, workingDirectory: directory }, signal);
  if (check === undefined) return ok(name, `${agent.kind}; it can only be checked while it works`);
  return { name, ...check };
}
