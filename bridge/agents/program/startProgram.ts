/** Starts an agent that is a program: a child in its own process group and session, with exactly the environment of the request. */
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { describeError, errorCode } from '../../../src/errors.js';
import type { Clock } from '../../../src/time.js';
import { lineOfUser } from './agentUser.js';
import type { AgentEnd, AgentRequest, AgentRun } from './contract.js';
import { type CommandLine, findProgram } from './findProgram.js';
import { withoutInherited } from './inheritedDescriptors.js';
import { markedLine } from './markedLine.js';
import { endedRun, exhausted, failedToStart, isExhausted, notStarted } from './notStarted.js';
import { type AgentChild, ProgramRun } from './programRun.js';
import type { AgentProgram } from './programStream.js';
import { sandboxedLine } from './sandbox.js';

const PIPES: ['pipe', 'pipe', 'pipe'] = ['pipe', 'pipe', 'pipe'];
/** The default of the C library, for a program without a PATH. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** @param signal sends SIGTERM to the program's group @returns a run with `run_failed_to_start` if it cannot be started */
export function startProgram(
  program: AgentProgram,
  request: AgentRequest,
  signal: AbortSignal,
  clock: Clock,
): AgentRun {
  if (signal.aborted) return endedRun({ kind: 'stopped' });
  const problem = badDirectory(request) ?? missingProgram(program, request);
  if (problem !== null) return endedRun(problem);
  let line: CommandLine;
  try {
    line = sandboxedLine(program, request);
  } catch (error) {
    const why = describeError(error);
    return endedRun(
      isExhausted(error) ? exhausted(why) : failedToStart('its sandbox cannot be prepared', why, 'crash'),
    );
  }
  const { command, args } = markedLine(lineOfUser(line, request.user), request);
  let child: AgentChild;
  try {
    child = spawn(command, args, {
      cwd: request.workingDirectory,
      env: request.environment,
      detached: true,
      stdio: withoutInherited(PIPES),
    });
  } catch (error) {
    return endedRun(notStarted(program.command, error));
  }
  // Registered at once: the error comes before the caller reads the events.
  const error = new Promise((resolve) => child.once('error', resolve));
  if (child.pid === undefined) return endedRun(error.then((late) => notStarted(program.command, late)));
  // A program that does not read its prompt closes the pipe; its exit says the rest.
  child.stdin.on('error', () => {});
  child.stdin.end(program.input ?? request.prompt);
  const run = new ProgramRun({ child, program, request, signal, clock });
  return { pid: child.pid, events: run.events() };
}

/** `spawn` reports a missing directory as if the program were missing. */
function badDirectory({ workingDirectory: path }: AgentRequest): AgentEnd | null {
  const forLog = `its working directory is ${path}`;
  try {
    if (statSync(path).isDirectory()) return null;
    return failedToStart('the working directory is not a directory', forLog, 'crash');
  } catch (error) {
    const code = errorCode(error);
    const detail = `the working directory ${code === 'ENOENT' ? 'was not found' : 'cannot be used'}`;
    return failedToStart(detail, code === '' ? forLog : `${forLog} (${code})`, 'crash');
  }
}

/** Checked first: the program that is started is `prlimit`, which would only exit with 127. */
function missingProgram(program: AgentProgram, { environment, workingDirectory }: AgentRequest): AgentEnd | null {
  const { kind } = findProgram(program.command, environment.PATH ?? DEFAULT_PATH, workingDirectory);
  if (kind === 'found') return null;
  return notStarted(program.command, { code: kind === 'not_found' ? 'ENOENT' : 'EACCES' });
}
