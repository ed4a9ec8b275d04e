/** The logs that the earlier calls of a process have read last. */
import type { WorklogEvents } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { LastRead } from '../logs/lastRead.js';
import type { WorkspaceEvents, WorkspaceState } from '../workspaces/log.js';
import type { Binding, BindingEvents } from './bindings.js';

/** A command means few sessions; a look at thousands must not keep them all. */
const MOST_KNOWN = 8;

export class KnownLogs {
  /** By the session's id. */
  readonly sessions = new LastRead<Worklog, WorklogEvents>(MOST_KNOWN);
  /** By their paths. */
  readonly bindings = new LastRead<Binding, BindingEvents>(MOST_KNOWN);
  readonly workspaces = new LastRead<WorkspaceState, WorkspaceEvents>(MOST_KNOWN);
}
