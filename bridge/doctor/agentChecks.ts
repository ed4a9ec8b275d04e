/** Whether each project's agent is there and can begin. */
import type { Settings } from '../../src/config/settings.js';
import { UsageError } from '../../src/errors.js';
import type { Agent } from '../agents/contract.js';
import { createAgents } from '../agents/registry.js';
import { type CheckResult, fault, ok } from './checkResult.js';

export async function checkAgents(
  { projects, agentEnvironment }: Settings,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  let agents: Map<string, Agent>;
  try {
    agents = createAgents(projects.values());
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [
      fault('agents', error.message, 'correct the `agent` of these projects; the bridge does not start until then'),
    ];
  }
  return Promise.all([...agents].map(([key, agent]) => checkAgent(key, agent, agentEnvironment, signal)));
}

async function checkAgent(
  key: string,
  agent: Agent,
  environment: Settings['agentEnvironment'],
  signal: AbortSignal,
): Promise<CheckResult> {
  const name = `agent of ${key}`;
  const check = await agent.check?.(environment, signal);
  if (check === undefined) return ok(name, `${agent.kind}; it can only be seen at work`);
  return check.remedy === null ? ok(name, check.found) : fault(name, check.found, check.remedy);
}
