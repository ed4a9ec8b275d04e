/**
 * The part of an active session's record that is kept in memory: what judging it needs, and none of its texts, which are read
 * again when they are needed. Thousands of runs share a handful of owners. There is one object for each of those, which keeps
 * records small and lets owners be compared by identity.
 */
import type { AgentSession, Run } from '../../src/jobs/model.js';

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

type Owner = Pick<Run, 'owner' | 'logs_id'>;

/** Bridges that are long gone are forgotten. */
const MOST_OWNERS = 64;

export class RecordKeeper {
  readonly #owners = new Map<string, Owner>();

  /** @returns the part of a freshly read record that is kept */
  keep(session: AgentSession): WatchedRecord {
    const { session_id, project_key, status, attempt, released, incident_id, started_at, last_activity, rev } = session;
    const run = session.run === null ? null : this.#withSharedOwner(session.run);
    return { session_id, project_key, status, attempt, run, released, incident_id, started_at, last_activity, rev };
  }

  #withSharedOwner(run: Run): Run {
    const { host, boot_id, pid_namespace, pid, pid_start } = run.owner;
    const name = `${host} ${boot_id} ${pid_namespace} ${pid} ${pid_start} ${run.logs_id}`;
    const shared = this.#owners.get(name) ?? {
      owner: run.owner,
      ...(run.logs_id !== undefined && { logs_id: run.logs_id }),
    };
    if (this.#owners.size >= MOST_OWNERS) this.#owners.clear();
    this.#owners.set(name, shared);
    return { ...run, ...shared };
  }
}
