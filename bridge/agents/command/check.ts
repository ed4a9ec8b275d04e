/** The doctor's check of the agent `command`: is the program there, and does its own check, if it has one, succeed? */
import { basename } from 'node:path';
import { createRedactor } from '../../../src/log/redact.js';
import { lastOf } from '../../../src/log/shorten.js';
import { type Clock, SECOND } from '../../../src/time.js';
import type { AgentCheck, AgentCheckRequest } from '../program/contract.js';
import { findProgram } from '../program/findProgram.js';
import { asAgent, type ProbeEnd, runProbe } from '../program/probe.js';
import type { CommandOptions } from './settings.js';

const CHECK_LIMIT_MS = 20 * SECOND;
const QUOTED_LENGTH = 200;

export async function checkCommand(
  { command: [program = ''], check }: CommandOptions,
  request: AgentCheckRequest,
  signal: AbortSignal,
  clock: Clock,
): Promise<AgentCheck> {
  const missing = complainOfProgram(program, request);
  if (missing !== null) return missing;
  const found = `${basename(program)} is there`;
  if (check === undefined) {
    return { verdict: 'ok', found: `${found}; whether it is logged in is only seen at work`, remedy: null };
  }
  const [checker = '', ...args] = check;
  const missingChecker = complainOfProgram(checker, request);
  if (missingChecker !== null) return missingChecker;
  if (request.quick) return { verdict: 'ok', found, remedy: null };
  const redact = createRedactor(secretsIn(request.environment));
  const end = await runProbe({ ...request, command: checker, args, limitMs: CHECK_LIMIT_MS, redact }, signal, clock);
  const asked = `\`${check.join(' ')}\``;
  if (end.kind === 'exited' && end.code === 0) {
    return { verdict: 'ok', found: `${found}, and ${asked} says that it can begin`, remedy: null };
  }
  return {
    verdict: 'fault',
    found: `${found}, but ${asked} ${describeEnd(end)}`,
    remedy: `log in as the project's agents do, or name what it lacks in AGENT_ENV, until \`${asAgent(request, check)}\` exits with 0`,
  };
}

function complainOfProgram(name: string, { environment, workingDirectory }: AgentCheckRequest): AgentCheck | null {
  const program = findProgram(name, environment.PATH ?? '', workingDirectory);
  if (program.kind === 'found') return null;
  if (program.kind === 'not_executable') {
    return {
      verdict: 'fault',
      found: `${program.path} may not be executed by the bridge's user`,
      remedy: `\`chmod +x ${program.path}\`, or name another program in the project's \`agent\``,
    };
  }
  return {
    verdict: 'fault',
    found: name.includes('/') ? `${name} is not there` : `${name} is not on the PATH that agents inherit`,
    remedy: "install it for the bridge's user, or put its whole path into the project's `agent`",
  };
}

/** The environment's values whose names suggest a secret. */
function secretsIn(environment: AgentCheckRequest['environment']): string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    /KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL/i.test(name) ? [value] : [],
  );
}

function describeEnd(end: ProbeEnd): string {
  if (end.kind === 'late') return `does not end within ${CHECK_LIMIT_MS / SECOND} s`;
  if (end.kind === 'not_started') return `cannot be started (${end.why})`;
  const words = lastOf(end.output.replace(/[\s\p{Cc}]+/gu, ' '), QUOTED_LENGTH).trim();
  const how = end.code === null ? 'was ended by a signal' : `exits with ${end.code}`;
  return words === '' ? how : `${how}: ${words}`;
}
