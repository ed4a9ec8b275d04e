/** The parts that runs work with. */
import type { BridgeWorklogs } from '../../memory/sessions/bridgeWorklogs.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { AgentSession, DeathProof } from '../../src/jobs/model.js';
import type { Chat } from '../../src/jobs/ports.js';
import type { KnownEnd } from '../../src/jobs/sessionEnds.js';
import type { Redact } from '../../src/log/redact.js';
import type { Agent } from '../agents/program/contract.js';
import type { ProgressView } from '../chat/progressView.js';
import type { EnqueuedHandoffs } from '../handoffs/handoffs.js';
import type { WaitingSessions } from '../queue/pump.js';
import type { RunTarget } from './runProcesses.js';
import type { EndContext } from './storeEnd.js';

export interface RunSurroundings extends Pick<EndContext, 'store' | 'lanes' | 'forgotten'> {
  readonly logsId: string;
  readonly agents: { get(projectKey: string): Agent | undefined };
  readonly chat: Pick<Chat, 'showProgress'>;
  readonly display: Omit<ProgressView, 'describe'>;
  readonly directories: { mustWait(path: string): Promise<boolean>; follow(session: AgentSession): Promise<boolean> };
  readonly reaper: { watch(runId: string, pid?: number): Promise<void>; unwatch(runId: string): void };
  /** Aborts as soon as the bridge is asked to stop. */
  readonly leaving: AbortSignal;
  /** As in {@link SagaContext}. */
  endOnDisk(session: AgentSession): Promise<KnownEnd | null>;
}

export interface RunContext extends RunSurroundings, EndContext {
  readonly here: ProcessIdentity;
  readonly redact: Redact;
  readonly worklogs: BridgeWorklogs;
  readonly handoffs: Pick<EnqueuedHandoffs, 'take'>;
  readonly waiting: WaitingSessions;
  /** @param graceMs before SIGKILL, if not as configured @returns the proof that no process is left; null if one is */
  endProcesses(target: RunTarget, graceMs?: number): Promise<DeathProof | null>;
}
