/**
 * How `critical_events.jsonl` is replaced by a shorter one while other processes append to it and read it, without a lock that
 * a dead process could leave behind.
 *
 * A process that replaces the file first announces it with a file next to it (`…jsonl.next-{id}`), then copies the present
 * content and moves that very file into place. Announcement and replacement are one file, so removing the announcement cancels
 * the replacement for certain.
 *
 * After an append or a read, a process checks whether its file is *in place*: nothing is announced, and the path leads to it.
 * Anything appended before that check was there before any later copying began, so it is copied, in its place. An append that
 * was not confirmed is repeated in the current file (readers drop the id if it was copied after all), and a read that was not
 * confirmed is not passed on. A process that waits for an announcement cancels it if it stays: critical events never wait long.
 */
import type { FileHandle } from 'node:fs/promises';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeError, nullIfAbsent, UnreachableError } from '../../src/errors.js';
import { SECOND, systemClock } from '../../src/time.js';

/** Two small copies happen between announcement and replacement. A process that takes longer is stopped or dead. */
const PATIENCE_MS = 2 * SECOND;
const LOOK_AGAIN_MS = 10;

export class LiveFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** @returns the path that announces a replacement with this id */
  announcement(id: string): string {
    return `${this.path}.next-${id}`;
  }

  /** @returns the path where a replacement with this id is prepared; no process reads it */
  preparation(id: string): string {
    return `${this.path}.rest-${id}`;
  }

  /** Whether the file is live, and no replacement can miss what it holds. @throws UnreachableError if one cannot be cancelled */
  async isInPlace(file: FileHandle): Promise<boolean> {
    await this.#untilNothingIsAnnounced();
    // In this order: the second check sees a replacement that came between the two.
    return this.leadsTo(file);
  }

  async leadsTo(file: FileHandle): Promise<boolean> {
    const ours = await file.stat({ bigint: true });
    const there = await stat(this.path, { bigint: true }).catch(nullIfAbsent);
    return there !== null && there.ino === ours.ino && there.dev === ours.dev;
  }

  /** Removes remains of replacements next to the file; one in progress is cancelled. */
  async clear(): Promise<void> {
    for (const name of await this.#siblings('.next-', '.rest-'))
      await rm(join(dirname(this.path), name), { force: true });
  }

  /** In real time, because the wait is for another process. */
  async #untilNothingIsAnnounced(): Promise<void> {
    const patientUntil = systemClock.monotonic() + PATIENCE_MS;
    for (let names = await this.#siblings('.next-'); names.length > 0; names = await this.#siblings('.next-')) {
      if (systemClock.monotonic() > patientUntil) await this.#callOff(names);
      else await systemClock.sleep(LOOK_AGAIN_MS);
    }
  }

  async #callOff(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const path = join(dirname(this.path), name);
      await rm(path, { force: true }).catch((cause: unknown) => {
        const said = `an unfinished archiving is in the way (${path}) and cannot be cancelled (${describeError(cause)}): delete that file, nothing is lost by it`;
        throw new UnreachableError(said, { cause });
      });
    }
  }

  async #siblings(...marks: readonly string[]): Promise<string[]> {
    const prefixes = marks.map((mark) => `${basename(this.path)}${mark}`);
    const names = (await readdir(dirname(this.path)).catch(nullIfAbsent)) ?? [];
    return names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  }
}
