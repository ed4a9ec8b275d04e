/**
 * The agent `scripted`: a real child process that plays a scenario (scenario.ts). It needs no account, so it is there for
 * trying out the product, and for producing every fault that an agent can have.
 */
import { resolve } from 'node:path';
import { describeError } from '../../src/errors.js';
import { compiledProgram } from '../../src/host/program.js';
import { systemClock } from '../../src/time.js';
import type { Agent, AgentRequest } from './program/contract.js';
import { endedRun, failedToStart } from './program/notStarted.js';
import { startProgram } from './program/startProgram.js';
import { chooseScenario, readScenarioFile } from './scenario.js';

/** @param scenario path of a scenario file, read again for each run; without one, the default scenario is played */
export function createScriptedAgent(scenario?: string, baseFolder = '.'): Agent {
  const path = scenario === undefined ? null : resolve(baseFolder, scenario);
  return {
    kind: 'scripted',
    start(request, signal) {
      const { sessionId, runId, attempt, conversationId } = request;
      const about = [`--session=${sessionId}`, `--run=${runId}`, `--attempt=${attempt}`];
      if (conversationId !== null) about.push(`--conversation=${conversationId}`);
      try {
        about.push(...chosenScenario(path, request));
      } catch (error) {
        return endedRun(failedToStart(describeError(error), `its scenario is ${path}`));
      }
      const args = [compiledProgram('bridge/agents/scriptedMain'), ...about];
      return startProgram({ command: process.execPath, args }, request, signal, systemClock);
    },
    async check() {
      if (path === null) return { verdict: 'ok', found: 'scripted; it plays its friendly default', remedy: null };
      try {
        const { scenarios } = readScenarioFile(path);
        return { verdict: 'ok', found: `scripted; ${scenarios.length} scenarios in ${scenario}`, remedy: null };
      } catch (error) {
        const remedy = `correct ${path}, or the project's \`agent.scenario\``;
        return { verdict: 'fault', found: describeError(error), remedy };
      }
    },
  };
}

/** Checks the file here, so that its faults are reported in words and the child need not load the checking code. */
function chosenScenario(path: string | null, { prompt, attempt }: AgentRequest): string[] {
  const place = path === null ? null : chooseScenario(readScenarioFile(path), prompt, attempt);
  return place === null ? [] : [`--scenario=${path}`, `--place=${place}`];
}
