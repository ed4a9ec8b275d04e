/**
 * The agent `scripted`: a real child process that plays a scenario (scenario.ts). It needs no account, so it is there for
 * trying out the product, and for producing every fault that an agent can have.
 */
import { resolve } from 'node:path';
import { describeError } from '../../src/errors.js';
import { compiledProgram } from '../../src/host/program.js';
import { type Clock, systemClock } from '../../src/time.js';
import type { Agent, AgentRequest } from './program/contract.js';
import { endedRun, failedToStart } from './program/notStarted.js';
import { startProgram } from './program/startProgram.js';
import { chooseScenario, readScenarioFile } from './scenario.js';

interface ScriptedSettings {
  /** Path of a scenario file; without one, the default scenario is played. */
  readonly scenario?: string;
  /** The base of a relative path; the current directory if absent. */
  readonly baseFolder?: string;
}

/** @returns the agent; its scenario file is read again for each run */
export function createScriptedAgent(settings: ScriptedSettings = {}, clock: Clock = systemClock): Agent {
  return {
    kind: 'scripted',
    start(request, signal) {
      let scenario: string[];
      try {
        scenario = scenarioArguments(settings, request);
      } catch (error) {
        return endedRun(failedToStart(describeError(error), `its scenario is ${pathOf(settings)}`));
      }
      const args = [compiledProgram('bridge/agents/scriptedMain'), ...scenario, ...requestArguments(request)];
      return startProgram({ command: process.execPath, args }, request, signal, clock);
    },
    async check() {
      const path = pathOf(settings);
      if (path === null) return { verdict: 'ok', found: 'scripted; it plays its friendly default', remedy: null };
      try {
        const { scenarios } = readScenarioFile(path);
        return {
          verdict: 'ok',
          found: `scripted; ${scenarios.length} scenarios in ${settings.scenario}`,
          remedy: null,
        };
      } catch (error) {
        const remedy = `correct ${path}, or the project's \`agent.scenario\``;
        return { verdict: 'fault', found: describeError(error), remedy };
      }
    },
  };
}

/** Checks the file here, so that its faults are reported in words and the child need not load the checking code. */
function scenarioArguments(settings: ScriptedSettings, request: AgentRequest): string[] {
  const path = pathOf(settings);
  if (path === null) return [];
  const place = chooseScenario(readScenarioFile(path), request.prompt, request.attempt);
  return place === null ? [] : [`--scenario=${path}`, `--place=${place}`];
}

function pathOf({ scenario, baseFolder = '.' }: ScriptedSettings): string | null {
  return scenario === undefined ? null : resolve(baseFolder, scenario);
}

function requestArguments(request: AgentRequest): string[] {
  const conversation = request.conversationId === null ? [] : [`--conversation=${request.conversationId}`];
  return [`--session=${request.sessionId}`, `--run=${request.runId}`, `--attempt=${request.attempt}`, ...conversation];
}
