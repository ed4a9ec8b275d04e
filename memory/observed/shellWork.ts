/** The files that an agent's shell commands write with a redirection: those that returned, and those that run on in the background. */
import type { JournalRecord } from '../../src/journal/record.js';
import { MOST_FILES } from '../fold/bounds.js';
import type { EndedCall } from './openCalls.js';
import type { WrittenFile } from './shellWrites.js';

export class ShellWork {
  /** Files of commands that the open turn has put into the background. */
  inBackground: readonly WrittenFile[] = [];
  /** When each file was last written in a turn that ended, UTC epoch milliseconds. */
  readonly finished = new Map<string, number>();
  readonly #written = new Map<string, number>();

  /** Takes the result of a call. A command that failed may have left its files half written. */
  take(record: JournalRecord, { outcome, written }: Pick<EndedCall, 'outcome' | 'written'>, at: number): void {
    if (record.in_background === true) this.inBackground = [...this.inBackground, ...written];
    else if (outcome === 'ok') for (const { path } of written) this.#written.set(path, at);
  }

  /** @returns the files that were written in the turn, which ends in order */
  finish(): string[] {
    const paths = [...this.#written.keys()];
    for (const path of paths) this.finished.delete(path);
    for (const [path, at] of this.#written) this.finished.set(path, at);
    for (const path of [...this.finished.keys()].slice(0, -MOST_FILES)) this.finished.delete(path);
    return paths;
  }

  /** Begins the next turn. */
  clear(): void {
    this.#written.clear();
    this.inBackground = [];
  }
}
