/**
 * The worklog of a bridge's session. Redis decides its lifecycle, and the lines here repeat it: they are facts, written without
 * fsync, and nothing waits for them. What a kill leaves out, the next run or the delivery of the final message writes.
 */
import { existsSync } from 'node:fs';
import { UnreachableError } from '../../src/errors.js';
import { makePrivateFolderSync } from '../../src/files/privateFiles.js';
import { textOf } from '../../src/journal/record.js';
import { worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { Places, worklogIn } from '../home/places.js';
import type { NewLine, Stamp } from '../logs/line.js';
import { Log, type WriteOptions } from '../logs/log.js';
import type { EndReason } from '../words.js';

/** Also in a log of a newer version. */
const REPEATED: WriteOptions = { isFact: true, isDurable: false };

/** Who writes: Watchkeeper by itself, which is never activity. */
export type BridgeStamp = Omit<Stamp, 'origin'>;

export class BridgeSession {
  readonly id: string;
  readonly #folder: string;
  readonly #stamp: Stamp;
  #log: Log<Worklog> | null = null;

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
  write(lines: (state: Worklog) => readonly NewLine[]): void {
    const log = this.#opened();
    // Nothing has to be read.
    if (log.isAlone && !log.hasWritten) this.append(lines(log.state));
    else log.write((state) => this.#named(lines(state)), this.#stamp, REPEATED);
  }

  /**
   * Writes what holds whatever the worklog says.
   * @throws as {@link write}
   */
  append(lines: readonly NewLine[]): void {
    this.#opened().append(this.#named(lines), this.#stamp);
  }

  /**
   * Writes the end, unless it is written already or nothing was ever run; closes the worklog.
   * @param before lines that come before it, if a run of the session may have ended unseen
   * @throws as {@link write}
   */
  end(reason: EndReason, before?: (state: Worklog) => readonly NewLine[]): void {
    try {
      // It is still open, so its end is not written; and if all of it was written here, it has no summary.
      if (before === undefined && this.#log?.isAlone) this.append([{ event: 'session_ended', reason }]);
      else if (existsSync(worklogIn(this.#folder))) this.#endAsItIs(reason, before);
    } finally {
      this.close();
    }
  }

  #endAsItIs(reason: EndReason, before: (state: Worklog) => readonly NewLine[] = () => []): void {
    this.write((state) => {
      if (state.lifecycle === 'ended') return [];
      const summary = textOf(state.facts?.set.summary);
      return [...before(state), { event: 'session_ended', reason, ...(summary !== null && { summary }) }];
    });
  }

  close(): void {
    this.#log?.close();
    this.#log = null;
  }

  /** The id is in every line: the session is known even if the first one is lost. */
  #named(lines: readonly NewLine[]): readonly NewLine[] {
    return lines.map((line) => ({ session_id: this.id, ...line }));
  }

  #opened(): Log<Worklog> {
    if (this.#log !== null) return this.#log;
    makePrivateFolderSync(this.#folder);
    const path = worklogIn(this.#folder);
    this.#log = Log.begin(path, worklogKind) ?? Log.open(path, worklogKind);
    if (this.#log === null) throw new UnreachableError(`${path} was removed meanwhile`);
    return this.#log;
  }
}

/** @returns a line for each run whose end is not written, because whoever ran it was killed; it must be proven dead */
export function lostRuns({ runs }: Worklog): NewLine[] {
  return runs
    .filter(({ ended_at }) => ended_at === null)
    .map(({ process }) => ({ event: 'run_ended', process, reason: 'lost' }));
}
