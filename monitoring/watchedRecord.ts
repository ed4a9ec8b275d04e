/**
 * What is kept in mind of an active session's record: what its judgement asks for, and none of its texts, which are read
 * again where they are needed. Thousands of runs have a handful of owners: there is one object for each, so that they are
 * small and told apart by it.
 */
import type { AgentSession, Run } from '../src/model.js';

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

/** Of bridges that have gone long ago nothing is kept. */
const MOST_OWNERS = 64;

export class RecordKeeper {
  readonly #owners = new Map<string, Pick<Run, 'owner' | 'logs_id'>>();

  /** @returns what is kept of a record as it was read */
  keep(session: AgentSession): WatchedRecord {
    const { session_id, project_key, status, attempt, released, incident_id, started_at, last_activity, rev } = session;
    const run = session.run === null ? null : this.#withSharedOwner(session.run);
    return { session_id, project_key, status, attempt, run, released, incident_id, started_at, last_activity, rev };
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
