/** Parts of a memory, named for the functions that need no more of it. */
import type { Memory } from './memory.js';

/** Sees how sessions are, from one process, and at its time. */
export type Viewer = Pick<
  Memory,
  | ('clock' | 'settings' | 'stamp' | 'surroundings' | 'programs')
  | ('places' | 'isBridges' | 'sessions' | 'workspace' | 'workspaceOf' | 'runsOf')
  | ('claims' | 'look')
>;

/** The agent whose shell runs a command, and what it is bound to. */
export type Caller = Pick<Memory, 'surroundings' | 'conversation' | 'agentProcess' | 'bindings' | 'otherRuns'>;

/** Understands the words of a caller: the session that it names or implies, and the paths that it types. */
export type Listener = Pick<Memory, 'which' | 'implied' | 'holder' | 'unclear' | 'pathOf'>;

/** Moves sessions to the archive and back, while no other agent works on them. */
export type Archivist = Viewer & Pick<Memory, 'otherRuns' | 'leftOut'>;
