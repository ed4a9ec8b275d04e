/**
 * Forgets all that ended long ago: sessions with their messages and journals, incidents, and their entries in issue records. The
 * acting watchdog's tick does a round at most once an hour. A round covers a bounded part; the next one continues.
 */

import { counted } from '../../src/counted.js';
import { describeError, FencedError } from '../../src/errors.js';
import type { StoredIssueRecords } from '../../src/jobs/issueRecords.js';
import { lastTouched, removeJournal, sessionsWithFolders } from '../../src/journal/removal.js';
import { describeDuration, HOUR } from '../../src/time.js';
import type { ActingContext } from '../actors/actedFolders.js';
import { type IssueRecord, withoutOld } from '../incident/issue/issueRecords.js';

const ROUND_EVERY_MS = HOUR;
const MOST_SESSIONS = 200;
const MOST_INCIDENTS = 500;
const MOST_FOLDERS = 500;
/** Parts of Redis' key space, of about a thousand keys each. */
const MOST_SCANS = 10;

export interface ExpiryContext extends Omit<ActingContext, 'events'> {
  readonly issues: StoredIssueRecords<IssueRecord>;
  readonly logsFolder: string;
  /** How long to keep ended records, in milliseconds. */
  readonly keptMs: number;
}

export class ExpiryRound {
  readonly #context: ExpiryContext;
  #dueAt = Number.NEGATIVE_INFINITY;
  #passedOver = 0;
  #passedOverIncidents = 0;
  #lastFolder = '';
  #scanCursor = '0';

  constructor(context: ExpiryContext) {
    this.#context = context;
  }

  async runIfDue(): Promise<void> {
    const { clock, logger } = this.#context;
    if (clock.monotonic() < this.#dueAt) return;
    this.#dueAt = clock.monotonic() + ROUND_EVERY_MS;
    try {
      const { sessions, journals, incidents, issueRecords } = await this.runOnce();
      if (sessions + journals + incidents + issueRecords === 0) return;
      const parts = [
        counted(sessions, 'session'),
        counted(journals, 'journal'),
        counted(incidents, 'incident'),
        counted(issueRecords, 'issue record'),
      ].join(', ');
      logger.info(`older than ${describeDuration(this.#context.keptMs)} and removed: ${parts}`);
    } catch (err) {
      if (err instanceof FencedError) return;
      logger.warn({ err }, `old records and journals are kept for another hour: ${describeError(err)}`);
    }
  }

  async runOnce() {
    const { store, clock, folders, keptMs } = this.#context;
    const before = clock.now() - keptMs;
    // Removing a file is no commit that would fail for a replaced watchdog.
    await store.leases.require(folders.guard());
    const ended = await this.#endedSessions(before);
    const untouched = await this.#untouchedJournals(before);
    return {
      sessions: ended.sessions,
      journals: ended.journals + untouched,
      incidents: await this.#closedIncidents(before),
      issueRecords: await this.#issueRecords(before),
    };
  }

  /** The journal first: if the record is still there, a later round after a crash finds it again. */
  async #endedSessions(before: number): Promise<{ sessions: number; journals: number }> {
    const { store, folders } = this.#context;
    let sessions = 0;
    let journals = 0;
    const { expired, looked } = await store.expiry.endedSessions(before, this.#passedOver, MOST_SESSIONS);
    for (const one of expired) {
      if (await this.#remove(one.sessionId)) journals += 1;
      if (await store.expiry.removeSession(one, folders.guard())) sessions += 1;
    }
    // Records that have to stay must not hide those behind them.
    this.#passedOver = looked < MOST_SESSIONS ? 0 : this.#passedOver + looked - sessions;
    return { sessions, journals };
  }

  async #closedIncidents(before: number): Promise<number> {
    const { store, folders } = this.#context;
    const from = this.#passedOverIncidents;
    const { removed, looked } = await store.expiry.removeIncidents(before, from, MOST_INCIDENTS, folders.guard());
    this.#passedOverIncidents = looked < MOST_INCIDENTS ? 0 : from + looked - removed;
    return removed;
  }

  /** Journals of sessions that the store does not know, untouched since then. */
  async #untouchedJournals(before: number): Promise<number> {
    const { store, logsFolder } = this.#context;
    const all = await sessionsWithFolders(logsFolder);
    const part = all.filter((id) => id > this.#lastFolder).slice(0, MOST_FOLDERS);
    this.#lastFolder = part.length < MOST_FOLDERS ? '' : (part.at(-1) ?? '');
    let removed = 0;
    for (const id of await store.expiry.unknownAmong(part)) {
      const touched = await lastTouched(logsFolder, id);
      if (touched !== null && touched < before && (await this.#remove(id))) removed += 1;
    }
    return removed;
  }

  /** A journal that cannot be removed does not stop the others. */
  async #remove(sessionId: string): Promise<boolean> {
    const { logsFolder, logger } = this.#context;
    try {
      return await removeJournal(logsFolder, sessionId);
    } catch (err) {
      logger.warn(
        { err, session_id: sessionId },
        `the journal of ${sessionId} is past its retention and cannot be removed`,
      );
      return false;
    }
  }

  async #issueRecords(before: number): Promise<number> {
    const { store, issues, folders } = this.#context;
    let changed = 0;
    for (let scans = 0; scans < MOST_SCANS; scans += 1) {
      const { fingerprints, next } = await store.expiry.issueFingerprints(this.#scanCursor);
      this.#scanCursor = next;
      for (const fingerprint of fingerprints) {
        const record = await issues.get(fingerprint);
        const kept = record === null ? null : withoutOld(record, before);
        if (record === null || kept === record) continue;
        const done =
          kept === null
            ? await issues.remove(fingerprint, record.rev, folders.guard())
            : await issues.put(fingerprint, kept, record.rev, folders.guard());
        if (done) changed += 1;
      }
      if (next === '0') break;
    }
    return changed;
  }
}
