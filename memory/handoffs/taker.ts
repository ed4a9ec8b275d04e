/**
 * The worker that has a handoff. A session is one worker, and a person who types in its directory is another one. Without a session, an
 * agent is known by its process or conversation, and a person by the account: two shells of one account cannot be told apart.
 */
import { accountName, terminalName } from '../../src/host/account.js';
import { firstAttemptId } from '../../src/ids.js';
import { type Holder, isSameAgent } from '../fold/holder.js';
import type { Surroundings } from '../sessions/surroundings.js';
import type { Origin } from '../words.js';
import type { Answer, AnsweredFrom } from './kind.js';

export interface Taker {
  readonly session_id: string | null;
  /** Null for a person, or if the agent's process is unknown. */
  readonly holder: Holder | null;
  readonly origin: Origin;
  /** Of its workspace. */
  readonly workspace: string;
}

/** @returns what lets people of one account recognise their own answer */
export function answeredFrom({ directory }: Pick<Surroundings, 'directory'>): AnsweredFrom {
  return { user: accountName(), directory, terminal: terminalName() };
}

/** @param taker the worker that asks @returns whether that worker gave the answer */
export function isSameWorker(answer: Answer, taker: Taker): boolean {
  const { session_id, holder, origin, workspace } = taker;
  const isPerson = origin === 'person';
  if (!isSameMessage(answer.session_id, session_id) || (answer.origin === 'person') !== isPerson) return false;
  if (isPerson) return answer.by?.user === accountName();
  if (session_id !== null) return true;
  const isSame = isSameAgent({ holder: answer.holder, agent: null }, { holder, agent: null });
  return isSame && (holder !== null || answer.workspace === workspace);
}

/** Both attempts at a message of the bridge are one worker. */
function isSameMessage(one: string | null, other: string | null): boolean {
  return one === null || other === null ? one === other : firstAttemptId(one) === firstAttemptId(other);
}
