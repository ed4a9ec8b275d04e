/**
 * `logs/critical_events.jsonl`: what the watchdog found and did, one line per step of an incident, each a full snapshot.
 *
 * A line is on the disk when {@link CriticalEventLog.logCriticalEvent} resolves, so a crash afterwards cannot lose it. Each
 * line is one write in append mode, so two processes never mix their lines. A last line that a full disk or a crash cut off is
 * blanked or ended before the next begins (`src/files/tornLine.ts`). Readers drop repeated ids, torn lines and garbage. The
 * file may be replaced at any time by one without its old beginning (`events/archive.ts`).
 */
import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError, UnreachableError } from '../src/errors.js';
import { failpoint } from '../src/failpoints.js';
import { syncFolder } from '../src/files/durableFile.js';
import { LineAppender } from '../src/files/lineAppender.js';
import { requireOneName } from '../src/files/ownFile.js';
import { openPlainFile } from '../src/files/plainFile.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../src/files/privateFiles.js';
import type { CriticalEvent } from '../src/jobs/incidents.js';
import { type Redact, redactJsonLine } from '../src/log/redact.js';
import { askedWords, headOf } from '../src/log/shorten.js';
import { Tail } from './events/criticalEventTail.js';
import { LiveFile } from './events/liveFile.js';
import { EventReader } from './events/reader.js';

/** Longest `untrusted_excerpt`, in UTF-16 units. */
export const LONGEST_EXCERPT = 2_000;
/** How far back to look for an id. A replay comes minutes after the crash, not thousands of incidents later. */
const REPLAY_WINDOW_BYTES = 8 * 1024 * 1024;
/** Archivings that one append may run into; each takes long after the one before. */
const MOST_TRIES = 10;
const APPEND_FLAGS = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | constants.O_NOFOLLOW;

export class CriticalEventLog {
  readonly file: string;
  readonly #redact: Redact;
  readonly #tail: Tail;
  /** Those in the file; each append first reads the lines appended since the one before. */
  readonly #ids = new Set<string>();
  #lastAppend: Promise<void> = Promise.resolve();
  readonly #live: LiveFile;
  /** The file whose name is synced to the disk. */
  #syncedIn = '';
  readonly #lines = new LineAppender({ isShared: true });

  /** @param file the path of `critical_events.jsonl`; its folder is made at the first line */
  constructor(file: string, redact: Redact) {
    this.file = file;
    this.#redact = redact;
    this.#tail = new Tail(file, REPLAY_WINDOW_BYTES);
    this.#live = new LiveFile(file);
  }

  /** Waits until it is on the disk. An id is written once, so a step may be replayed. @throws UnreachableError */
  logCriticalEvent(event: CriticalEvent): Promise<void> {
    const append = this.#lastAppend.then(() => this.#append(event));
    this.#lastAppend = append.catch(() => {});
    return append;
  }

  /** All at once, the archive too if `since`, UTC epoch milliseconds, reaches further back; an `EventReader` resumes. */
  async readRecentEvents(since?: number): Promise<CriticalEvent[]> {
    const reader = new EventReader(this.file);
    const byId = new Map<string, CriticalEvent>();
    for await (const { event } of reader.read(since === undefined ? 'live' : await reader.startFor(since))) {
      if (!byId.has(event.id)) byId.set(event.id, event);
    }
    return [...byId.values()].filter((event) => Date.parse(event.timestamp) >= (since ?? 0));
  }

  async #append(event: CriticalEvent): Promise<void> {
    try {
      failpoint('critical_event.append.before');
      for (let tries = 1; !(await this.#appendOnce(event)); tries += 1) {
        if (tries === MOST_TRIES) throw new Error(`the file was replaced under each of ${tries} attempts`);
      }
      failpoint('critical_event.append.after');
    } catch (error) {
      throw new UnreachableError(
        `The critical event ${event.id} could not be written to ${this.file} (${describeError(error)}): check space and permissions there`,
        { cause: error },
      );
    }
  }

  /** @returns false if the file was replaced during the append: the line may be lost with the old one */
  async #appendOnce(event: CriticalEvent): Promise<boolean> {
    const madeFolder = await mkdir(dirname(this.file), { recursive: true, mode: PRIVATE_FOLDER });
    const file = await openPlainFile(this.file, APPEND_FLAGS, PRIVATE_FILE);
    try {
      requireOneName(this.file, await file.stat());
      this.#lines.use(this.file, file.fd);
      if (!(await this.#isKnown(event.id))) this.#lines.append(`${toLine(event, this.#redact)}\n`);
      await file.sync();
      const { dev, ino } = await file.stat();
      const identity = `${dev}:${ino}`;
      if (identity !== this.#syncedIn) await syncFolder(dirname(this.file));
      if (madeFolder !== undefined) await syncFolder(dirname(madeFolder));
      this.#syncedIn = identity;
      return await this.#live.isInPlace(file);
    } finally {
      await file.close();
    }
  }

  async #isKnown(id: string): Promise<boolean> {
    const { events, restarted } = await this.#tail.next();
    if (restarted) this.#ids.clear();
    for (const event of events) this.#ids.add(event.id);
    return this.#ids.has(id);
  }
}

/** The plain fields are in every line, null if there is no value. */
function toLine(event: CriticalEvent, redact: Redact): string {
  const plain: CriticalEvent = {
    v: 1,
    id: event.id,
    incident_id: event.incident_id,
    final: event.final,
    timestamp: event.timestamp,
    event: event.event,
    session_id: event.session_id ?? null,
    project_key: event.project_key ?? null,
    reason: event.reason ?? null,
    rule: event.rule ?? null,
    action_taken: event.action_taken ?? null,
    github_issue: event.github_issue ?? null,
    details: event.details ?? null,
    ...(event.step && { step: event.step }),
    ...(event.agent && { agent: event.agent }),
  };
  const line = redactJsonLine(redact, JSON.stringify(plain));
  const { asked, untrusted_excerpt: excerpt } = event;
  if (asked === undefined && excerpt === undefined) return line;
  return JSON.stringify({
    ...JSON.parse(line),
    ...(asked !== undefined && { asked: askedWords(asked, redact) }),
    ...(excerpt !== undefined && { untrusted_excerpt: headOf(excerpt, LONGEST_EXCERPT, redact) }),
  });
}
