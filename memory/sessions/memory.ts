/** One caller's view of a memory: its places, its sessions, and which of them the caller means. */
import { resolve } from 'node:path';
import type { MemorySettings } from '../../src/config/memorySettings.js';
import { UnreachableError, UsageError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Redact } from '../../src/log/redact.js';
import type { Clock } from '../../src/time.js';
import { type Ran, Runs, type RunsOf } from '../fold/runs.js';
import type { Run, Worklog } from '../fold/worklog.js';
import { Git } from '../git/git.js';
import { homeFolder, Places } from '../home/places.js';
import { readMemorySettings } from '../home/settings.js';
import type { Stamp } from '../logs/line.js';
import { countAppends } from '../logs/logFile.js';
import type { Origin } from '../words.js';
import { Claims } from '../workspaces/claims.js';
import { pathInWorkspace, type Workspace, workspaceOf } from '../workspaces/workspace.js';
import { agentProcessOf } from './agentProcess.js';
import { Bindings, type BoundConversation } from './bindings.js';
import { inheritedFrom } from './inherited.js';
import type { KnownLogs } from './knownLogs.js';
import { Lifecycle, mayHold } from './lifecycle.js';
import { idOfNamed, missing } from './namedSession.js';
import { mostUrgentFirst, openIn } from './openHere.js';
import { hiddenFrom, isBridges, requireVisible } from './ownMemory.js';
import { type OpenSession, Sessions } from './sessions.js';
import { conversationIn, originOf, type Surroundings } from './surroundings.js';
import { chosenFolder } from './terminalMemory.js';
import { conversationOfCall } from './toolCall.js';
import { UnclearError } from './unclear.js';

export interface MemoryOptions {
  readonly surroundings: Surroundings;
  /** `--dir`. Null if the variables decide. */
  readonly folder: string | null;
  readonly clock: Clock;
  readonly redact: Redact;
  /** The writer of lines; as the variables show, if missing. */
  readonly origin?: Origin;
  /** The logs that earlier memories of this process have read. A state that is looked at grows then with the log. */
  readonly known?: KnownLogs;
  /** Whether a session is named by its whole id, or its name: a program that gives a part of one may mean another. */
  readonly isExact?: boolean;
}

export class Memory {
  readonly clock: Clock;
  readonly surroundings: Surroundings;
  readonly stamp: Stamp;
  readonly places: Places;
  readonly settings: MemorySettings;
  readonly sessions: Sessions;
  readonly claims: Claims;
  readonly bindings: Bindings;
  readonly lifecycle: Lifecycle;
  /** The workspace of the caller's directory. */
  readonly workspace: Workspace;
  readonly git: Git;
  /** Whether it is the logs folder of a bridge, which decides the lifecycle of its sessions. */
  readonly isBridges: boolean;
  /** The sessions that {@link which} and {@link holder} have opened. */
  readonly opened: OpenSession[] = [];
  /** What the command says at its end: why sessions were left out, such as logs that cannot be read, or which variable named one. */
  readonly leftOut: string[] = [];

  #ofCall: { readonly writes: number; readonly conversation: BoundConversation | null } | null = null;
  readonly #isExact: boolean;

  constructor(options: MemoryOptions) {
    const { surroundings, folder, clock, redact, origin = originOf(surroundings), known, isExact = false } = options;
    const { variables } = surroundings;
    this.#isExact = isExact;
    this.clock = clock;
    this.surroundings = surroundings;
    this.stamp = { clock, redact, origin };
    this.places = new Places(folder === null ? chosenFolder(surroundings) : resolve(surroundings.directory, folder));
    requireVisible(this);
    this.isBridges = isBridges(this.places);
    this.settings = readMemorySettings(this.places.root, redact);
    this.sessions = new Sessions(this.places, this.stamp, known);
    this.claims = new Claims(this.places, this.stamp, (id) => this.#mayHold(id), known?.workspaces);
    this.bindings = new Bindings(this.places, this.stamp, known?.bindings);
    this.lifecycle = new Lifecycle(this.places, this.sessions, this.claims, this.stamp);
    this.workspace = this.claims.workspaceOf(surroundings.directory, variables);
    this.git = new Git(this.workspace.root, variables);
  }

  /**
   * Finds the session that the caller means: the named one, or the {@link implied} one.
   * @param named `--session`, an id, a part of it unless ids are exact, or a name. Null if the caller names none
   * @throws UsageError if that is not clear; UnclearError if some sessions may be meant
   */
  which(named: string | null): OpenSession {
    if (named === null) {
      const implied = this.implied();
      if (implied === null) throw this.unclear();
      return implied;
    }
    const id = idOfNamed(this, named, this.#isExact);
    const session = id === null ? null : this.#open(id);
    if (session === null) throw missing(this, named);
    return session;
  }

  /**
   * @returns the session that a caller means who names none: the bridge's own, the conversation's, or the one that holds the directory.
   *   Null if there is none
   */
  implied(): OpenSession | null {
    const id = this.#impliedId();
    const session = id === null ? null : this.#open(id);
    if (session === null && id !== null && id === this.surroundings.variables.WATCHKEEPER_SESSION)
      throw hiddenFrom(this);
    const said = session === null ? [] : inheritedFrom(this, session);
    this.leftOut.push(...said.filter((line) => !this.leftOut.includes(line)));
    return session;
  }

  /**
   * As {@link pathInWorkspace}, for a path as it was typed. Secrets are taken out first: `https://` loses a slash on the way.
   * @param log of the session that the path is for. Its agent may have moved to another workspace; the caller's is taken if missing
   */
  pathOf(typed: string, log?: Worklog): string {
    const { surroundings } = this;
    const workspace = (log === undefined ? null : this.workspaceOf(log)) ?? this.workspace;
    const { redact } = this.stamp;
    const path = redact(workspace.root) === workspace.root ? redact(typed) : typed;
    return pathInWorkspace(path, surroundings.directory, workspace);
  }

  /** @returns the session that holds the caller's directory; null if none does */
  holder(): OpenSession | null {
    const id = this.claims.holder(this.workspace);
    return id === null ? null : this.#open(id);
  }

  /** @returns the runs of a session, as they are seen from the caller's process */
  runsOf<Known extends Ran>(log: RunsOf<Known>): Runs<Known> {
    return new Runs(log, this.surroundings.process);
  }

  /** @returns the runs of other agents than the caller's whose processes are proven alive */
  otherRuns(log: RunsOf): readonly Run[] {
    return this.runsOf(log).others(this.agentProcess);
  }

  /** @returns the workspace of a session; null if its directory is no longer known */
  workspaceOf({ facts, session_id, conversations }: Worklog): Workspace | null {
    if (facts === null) return session_id === null ? null : this.claims.entered(session_id);
    const id = facts.workspace;
    if (id === null || id === this.workspace.id) return id === null ? null : this.workspace;
    const found = this.claims.find(id);
    if (found !== null) return found;
    // A bridge claims no directory.
    const places = [facts.cwd, ...conversations.map(({ cwd }) => cwd)].flatMap((cwd) => cwd ?? []);
    return places.map((cwd) => workspaceOf(cwd, (known) => known.id === id)).find((place) => place.id === id) ?? null;
  }

  /** The conversation of the agent that calls, or whose shell runs the caller; null outside of one. */
  get conversation(): BoundConversation | null {
    const { toolCall, variables } = this.surroundings;
    const started = conversationIn((name) => variables[name]);
    if (toolCall === undefined) return started;
    // A call is short: logs are asked once for it, and again when it has written to one.
    const writes = countAppends();
    if (this.#ofCall?.writes !== writes)
      this.#ofCall = { writes, conversation: conversationOfCall(this, toolCall, started) };
    return this.#ofCall.conversation;
  }

  /**
   * Where programs keep the transcripts of this memory's sessions. Null for a bridge's: its journals are of one session each, and
   * the conversation of a chat goes through many.
   */
  get programs(): Surroundings['variables'] | null {
    return this.isBridges ? null : this.surroundings.variables;
  }

  /** The place of records that agents of all sessions read, such as handoffs: they do not look into the logs folder of a bridge. */
  get shared(): { readonly places: Places; readonly stamp: Stamp } {
    const { places, stamp, surroundings } = this;
    return { places: this.isBridges ? new Places(homeFolder(surroundings.variables)) : places, stamp };
  }

  /** The agent that calls, or whose shell runs the caller; null outside of one. */
  get agentProcess(): ProcessIdentity | null {
    const { toolCall } = this.surroundings;
    if (toolCall !== undefined) return toolCall.agent;
    return agentProcessOf(this.surroundings, (process) => this.bindings.sessionOf({ process }) !== null);
  }

  /** Closes every log that was opened through it. Does nothing if all are closed already. */
  close(): void {
    this.opened.length = 0;
    this.sessions.close();
  }

  #open(id: string): OpenSession | null {
    const session = this.sessions.openOrRead(id);
    if (session !== null) this.opened.push(session);
    return session;
  }

  #impliedId(): string | null {
    const { WATCHKEEPER_SESSION } = this.surroundings.variables;
    if (WATCHKEEPER_SESSION) return WATCHKEEPER_SESSION;
    const { conversation } = this;
    const bound = conversation === null ? null : this.bindings.sessionOf(conversation);
    return bound ?? this.#sessionOfProcess() ?? this.claims.holder(this.workspace);
  }

  #sessionOfProcess(): string | null {
    const process = this.agentProcess;
    return process === null ? null : this.bindings.sessionOf({ process });
  }

  /**
   * @param here the sessions that may be meant; all of the directory that have not ended, if missing
   * @param more how many others may be meant
   */
  unclear(here: readonly OpenSession[] = mostUrgentFirst(openIn(this, this.workspace)), more = 0): UsageError {
    const begin = 'begin one with `watchkeeper track init "TASK"`';
    const missing = `no session holds ${this.workspace.root}`;
    if (here.length === 0) return new UsageError(`${missing}; ${begin}, or name one with --session`);
    // One that records itself holds no directory, because several may work there.
    const name =
      'Name one of its unfinished sessions with --session (`watchkeeper work list --here` says what each is about)';
    return new UnclearError(`${missing}. ${name}, or ${begin}:`, here, more);
  }

  /**
   * Looks at one of many sessions. A log that cannot be read does not stop the look at the others: {@link leftOut} remembers it.
   * @returns null if there is none, or it cannot be read
   */
  look(id: string): OpenSession | null {
    try {
      return this.sessions.read(id);
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      if (!this.leftOut.includes(error.message)) this.leftOut.push(error.message);
      return null;
    }
  }

  #mayHold(id: string): boolean {
    const state = this.sessions.read(id)?.log.state;
    return state !== undefined && mayHold(state);
  }
}
