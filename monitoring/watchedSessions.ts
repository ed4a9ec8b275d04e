/**
 * The active sessions as the watchdog sees them: each with its record, the tail of its journal and its timeline. Records
 * are fetched only where their `rev` changed, journals read only where they grew.
 */
import { CorruptRecordError } from '../src/errors.js';
import { journalPath } from '../src/journal/path.js';
import type { Logger } from '../src/logger.js';
import type { AgentSession, Thresholds } from '../src/model.js';
import type { Store } from '../src/store/store.js';
import { type Assessment, assessSessionHealth } from './assessSessionHealth.js';
import { JournalFollower } from './journalFollower.js';

interface Watched {
  session: AgentSession;
  readonly journal: JournalFollower;
}

export class WatchedSessions {
  private readonly store: Store;
  private readonly logger: Logger;
  private readonly logsFolder: string;
  private readonly watched = new Map<string, Watched>();
  /** Records that could not be read: reported once each. */
  private readonly setAside = new Set<string>();

  constructor(store: Store, logger: Logger, logsFolder: string) {
    this.store = store;
    this.logger = logger;
    this.logsFolder = logsFolder;
  }

  /** Brings the set in line with the index of active sessions. */
  async refresh(): Promise<void> {
    const revisions = await this.store.records.activeRevisions();
    for (const id of this.watched.keys()) if (!revisions.has(id)) this.watched.delete(id);
    const changed = [...revisions].filter(([id, rev]) => this.watched.get(id)?.session.rev !== rev).map(([id]) => id);
    for (const session of await this.store.records.sessions(changed)) this.take(session);
  }

  /** Looks at one session's record again. */
  async refreshOne(sessionId: string): Promise<AgentSession | null> {
    const [session] = await this.store.records.sessions([sessionId]);
    if (session === undefined || session instanceof CorruptRecordError || session.status !== 'active') {
      this.watched.delete(sessionId);
      return null;
    }
    this.take(session);
    return session;
  }

  ids(): string[] {
    return [...this.watched.keys()];
  }

  get(sessionId: string): AgentSession | null {
    return this.watched.get(sessionId)?.session ?? null;
  }

  /**
   * Reads what the journal gained, then judges.
   * @param now UTC epoch milliseconds
   * @returns null where the session is not active any more
   */
  async assess(sessionId: string, thresholds: Thresholds, now: number): Promise<Assessment | null> {
    const watched = this.watched.get(sessionId);
    if (watched === undefined) return null;
    await watched.journal.look(now);
    return assessSessionHealth(watched.journal.timeline, thresholds, now, watched.session);
  }

  /**
   * @param now UTC epoch milliseconds
   * @returns whether the session's present run has made a successful call
   */
  async hasWorked(sessionId: string, now: number): Promise<boolean> {
    const session = this.get(sessionId) ?? (await this.refreshOne(sessionId));
    const watched = this.watched.get(sessionId);
    if (session === null || watched === undefined) return false;
    await watched.journal.look(now);
    return watched.journal.timeline.at(now).run.hasSucceeded;
  }

  private take(session: AgentSession | CorruptRecordError): void {
    if (session instanceof CorruptRecordError) {
      if (!this.setAside.has(session.message)) this.logger.error(session.message);
      this.setAside.add(session.message);
      return;
    }
    const known = this.watched.get(session.session_id);
    if (known !== undefined) known.session = session;
    else if (session.status === 'active')
      this.watched.set(session.session_id, { session, journal: this.follow(session) });
  }

  private follow(session: AgentSession): JournalFollower {
    return new JournalFollower(journalPath(this.logsFolder, session.session_id));
  }
}
