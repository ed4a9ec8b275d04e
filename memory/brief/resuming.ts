/** How to resume a session. */
import { existsSync } from 'node:fs';
import { programNamed } from '../../src/agents/programs.js';
import { isoTime } from '../../src/time.js';
import { presentConversation, runWords } from '../fold/runs.js';
import type { Conversation, Worklog } from '../fold/worklog.js';
import { lastDirectory } from '../look/presentDirectory.js';
import { transcriptOf } from '../observed/programFolders.js';
import { isInAgent } from '../sessions/adoption.js';
import { startedAgain } from '../sessions/published.js';
import type { Caller, Viewer } from '../sessions/views.js';
import { wayBackTo } from '../show/directory.js';
import { Words } from './observedSections.js';

/** How a reader resumes a session. */
export interface WayToResume {
  /** For a shell. Null if only an agent can run it. */
  readonly command: string | null;
  /** Sentences. */
  readonly further: readonly string[];
}

/**
 * @param name the session's id, quoted if it is not plain
 * @returns the command that resumes it, by the session's state
 */
export function resumeCommand({ session_id, lifecycle, archived, facts }: Worklog, name = session_id): string {
  if (lifecycle === 'ended') return `watchkeeper work reopen ${name}`;
  if (archived !== null || facts?.concurrent === true || facts?.explicit === false)
    return `watchkeeper work continue ${name}`;
  // The reader may be in a directory that another session holds.
  return `watchkeeper track init --resume --session ${name}`;
}

/** Sees a session for a caller who may resume it. */
export type Resuming = Viewer & Caller;

/** @returns how the caller resumes the session. A command moves the agent of its shell; a shell without one needs another way */
export function wayToResume(memory: Resuming, log: Worklog): WayToResume {
  const words = new Words(memory.stamp.redact);
  const command = resumeCommand(log, words.name(log.session_id ?? ''));
  if (memory.isBridges || isInAgent(memory) || log.lifecycle === 'ended') return { command, further: [] };
  const [other] = memory.otherRuns(log);
  if (other !== undefined) return { command: null, further: [`It has an agent: ${runWords(other, isoTime)}.`] };
  if (memory.runsOf(log).isLost && isStartedAgain(memory, log))
    return {
      command: null,
      further: ['Its program starts the agent again by itself, so leave it alone for a minute.'],
    };
  const conversation = conversationOf(memory, log);
  const place = placeOf(memory, conversation) ?? (memory.workspaceOf(log) ?? memory.workspace).root;
  const isThere = existsSync(place);
  const directory = words.path(place);
  const back =
    conversation === undefined || !isThere
      ? []
      : [
          `Or go on with its conversation, in ${directory}: ${programNamed(conversation.provider)?.resume} ${words.name(conversation.id)}`,
        ];
  if (log.facts?.explicit !== false) return { command, further: back };
  const another =
    wayBackTo(memory, log, place) === null
      ? `another directory, because ${directory} does not exist any more`
      : `${directory} once that is back, or in another directory`;
  const where = isThere ? directory : another;
  return {
    command: null,
    further: [`Start an agent in ${where}. To go on with the session, it runs: ${command}`, ...back],
  };
}

/**
 * A program finds a conversation only where it was held. When its agent enters a worktree, it is held there.
 * @returns null if that is not known
 */
function placeOf({ claims, surroundings }: Viewer, conversation: Conversation | undefined): string | null {
  if (conversation === undefined) return null;
  const { variables } = surroundings;
  const { cwd } = conversation;
  const last = lastDirectory(conversation, variables);
  if (last === null || !existsSync(last)) return last ?? cwd;
  const { id, root } = claims.workspaceOf(last, variables);
  return cwd !== null && claims.workspaceOf(cwd, variables).id === id ? cwd : root;
}

function isStartedAgain({ surroundings }: Viewer, { conversations }: Worklog): boolean {
  const again = startedAgain(surroundings.variables);
  return conversations.some(({ provider, id }) =>
    again.some((one) => one.provider === provider && one.conversation === id),
  );
}

/** @returns the conversation of the agent that crashed, or else the last one; only one that its program can resume */
function conversationOf(memory: Viewer, log: Worklog): Conversation | undefined {
  const known = log.conversations.filter(
    (one) =>
      one.moved_at === null && programNamed(one.provider) !== null && transcriptOf(one, memory.surroundings.variables),
  );
  const present = presentConversation(log, memory.runsOf(log));
  return known.find((one) => one === present) ?? known.at(-1);
}
