/**
 * The agent of an ended session may stay in use in its window. A new session, which continues the ended one, records that work from
 * the start: no hook reports a prompt.
 */
import { isSameProcess, type ProcessIdentity } from '../../src/host/identity.js';
import type { Conversation, Run, Worklog } from '../fold/worklog.js';
import { closeAfter } from '../logs/scoped.js';
import { endMovedRun } from '../sessions/adoption.js';
import type { BoundConversation } from '../sessions/bindings.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Caller } from '../sessions/views.js';
import { type Starting, startConversation } from './conversationStart.js';

/** Goes on with the agents of a session that has ended. */
export type Continuing = Starting & Caller;

/**
 * @param ended just now
 * @returns the session that the caller's agent, else the last one, works in from now on; null if no agent is known to live here, or
 *   the session is of another directory
 */
export function continueAfter(memory: Continuing, ended: OpenSession): string | null {
  const { id, log } = ended;
  if (memory.isBridges || log.state.facts?.workspace !== memory.workspace.id) return null;
  const begun = windowsOf(memory, id, log.state).map(({ bound, transcript, agent }) => {
    const launch = { ...bound, source: 'bind', transcript, agent, launchedIn: null } as const;
    const { session } = startConversation(memory, launch);
    // A server that works for several windows is bound to no session, so its run is still open in the ended one.
    closeAfter(session.log, () => endMovedRun(memory, ended, agent, session.id));
    return session.id;
  });
  return begun[0] ?? null;
}

interface Window {
  readonly bound: BoundConversation;
  readonly transcript: string | null;
  readonly agent: ProcessIdentity;
}

/** @returns the windows of the session's living agents, the caller's first. Runs and conversations are paired, newest first */
function windowsOf(memory: Continuing, id: string, log: Worklog): Window[] {
  const { conversations, present } = log;
  const { bindings, conversation: own, agentProcess } = memory;
  const isOwn = ({ provider, id: name }: Conversation) => own?.provider === provider && own.conversation === name;
  const rank = (one: Conversation) => (isOwn(one) ? 2 : one === present ? 1 : 0);
  const open = conversations
    .filter(({ provider, id: name, moved_at }) => {
      return moved_at === null && bindings.sessionOf({ provider, conversation: name }) === id;
    })
    .reverse()
    .sort((left, right) => rank(right) - rank(left));
  const isCallers = ({ process }: Run) => agentProcess !== null && isSameProcess(process, agentProcess);
  const living = memory
    .runsOf(log)
    .alive.toReversed()
    .sort((left, right) => Number(isCallers(right)) - Number(isCallers(left)));
  return living.slice(0, open.length).flatMap(({ process }, index) => {
    const one = open[index];
    if (one === undefined) return [];
    return [{ bound: { provider: one.provider, conversation: one.id }, transcript: one.transcript, agent: process }];
  });
}
