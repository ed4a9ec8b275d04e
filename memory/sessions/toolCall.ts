/** The conversation of the agent that calls a tool. */
import { isSameProcess } from '../../src/host/identity.js';
import type { Bindings, BoundConversation } from './bindings.js';
import type { OpenSession } from './sessions.js';
import type { ToolCall } from './surroundings.js';

interface Known {
  readonly bindings: Pick<Bindings, 'sessionOf'>;
  look(id: string): OpenSession | null;
}

/**
 * @param started the conversation that the variables of the server name. A person may have left it after the start
 * @returns the thread that the call names; else the present conversation of the agent's process, as its hooks have reported it; else, if
 *   they have reported nothing of the process, the one of the server's start. Null if none is known
 */
export function conversationOfCall(
  memory: Known,
  { thread, agent }: ToolCall,
  started: BoundConversation | null,
): BoundConversation | null {
  if (thread !== null) return thread;
  const id = agent === null ? null : memory.bindings.sessionOf({ process: agent });
  if (agent === null || id === null) return started;
  const own = memory
    .look(id)
    ?.log.state.conversations.findLast(
      ({ moved_at, process }) => moved_at === null && process !== null && isSameProcess(process, agent),
    );
  return own === undefined ? null : { provider: own.provider, conversation: own.id };
}
