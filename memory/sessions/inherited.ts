/** A shell, a service or a terminal's server may have inherited the variables of an agent that is gone, or works elsewhere. */
import { AGENT_PROGRAMS } from '../../src/agents/programs.js';
import { isProcessAlive } from '../../src/host/identity.js';
import type { Bindings, BoundConversation } from './bindings.js';
import { isAbove } from './bridgeRun.js';
import type { OpenSession } from './sessions.js';
import type { Surroundings } from './surroundings.js';

interface Calling {
  readonly surroundings: Surroundings;
  readonly conversation: BoundConversation | null;
  readonly bindings: Pick<Bindings, 'sessionOf'>;
}

/**
 * @param session that a caller means who names none
 * @returns for the caller, in a sentence, that a variable named it, although its agent is not above the process. Nothing if that one is,
 *   if it cannot be seen, or if something else named it
 */
export function inheritedFrom(memory: Calling, { id, log }: OpenSession): string[] {
  const { surroundings, bindings } = memory;
  const { process: here, variables } = surroundings;
  const isNamed = AGENT_PROGRAMS.some(({ conversationVariable }) => variables[conversationVariable]);
  const conversation = isNamed ? memory.conversation : null;
  const isBound = conversation !== null && bindings.sessionOf(conversation) === id;
  const named = AGENT_PROGRAMS.find(({ name }) => isBound && name === conversation.provider)?.conversationVariable;
  const variable = variables.WATCHKEEPER_SESSION === id ? 'WATCHKEEPER_SESSION' : named;
  const { runs } = log.state;
  if (variable === undefined || runs.length === 0) return [];
  const isElsewhere = runs.every(({ process }) => {
    const isAlive = isProcessAlive(process, here);
    return isAlive === false || (isAlive && isAbove(process, here.pid, here) === false);
  });
  if (!isElsewhere) return [];
  return [`session ${id} is meant, because ${variable} names it; its agent is not the one whose shell this is`];
}
