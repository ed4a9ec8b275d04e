/** The facts of a session for a context: its record, the reader's place and time, and what is seen of the session from there. */
import type { MemorySettings } from '../../src/config/memorySettings.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Redact } from '../../src/log/redact.js';
import type { AgentCondition } from '../condition/condition.js';
import type { DoubtfulFile } from '../condition/filesInDoubt.js';
import type { Note, Worklog } from '../fold/worklog.js';
import type { Look } from '../look/look.js';
import type { SettledFile } from '../look/settledSince.js';
import type { Locating } from '../look/standing.js';
import type { Observed } from '../observed/observed.js';
import type { LeftProcess } from '../sessions/leftProcesses.js';
import type { Viewer } from '../sessions/views.js';
import { placeNow } from '../show/directory.js';
import { type Changing, changesSince } from './changesSince.js';
import { Words } from './observedSections.js';

export interface SessionView {
  readonly log: Worklog;
  /** Null if nothing was observed. */
  readonly fold: Observed | null;
  /** UTC epoch milliseconds. */
  readonly now: number;
  /** The folder of the session's workspace, without links. Relative paths begin there. */
  readonly root: string;
  readonly here: ProcessIdentity;
  /** Notes of the workspace, for every session in it. */
  readonly pinned: readonly Note[];
  /** How many characters each level has, and from when on a session was resumed. */
  readonly settings: MemorySettings;
  /** Applied to all words before they are cut. */
  readonly redact: Redact;
  /** Whether it is a session of a bridge. */
  readonly isBridges: boolean;
  /** Null if it is not known. */
  readonly agent: AgentCondition | null;
  /** Files that its agent left in doubt, and that others have finished since. */
  readonly settled: readonly SettledFile[];
  /** The others, as they are now. Null before a look at later work. */
  readonly doubtful: readonly DoubtfulFile[] | null;
  /** Processes of its crashed agent that still run. */
  readonly left: readonly LeftProcess[];
  /** How its directory has changed, in a clause. Null if it has not. */
  readonly place: string | null;
  /** Changes after the agent's last activity, in sentences. */
  readonly changes: readonly string[];
  /** The session that delegated it. Null if none did. */
  readonly parent: Worklog | null;
}

/** For a session whose condition is unknown. */
export const UNSEEN = {
  ...{ isBridges: false, agent: null, left: [], settled: [], doubtful: null, place: null, changes: [], parent: null },
} as const;

/** @returns only what the record shows */
export function recordView(memory: Viewer, log: Worklog, fold: Observed | null = null): SessionView {
  const workspace = memory.workspaceOf(log) ?? memory.workspace;
  return {
    ...UNSEEN,
    ...{ log, fold, now: memory.clock.now(), root: workspace.root, here: memory.surroundings.process },
    pinned: memory.claims.notes(workspace),
    settings: memory.settings,
    redact: memory.stamp.redact,
    isBridges: memory.isBridges,
  };
}

/** @returns all of it. Values that cost a look at files are computed when read */
export function viewOf(memory: Locating & Changing, look: Look): SessionView {
  const { log, fold, now, condition } = look;
  return {
    ...recordView(memory, log, fold),
    ...{ now, agent: condition.agent, settled: condition.settled },
    get left() {
      return condition.left;
    },
    get doubtful() {
      return condition.doubtful;
    },
    get place() {
      return placeNow(memory, log, new Words(memory.stamp.redact));
    },
    get changes() {
      return changesSince(memory, look);
    },
    get parent() {
      return log.facts?.parent == null ? null : (memory.look(log.facts.parent)?.log.state ?? null);
    },
  };
}
