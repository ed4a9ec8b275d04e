/**
 * Decides whether an agent ended because of the bridge's own shutdown. A service manager may signal all processes at once, as
 * systemd does by default. Agents then end by the same signal that the bridge is only beginning to handle.
 *
 * Limit: an agent that catches the signal, prints something and exits with code 0 counts as having answered.
 */
import { type Clock, SECOND } from '../../src/time.js';
import type { AgentEnd } from '../agents/program/contract.js';

/** The signals arrive together; which process acts first is chance. */
const ORDER_MS = SECOND;

/** Ended by a termination signal, or with the exit code by which programs report that they obeyed one. */
const ASKED_TO_END = /^run_failed_(?:signal_(?:SIGTERM|SIGINT|SIGHUP)|exit_(?:129|130|143))$/;

export interface Shutdown {
  /** Aborts as soon as the bridge is asked to stop. */
  readonly leaving: AbortSignal;
  readonly clock: Clock;
}

/**
 * @param end the agent's own end, which nothing in the bridge had requested
 * @returns true if the bridge is stopping: a crash then says nothing about the agent. An agent that ended by a termination
 *   signal is judged a moment later, because the bridge may get its signal only after it
 */
export async function isEndedByShutdown(end: AgentEnd, { leaving, clock }: Shutdown): Promise<boolean> {
  if (end.kind !== 'failed' || end.cause !== 'crash' || end.reason === 'run_failed_to_start') return false;
  if (!leaving.aborted && ASKED_TO_END.test(end.reason)) await clock.sleep(ORDER_MS, leaving);
  return leaving.aborted;
}
