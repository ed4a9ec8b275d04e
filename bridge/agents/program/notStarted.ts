/** Runs that ended before anything was started, with the reason in words for a chat. */
import { basename } from 'node:path';
import { errorCode } from '../../../src/errno.js';
import { describeError } from '../../../src/errors.js';
import type { AgentEnd, AgentEvent, AgentRun } from './contract.js';

/** The system's reasons why a program is missing or not executable, in words for a chat; any other failure may be temporary. */
const WHY_NOT_STARTED: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'was not found'],
  ['ENOTDIR', 'was not found'],
  ['EACCES', 'may not be executed'],
  ['ENOEXEC', 'is none that this system can execute'],
  ['E2BIG', 'takes the message as an argument, and it is too long for one'],
]);

/** @returns a run that was stopped before it began */
export function stoppedBefore(): AgentRun {
  return { pid: null, events: only({ kind: 'stopped' }) };
}

/**
 * @param forLog where on this host to look
 * @param cause `crash` if another attempt may find what this one missed
 * @returns a run that ended before anything was started
 */
export function failedToStart(
  detail: string,
  forLog?: string,
  cause: 'cannot_start' | 'crash' = 'cannot_start',
): AgentRun {
  const end: AgentEnd = { kind: 'failed', cause, reason: 'run_failed_to_start', detail };
  return { pid: null, events: only(forLog === undefined ? end : { ...end, forLog }) };
}

/** @param error why the system did not start it */
export function notStarted(command: string, error: unknown): AgentRun {
  return { pid: null, events: only(notStartedEnd(command, error)) };
}

/** Like {@link notStarted}, for an error that comes after `spawn` has returned. */
export function notStartedLate(command: string, error: Promise<unknown>): AgentRun {
  const events = async function* () {
    yield* only(notStartedEnd(command, await error));
  };
  return { pid: null, events: events() };
}

/** @param error why the system did not start it */
export function notStartedEnd(command: string, error: unknown): AgentEnd {
  const code = errorCode(error);
  const detail = `the program ${basename(command)} ${WHY_NOT_STARTED.get(code) ?? 'cannot be started'}`;
  const forLog = `its program is ${command} (${code || describeError(error)})`;
  const cause = WHY_NOT_STARTED.has(code) ? 'cannot_start' : 'crash';
  return { kind: 'failed', cause, reason: 'run_failed_to_start', detail, forLog };
}

async function* only(end: AgentEnd): AsyncGenerator<AgentEvent> {
  yield { type: 'end', end };
}
