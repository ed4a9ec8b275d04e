/** The agent that has a step in progress. A person in a shell is none. */
import { isSameProcess, type ProcessIdentity } from '../../src/host/identity.js';
import { oneLine } from '../../src/log/visibleText.js';

/**
 * An agent's process; a conversation, if several of the program's windows may share one process. The process shows then, too, whether
 * the conversation has an agent.
 */
export type Holder =
  | { readonly process: ProcessIdentity; readonly conversation?: undefined }
  | { readonly conversation: Thread; readonly process?: ProcessIdentity | undefined };

interface Thread {
  readonly provider: string;
  readonly conversation: string;
}

/** The part of a step that says which agent has it. */
export interface Held {
  readonly holder: Holder | null;
  /** The name that the agent gave itself. Null if it gave none. */
  readonly agent: string | null;
}

/** @returns whether both are the same agent: neither the process (or the conversation) nor the name differs */
export function isSameAgent(left: Held, right: Held): boolean {
  return left.agent === right.agent && isSameHolder(left.holder, right.holder);
}

/**
 * @returns whether the caller may start the step although it is in progress: no other process is known to have it, and no agent of
 *   another name. A person started it, or an older program; or an orchestrator did without a name, and hands it to an agent of its process
 */
export function isFreeFor({ holder, agent }: Held, caller: Held): boolean {
  const isFree = holder === null || isSameHolder(holder, caller.holder);
  return isFree && (agent === null || agent === caller.agent);
}

/** @returns `process 123 (agent coder)` */
export function holderWords({ holder, agent }: Held): string {
  const name = agent === null ? '' : `agent ${agent}`;
  if (holder === null) return oneLine(name || 'a person');
  const what =
    holder.conversation === undefined
      ? `process ${holder.process.pid}`
      : `conversation ${holder.conversation.conversation} of ${holder.conversation.provider}`;
  return oneLine(name === '' ? what : `${what} (${name})`);
}

function isSameHolder(left: Holder | null, right: Holder | null): boolean {
  if (left === null || right === null) return left === right;
  if (left.conversation === undefined)
    return right.conversation === undefined && isSameProcess(left.process, right.process);
  if (right.conversation === undefined) return false;
  const [one, other] = [left.conversation, right.conversation];
  return one.provider === other.provider && one.conversation === other.conversation;
}
