/**
 * The part of an active session's record that is kept in memory: what judging it needs, and none of its texts, which are read
 * again when they are needed. Thousands of runs share a handful of owners and projects. There is one object for each of those,
 * which keeps records small and lets owners be compared by identity.
 */
import { type AgentSession, type Run, SESSION_STATUSES } from '../../src/jobs/model.js';

export type WatchedRecord = Pick<
  AgentSession,
  | 'session_id'
  | 'project_key'
  | 'status'
  | 'attempt'
  | 'run'
  | 'released'
  | 'incident_id'
  | 'started_at'
  | 'last_activity'
  | 'rev'
>;

/** Bridges that are long gone are forgotten. */
const MOST_OWNERS = 64;
const MOST_PROJECTS = 256;

export class RecordKeeper {
  readonly #owners = new Map<string, Pick<Run, 'owner' | 'logs_id'>>();
  readonly #projects = new Map<string, string>();

  /** @returns the part of a freshly read record that is kept */
  keep(session: AgentSession): WatchedRecord {
    const { session_id, attempt, released, incident_id, started_at, last_activity, rev } = session;
    const project_key = this.#sharedProject(session.project_key);
    const status = SESSION_STATUSES.find((known) => known === session.status) ?? session.status;
    const run = session.run === null ? null : this.#withSharedOwner(session.run);
    return { session_id, project_key, status, attempt, run, released, incident_id, started_at, last_activity, rev };
  }

  #sharedProject(key: string): string {
    const shared = this.#projects.get(key) ?? key;
    if (this.#projects.size >= MOST_PROJECTS) this.#projects.clear();
    this.#projects.set(key, shared);
    return shared;
  }

  #withSharedOwner(run: Run): Run {
    const { host, boot_id, pid_namespace, pid, pid_start } = run.owner;
    const name = `${host} ${boot_id} ${pid_namespace} ${pid} ${pid_start} ${run.logs_id}`;
    const shared = this.#owners.get(name) ?? ownerOf(run);
    if (this.#owners.size >= MOST_OWNERS) this.#owners.clear();
    this.#owners.set(name, shared);
    return { ...run, ...shared };
  }
}

function ownerOf({ owner, logs_id }: Run): Pick<Run, 'owner' | 'logs_id'> {
  return logs_id === undefined ? { owner } : { owner, logs_id };
}
