/** The doctor without a process of its own, for tests that let it look at one thing after the other. */
import { hostname } from 'node:os';
import { checkAgentOptions } from '../../../bridge/agents/options.js';
import { command } from '../../../bridge/cli/doctor.js';
import { programRunner } from '../../../bridge/command/runProgram.js';
import { SURROUNDING_VARIABLES } from '../../../memory/sessions/surroundings.js';
import { readSettings } from '../../../src/config/readSettings.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { systemClock } from '../../../src/time.js';
import { runCommand } from '../cli/inProcess.js';
import type { Said } from '../cli/program.js';

/** @param environment all of it */
export function doctorIn(
  directory: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Said> {
  const variables = Object.fromEntries(SURROUNDING_VARIABLES.map((name) => [name, environment[name]]));
  return runCommand(command, args, {
    readSettings: () =>
      readSettings({ environment, workingDirectory: directory, checkAgent: checkAgentOptions, onSecret: () => {} }),
    surroundings: { directory, process: readProcessIdentity(hostname()), variables },
    runProgram: programRunner(environment, systemClock),
  });
}
