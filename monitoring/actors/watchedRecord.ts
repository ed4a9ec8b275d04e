/**
 * The part of an active session's record that is kept in memory: the fields that judging it needs, and none of its texts. They are
 * read again when they are needed. Thousands of runs share a handful of owners. There is one object for each owner, which keeps
 * records small and lets owners be compared by identity.
 */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { isOwnerAlive } from '../../src/host/lifeSign.js';
import type { AgentSession, Run } from '../../src/jobs/model.js';
import { Newest } from '../../src/newest.js';

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

export class RecordKeeper {
  readonly #owners = new Newest<string, ProcessIdentity>(MOST_OWNERS);

  /** @returns the part of a freshly read record that is kept */
  keep(session: AgentSession): WatchedRecord {
    const { session_id, project_key, status, attempt, released, incident_id, started_at, last_activity, rev } = session;
    const run = session.run === null ? null : this.#withSharedOwner(session.run);
    return { session_id, project_key, status, attempt, run, released, incident_id, started_at, last_activity, rev };
  }

  #withSharedOwner(run: Run): Run {
    const { host, boot_id, pid_namespace, pid, pid_start } = run.owner;
    const name = `${host} ${boot_id} ${pid_namespace} ${pid} ${pid_start}`;
    const owner = this.#owners.get(name) ?? run.owner;
    this.#owners.set(name, owner);
    return { ...run, owner };
  }
}

/** Asks whether a run's owner lives once during one look: each check reads `/proc` or connects to a socket. */
export class OwnersAlive {
  readonly #here: ProcessIdentity;
  readonly #logsFolder: string;
  readonly #known = new Map<ProcessIdentity, boolean | null>();

  constructor(here: ProcessIdentity, logsFolder: string) {
    this.#here = here;
    this.#logsFolder = logsFolder;
  }

  async ask(sessions: readonly WatchedRecord[]): Promise<void> {
    const owners = new Set<ProcessIdentity>();
    for (const { run } of sessions) if (run !== null) owners.add(run.owner);
    for (const owner of owners) await this.isAlive(owner);
  }

  /** @returns null if it cannot be seen from here, or has not been checked */
  answerFor(owner: ProcessIdentity): boolean | null {
    return this.#known.get(owner) ?? null;
  }

  /** @param owner the same object for the same process, as in {@link WatchedRecord}; otherwise it is checked again */
  async isAlive(owner: ProcessIdentity): Promise<boolean | null> {
    const known = this.#known.get(owner);
    if (known !== undefined) return known;
    const answer = await isOwnerAlive(owner, this.#here, this.#logsFolder);
    this.#known.set(owner, answer);
    return answer;
  }
}
