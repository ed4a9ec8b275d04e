/**
 * Whether an agent's end is the work of the bridge's own shutdown. Who stops a service may signal all of its processes at
 * once, as systemd does by default: then agents end by the signal that the bridge itself only begins to act on.
 *
 * Limit: an agent that catches the signal, prints something and exits with code 0 has answered, as far as anybody can see.
 */
import { type Clock, SECOND } from '../../src/time.js';
import type { AgentEnd } from '../agents/program/contract.js';

/** The signals came in one moment; which process acted first is chance. */
const ORDER_MS = SECOND;

/** By a signal that asks to end, or with the exit code by which programs say that they have obeyed it. */
const ASKED_TO_END = /^run_failed_(?:signal_(?:SIGTERM|SIGINT|SIGHUP)|exit_(?:129|130|143))$/;

export interface Shutdown {
  /** Aborts as soon as the bridge is asked to stop. */
  readonly leaving: AbortSignal;
  readonly clock: Clock;
}

/**
 * @param end the agent's own, which nobody in the bridge had asked for
 * @returns true where the bridge is being stopped: a crash then says nothing of the agent. An agent that was asked to end
 *   is judged a moment later, because its bridge may be asked only after it
 */
export async function isEndedByShutdown(end: AgentEnd, { leaving, clock }: Shutdown): Promise<boolean> {
  if (end.kind !== 'failed' || end.cause !== 'crash' || end.reason === 'run_failed_to_start') return false;
  if (!leaving.aborted && ASKED_TO_END.test(end.reason)) await clock.sleep(ORDER_MS, leaving);
  return leaving.aborted;
}
