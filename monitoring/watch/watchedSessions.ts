/**
 * The active sessions as the watchdog sees them: each with its record, the tail of its journal and its timeline. Records are
 * fetched only if their `rev` changed, some at a time, and journals are read only if they grew.
 *
 * A bridge with another logs folder keeps its runs' journals there, out of sight; `last_activity` is no substitute, because
 * that bridge's own watchdog may know of a wait. So from here only the presence of the run's owner is judged.
 */

import type { PollingList } from '../../src/config/polling.js';
import type { Thresholds } from '../../src/config/rules.js';
import { CorruptRecordError } from '../../src/errors.js';
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import { journalPath } from '../../src/journal/path.js';
import { JournalTail } from '../../src/journal/reader.js';
import type { Logger } from '../../src/log/logger.js';
import { SaidOnce } from '../../src/log/saidOnce.js';
import { RecordKeeper, type WatchedRecord } from '../actors/watchedRecord.js';
import { type Assessment, assessSessionHealth, hasLineOfRun } from '../verdict/assessSessionHealth.js';
import type { Gap } from '../verdict/detectors/detector.js';
import type { SessionContext } from '../verdict/owedWork.js';
import { tailFor } from '../verdict/timeline/callTail.js';
import { Timeline } from '../verdict/timeline/timeline.js';
import { JournalDamage } from './journalDamage.js';
import { JournalFollower } from './journalFollower.js';

interface Watched {
  session: WatchedRecord;
  /** Null if it must be judged at the next full check. */
  rest: Rest | null;
  /**
   * Both null until it is judged. They are made together, so that the garbage of reading is collected while it is young. An old
   * object's garbage is kept until a full collection.
   */
  tail: JournalTail | null;
  journal: JournalFollower | null;
}

/** Records read at once: those that are not kept are released before the next ones come. */
const MOST_RECORDS = 32;

/** The session was healthy, and stays so as long as there is no news. Epoch milliseconds. */
interface Rest {
  readonly since: number;
  readonly until: number;
}

export class WatchedSessions {
  readonly #store: Store;
  readonly #logsFolder: string;
  readonly #polling: PollingList | undefined;
  readonly #watched = new Map<string, Watched>();
  readonly #brokenRecords: SaidOnce;
  readonly #damage: JournalDamage;
  readonly #keeper = new RecordKeeper();
  #logsId: string | null = null;
  #broken: readonly string[] = [];

  /** @param polling which calls the rule `loop` leaves out; the default ones if missing */
  constructor(store: Store, logger: Logger, logsFolder: string, polling?: PollingList) {
    this.#store = store;
    this.#brokenRecords = new SaidOnce(logger);
    this.#damage = new JournalDamage(logger);
    this.#logsFolder = logsFolder;
    this.#polling = polling;
  }

  /** Brings the set in line with the index of active sessions. */
  async refresh(): Promise<void> {
    const revisions = await this.#store.records.activeRevisions();
    for (const id of this.#watched.keys()) if (!revisions.has(id)) this.#watched.delete(id);
    const changed: string[] = [];
    for (const [id, rev] of revisions) if (this.#watched.get(id)?.session.rev !== rev) changed.push(id);
    const readable = new Set<string>();
    const troubles = new Set<string>();
    for (let from = 0; from < changed.length; from += MOST_RECORDS) {
      for (const found of await this.#store.records.sessions(changed.slice(from, from + MOST_RECORDS))) {
        if (found instanceof CorruptRecordError) troubles.add(found.message);
        else readable.add(found.session_id);
        this.#take(found);
      }
    }
    // Our copy of a record that has become unreadable is out of date.
    this.#broken = changed.filter((id) => !readable.has(id));
    for (const id of this.#broken) this.#watched.delete(id);
    this.#brokenRecords.forgetAllBut(troubles);
    this.#damage.forgetAllBut(revisions);
  }

  async refreshOne(sessionId: string): Promise<WatchedRecord | null> {
    const [session] = await this.#store.records.sessions([sessionId]);
    if (session === undefined || session instanceof CorruptRecordError || session.status !== 'active') {
      this.#watched.delete(sessionId);
      return null;
    }
    return this.#take(session);
  }

  get size(): number {
    return this.#watched.size;
  }

  has(sessionId: string): boolean {
    return this.#watched.has(sessionId);
  }

  /** Those that the last refresh could not read, or did not find. */
  get unreadable(): readonly string[] {
    return this.#broken;
  }

  all(): WatchedRecord[] {
    return [...this.#watched.values()].map(({ session }) => session);
  }

  runFolders(): Set<string> {
    return new Set(this.all().flatMap(({ run }) => run?.logs_id ?? []));
  }

  get(sessionId: string): WatchedRecord | null {
    return this.#watched.get(sessionId)?.session ?? null;
  }

  /** Reads first. @param gaps after which its clocks restart @returns null if the session is no longer active */
  async assess(
    sessionId: string,
    thresholds: Thresholds,
    now: number,
    gaps: readonly Gap[],
  ): Promise<Assessment | null> {
    const watched = this.#watched.get(sessionId);
    if (watched === undefined) return null;
    if (this.isForeign(watched.session)) {
      return assessSessionHealth(new Timeline(), thresholds, now, { status: watched.session.status });
    }
    const journal = this.#journalOf(watched);
    journal.remember(tailFor(thresholds));
    await journal.look(now);
    const { timeline, diagnostics } = journal;
    this.#damage.report(sessionId, diagnostics);
    // A journal that cannot be read now, or that lacks lines or has lines of a newer version, says nothing about the present:
    // only the store is left.
    const isReadable = diagnostics.refused === null && diagnostics.newer_lines === 0;
    const isWhole = isReadable && watched.session.run?.journal_torn !== true;
    const known = isWhole ? timeline : new Timeline();
    const assessment = assessSessionHealth(known, thresholds, now, contextOf(watched.session, gaps));
    if (assessment.verdict !== 'unhealthy' || hasLineOfRun(known.at(now), watched.session)) return assessment;
    // It accuses by the store, which renews `last_activity` without a new `rev`.
    const session = await this.refreshOne(sessionId);
    return session === null ? null : assessSessionHealth(known, thresholds, now, contextOf(session, gaps));
  }

  /** Judged healthy at `since`, it rests `until` a rule could become true, or its record or journal changes; epoch milliseconds. */
  letRest(session: WatchedRecord, since: number, until: number): void {
    const watched = this.#watched.get(session.session_id);
    if (watched?.session === session) watched.rest = { since, until };
  }

  /** Facts about it may be out of date: it does not count as healthy until it was judged again. */
  disturb(sessionId: string): void {
    const watched = this.#watched.get(sessionId);
    if (watched !== undefined) watched.rest = null;
  }

  /** @returns whether it was healthy when it was judged last, without a known change since then */
  wasWell(sessionId: string): boolean {
    return (this.#watched.get(sessionId)?.rest ?? null) !== null;
  }

  /** @returns whether a verdict at `now`, epoch milliseconds, would be the same; costs one `lstat` */
  isAtRest(sessionId: string, now: number): boolean {
    const watched = this.#watched.get(sessionId);
    if (watched === undefined || watched.rest === null) return false;
    const { since, until } = watched.rest;
    return since <= now && now < until && (this.isForeign(watched.session) || watched.tail?.hasNews() === false);
  }

  /** @returns whether the journal of its run is in another logs folder; records of older versions do not say */
  isForeign({ run }: WatchedRecord): boolean {
    if (run?.logs_id === undefined) return false;
    this.#logsId ??= readLogsFolderId(this.#logsFolder);
    return run.logs_id !== this.#logsId;
  }

  /** @returns whether the session's present run has made a successful call */
  async hasWorked(sessionId: string, now: number): Promise<boolean> {
    const session = this.get(sessionId) ?? (await this.refreshOne(sessionId));
    const watched = this.#watched.get(sessionId);
    if (session === null || watched === undefined) return false;
    const journal = this.#journalOf(watched);
    await journal.look(now);
    return journal.timeline.at(now).run.hasSucceeded;
  }

  #take(found: AgentSession | CorruptRecordError): WatchedRecord | null {
    if (found instanceof CorruptRecordError) {
      this.#brokenRecords.error(found.message, found.message);
      return null;
    }
    const session = this.#keeper.keep(found);
    const known = this.#watched.get(session.session_id);
    if (known !== undefined) Object.assign(known, { session, rest: null });
    else if (session.status === 'active') {
      this.#watched.set(session.session_id, { session, rest: null, tail: null, journal: null });
    }
    return session;
  }

  #journalOf(watched: Watched): JournalFollower {
    watched.tail ??= new JournalTail(journalPath(this.#logsFolder, watched.session.session_id));
    watched.journal ??= new JournalFollower(watched.tail, this.#polling);
    return watched.journal;
  }
}

/** Property by property: spreading an object and adding to it makes a new hidden class each time. */
function contextOf({ status, started_at, last_activity }: WatchedRecord, gaps: readonly Gap[]): SessionContext {
  return { status, started_at, last_activity, gaps };
}
