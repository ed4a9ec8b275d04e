/**
 * The agent of a session that has ended may go on in the same window. What it is asked then is recorded in a session of its own, which
 * continues the ended one: no hook says when somebody asks something.
 */
import { isProcessAlive } from '../../src/host/identity.js';
import { presentRun } from '../fold/crash.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { startConversation } from './conversationStart.js';

/**
 * @param session that has just ended
 * @returns the session in which its agent goes on; null: no agent is known to live here, or its session is of another directory
 */
export function goOnAfter(memory: Memory, { id, log: { state } }: OpenSession): string | null {
  const run = memory.isBridges ? null : presentRun(state.runs, memory.surroundings.process);
  const conversation = state.present;
  if (run === null || run.ended_at !== null || conversation === null || conversation.moved_at !== null) return null;
  if (isProcessAlive(run.process, memory.surroundings.process) !== true) return null;
  const bound = { provider: conversation.provider, conversation: conversation.id };
  if (memory.bindings.sessionOf(bound) !== id || state.facts?.workspace !== memory.workspace.id) return null;
  const { transcript } = conversation;
  const launch = { ...bound, source: 'bind', transcript, agent: run.process, launchedIn: null } as const;
  const { session } = startConversation(memory, launch);
  session.log.close();
  return session.id;
}
