/**
 * The worklog of a bridge's session. Redis decides its lifecycle, and the lines here repeat it: they are facts, written without
 * fsync, and nothing waits for them. The next run, the delivery of the final message or the next start writes those that a kill left out.
 */
import { existsSync } from 'node:fs';
import { UnreachableError } from '../../src/errors.js';
import { makePrivateFolderSync } from '../../src/files/privateFiles.js';
import { type SessionLog, type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import { openRuns } from '../fold/runs.js';
import type { Worklog } from '../fold/worklog.js';
import { Places, worklogIn } from '../home/places.js';
import type { Stamp } from '../logs/line.js';
import { Log, type WriteOptions } from '../logs/log.js';
import { type EndReason, LOST } from '../words.js';
import type { Facts } from './sessions.js';

/** Also in a log of a newer version. */
const REPEATED: WriteOptions = { isFact: true, isDurable: false };

/** Watchkeeper itself writes, which is never activity. */
export type BridgeStamp = Omit<Stamp, 'origin'>;

/** The end of a session that is written after a delay. */
export interface LateEnd {
  readonly reason: EndReason;
  readonly timestamp: string;
}

export class BridgeSession {
  readonly id: string;
  readonly #folder: string;
  readonly #stamp: Stamp;
  #log: SessionLog | null = null;

  /** @param logsFolder the memory of the bridge */
  constructor(logsFolder: string, id: string, { clock, redact }: BridgeStamp) {
    this.id = id;
    this.#folder = new Places(logsFolder).sessionFolder(id);
    this.#stamp = { clock, redact, origin: 'watchkeeper' };
  }

  /**
   * Begins the worklog if there is none.
   * @param lines take the state as it is now; none are written if the list is empty
   * @throws UnreachableError, or the file system's error, if it cannot be written
   */
  write(lines: Facts): void {
    this.writeEach([lines]);
  }

  /** As {@link write}, each part by the state that the ones before have made. */
  writeEach(parts: readonly Facts[]): void {
    const log = this.#opened();
    // As long as no other process has written, only lines that depend on the state have to read it; at the beginning, not even they.
    const isKnown = log.isAlone && (!log.hasWritten || parts.every((lines) => typeof lines !== 'function'));
    if (isKnown) this.append(parts.flatMap((lines) => linesOf(lines, log.state)));
    else for (const lines of parts) log.write((state) => this.#named(linesOf(lines, state)), this.#stamp, REPEATED);
  }

  /**
   * Writes lines that hold for any state of the worklog.
   * @throws as {@link write}
   */
  append(lines: readonly WorklogLine[]): void {
    this.#opened().append(this.#named(lines), this.#stamp);
  }

  /**
   * Writes the end, unless it is written already or nothing was ever run; closes the worklog.
   * @param before lines that come before it, if a run of the session may have ended unseen
   * @throws as {@link write}
   */
  end(reason: EndReason, before: Facts = []): void {
    try {
      if (!existsSync(worklogIn(this.#folder))) return;
      this.write((state) =>
        state.lifecycle === 'ended' ? [] : [...linesOf(before, state), ...endLines(state, reason)],
      );
    } finally {
      this.close();
    }
  }

  /**
   * Writes the rest of a run, and the session's end if it has one; then it closes the worklog.
   * @throws as {@link write}
   */
  finish(parts: readonly Facts[], end: LateEnd | null): void {
    if (end === null) {
      this.writeEach(parts);
      return;
    }
    const { reason, timestamp } = end;
    const timed = (line: WorklogLine) => ({ ...line, timestamp });
    // It is open, so its end is not written; and if all of it was written here, its agent has said nothing.
    const isAlone = this.#log?.isAlone ?? false;
    const last: Facts = isAlone
      ? [timed(worklogKind.line('session_ended', { reason }))]
      : (state) => endLines(state, reason).map(timed);
    try {
      this.writeEach([...parts, last]);
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#log?.close();
    this.#log = null;
  }

  /** The id is in every line: the session is known even if the first one is lost. */
  #named(lines: readonly WorklogLine[]): readonly WorklogLine[] {
    return lines.map((line) => ({ session_id: this.id, ...line }));
  }

  #opened(): SessionLog {
    if (this.#log !== null) return this.#log;
    const path = worklogIn(this.#folder);
    makePrivateFolderSync(this.#folder);
    this.#log = Log.begin(path, worklogKind) ?? Log.open(path, worklogKind);
    if (this.#log === null) throw new UnreachableError(`${path} was removed meanwhile`);
    return this.#log;
  }
}

function linesOf(lines: Facts, state: Worklog): readonly WorklogLine[] {
  return typeof lines === 'function' ? lines(state) : lines;
}

/** @returns the end, with what its agent said at the end; nothing if the session has ended already */
function endLines({ lifecycle, facts }: Worklog, reason: EndReason): WorklogLine[] {
  if (lifecycle === 'ended') return [];
  return [worklogKind.line('session_ended', { reason, summary: facts?.set.summary || undefined })];
}

/** @returns a line for each run without a written end. The caller must have proven that their processes are dead */
export function lostRuns({ runs }: Worklog): WorklogLine[] {
  return openRuns(runs).map(({ process }) => worklogKind.line('run_ended', { process, reason: LOST }));
}
