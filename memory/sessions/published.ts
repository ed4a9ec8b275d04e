/** The processes of agents of this host, as their programs publish them. The process table decides which of them live. */
import type { ProgramFolders, PublishedState } from '../../src/agents/agentProgram.js';
import { AGENT_PROGRAMS, isSupervisor } from '../../src/agents/programs.js';
import { publishedBy, publishedFile, publishedStates, publishedSupervised } from '../../src/agents/published.js';
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';
import { bootedAt, machineId } from '../../src/host/machine.js';
import { readArguments, showsOwnNamespace } from '../../src/host/procfs.js';
import { MINUTE } from '../../src/time.js';
import type { BoundConversation } from './bindings.js';

/** By how much the clock may have been corrected since the host was started. */
const CLOCK_SLACK_MS = 5 * MINUTE;
/** The boot of a process that ran before this host was started. It equals no boot's id. */
const EARLIER_BOOT = 'earlier';

export interface PublishedAgent extends BoundConversation {
  readonly process: ProcessIdentity;
  readonly state: PublishedState;
  /** False: its program did not end in order, because it would have removed what it published. */
  readonly isAlive: boolean;
}

/** @param here the identity of a process of this host */
export function publishedAgents(folders: ProgramFolders, here: ProcessIdentity): PublishedAgent[] {
  if (!showsOwnNamespace()) return [];
  const machine = machineId();
  return AGENT_PROGRAMS.flatMap((program) =>
    publishedStates(program, folders).flatMap((state) => agentOf(program.name, state, { here, machine }) ?? []),
  );
}

/** @returns what its program publishes of a living process; null if that is nothing, or the process is gone */
export function publishedAgent(
  folders: ProgramFolders,
  process: ProcessIdentity,
  here: ProcessIdentity,
): PublishedAgent | null {
  if (process.host !== here.host || process.pid_start === '' || !showsOwnNamespace()) return null;
  for (const program of AGENT_PROGRAMS) {
    const state = publishedBy(program, folders, process.pid);
    const agent = state === null ? null : agentOf(program.name, state, { here, machine: machineId() });
    if (agent?.isAlive && agent.process.pid_start === process.pid_start) return agent;
  }
  return null;
}

/** @returns the files that change when {@link publishedAgent} does */
export function publishedFiles(folders: ProgramFolders, { pid }: ProcessIdentity): string[] {
  return AGENT_PROGRAMS.flatMap((program) => publishedFile(program, folders, pid) ?? []);
}

/** @returns the conversations whose agents a program starts again, in a while, if they die */
export function startedAgain(folders: ProgramFolders): BoundConversation[] {
  return AGENT_PROGRAMS.flatMap((program) => {
    const supervised = publishedSupervised(program, folders);
    if (supervised === null || !isSupervisor(readArguments(supervised.supervisor))) return [];
    return supervised.conversations.map((conversation) => ({ provider: program.name, conversation }));
  });
}

/** @returns null for a process that cannot be seen from here: a home may be shared by hosts and containers, or the kernel does not answer */
function agentOf(
  provider: string,
  state: PublishedState,
  { here, machine }: { readonly here: ProcessIdentity; readonly machine: string | null },
): PublishedAgent | null {
  if (state.machine !== machine || state.pid_namespace !== here.pid_namespace) return null;
  const isEarlier = state.started_at < bootedAt() - CLOCK_SLACK_MS;
  const { pid, pid_start, conversation } = state;
  const process = { ...here, pid, pid_start, boot_id: isEarlier ? EARLIER_BOOT : here.boot_id };
  const isAlive = isProcessAlive(process, here);
  // If it is unknown now, a later look decides: otherwise a working agent would be recorded as killed.
  return isAlive === null ? null : { provider, conversation, process, state, isAlive };
}
