/** The files that an agent's shell commands write with a redirection: whether the command came to its end. */
import type { JournalRecord } from '../../src/journal/record.js';
import { MOST_FILES } from '../fold/bounds.js';
import type { EndedCall } from './openCalls.js';
import type { WrittenFile } from './shellWrites.js';

export class ShellWork {
  /** Files of commands of the open turn that have returned before their end: they failed, were killed, or run in the background. */
  unfinished: readonly WrittenFile[] = [];
  /** When each file was last written in a turn that ended, UTC epoch milliseconds. */
  readonly finished = new Map<string, number>();
  readonly #written = new Map<string, number>();

  /** Takes the result of a call. A program that is told to end kills its commands first, and calls them failed. */
  take(record: JournalRecord, { outcome, written }: Pick<EndedCall, 'outcome' | 'written'>, at: number): void {
    if (written.length === 0) return;
    const paths = new Set(written.map(({ path }) => path));
    const isFinished = outcome === 'ok' && record.in_background !== true;
    const others = this.unfinished.filter(({ path }) => !paths.has(path));
    this.unfinished = isFinished ? others : [...others, ...written];
    for (const path of paths) {
      this.#written.delete(path);
      if (isFinished) this.#written.set(path, at);
    }
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
    this.unfinished = [];
  }
}
