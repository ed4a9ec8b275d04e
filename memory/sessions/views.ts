/** Parts of a memory, named for the functions that need no more of it. */
import type { Memory } from './memory.js';

/** Sees how sessions are, from one process, and at its time. */
export type Viewer = Pick<
  Memory,
  | ('clock' | 'settings' | 'stamp' | 'surroundings' | 'programs')
  | ('places' | 'sessions' | 'workspace' | 'workspaceOf' | 'runsOf')
  | ('claims' | 'look')
>;

/** The agent whose shell runs a command, and what it is bound to. */
export type Caller = Pick<Memory, 'conversation' | 'agentProcess' | 'bindings' | 'otherRuns'>;

/** Moves sessions to the archive and back, while no other agent works on them. */
export type Archivist = Pick<
  Memory,
  'places' | 'claims' | 'stamp' | 'otherRuns' | 'workspace' | 'workspaceOf' | 'surroundings' | 'leftOut'
>;
