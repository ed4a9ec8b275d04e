/** Runs that ended before anything was started, with the reason in words for a chat. */
import { basename } from 'node:path';
import { describeError, errorCode } from '../../../src/errors.js';
import type { AgentEnd, AgentEvent, AgentRun } from './contract.js';

/** The system's reasons why a program is missing or not executable, in words for a chat; any other failure may be temporary. */
const WHY_NOT_STARTED: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'was not found'],
  ['ENOTDIR', 'was not found'],
  ['EACCES', 'may not be executed'],
  ['ENOEXEC', 'is none that this system can execute'],
  ['E2BIG', 'takes the message as an argument, and it is too long for one'],
]);

/** Errors of a host that has too few processes, open files, memory or space on the disk at this moment. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'EDQUOT']);
/** The same in the words of the programs that start agents. */
const EXHAUSTED_WORDS =
  /resource temporarily unavailable|too many open files|cannot allocate memory|no space left on device|cannot fork|fork failed/i;
const TOO_LITTLE = "the agent's host has too few processes, files or memory left at this moment";

/** @returns whether the host lacks something now that it may have again later */
export function isExhausted(error: unknown): boolean {
  return EXHAUSTED.has(errorCode(error)) || EXHAUSTED_WORDS.test(describeError(error));
}

/** @returns the end of a run that could not begin because its host lacks something that comes back */
export function exhausted(forLog: string): AgentEnd {
  return { kind: 'failed', cause: 'host_exhausted', reason: 'run_failed_to_start', detail: TOO_LITTLE, forLog };
}

export function endedRun(end: AgentEnd | Promise<AgentEnd>): AgentRun {
  return { pid: null, events: only(end) };
}

/** @param forLog where to look @param cause `crash` if another attempt may find what this one missed */
export function failedToStart(
  detail: string,
  forLog?: string,
  cause: 'cannot_start' | 'crash' = 'cannot_start',
): AgentEnd {
  return { kind: 'failed', cause, reason: 'run_failed_to_start', detail, ...(forLog !== undefined && { forLog }) };
}

/** @param error why the system did not start it */
export function notStarted(command: string, error: unknown): AgentEnd {
  const code = errorCode(error);
  const detail = `the program ${basename(command)} ${WHY_NOT_STARTED.get(code) ?? 'cannot be started'}`;
  const forLog = `its program is ${command} (${code || describeError(error)})`;
  if (isExhausted(error)) return exhausted(forLog);
  return failedToStart(detail, forLog, WHY_NOT_STARTED.has(code) ? 'cannot_start' : 'crash');
}

async function* only(end: AgentEnd | Promise<AgentEnd>): AsyncGenerator<AgentEvent> {
  yield { type: 'end', end: await end };
}
