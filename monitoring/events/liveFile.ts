/**
 * How `critical_events.jsonl` is replaced by a shorter one while other processes append to it and read it, without a lock
 * that a dead process could leave behind.
 *
 * Who replaces the file announces it first, by a file beside it (`…jsonl.next-{id}`), then copies what stands there and
 * moves that very file into place: announcement and replacement are one file, so taking the announcement away calls the
 * replacement off, and it is certain that it does not come later.
 *
 * Who appended or read asks afterwards whether its file *stands*: nothing is announced, and the path still leads to it.
 * What was appended before that answer was there before any later copying began, so it is copied, in its place. What was
 * not confirmed is appended again to the file that stands then (its id is dropped where it was copied after all), and not
 * told to any reader. Announcements that stay are called off by whoever waits for them: critical events never wait long.
 */
import type { FileHandle } from 'node:fs/promises';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeError, UnreachableError } from '../../src/errors.js';
import { type Clock, SECOND, systemClock } from '../../src/time.js';

/** Between announcement and replacement lie two small copies. Who takes longer is stopped or dead. */
const PATIENCE_MS = 2 * SECOND;
const LOOK_AGAIN_MS = 10;

export class LiveFile {
  readonly path: string;
  readonly #clock: Clock;

  /** @param clock real time by default: what is waited for is another process */
  constructor(path: string, clock: Clock = systemClock) {
    this.path = path;
    this.#clock = clock;
  }

  /** @returns where a replacement with this id is announced */
  announcement(id: string): string {
    return `${this.path}.next-${id}`;
  }

  /** @returns where a replacement with this id is prepared: nobody looks at it */
  preparation(id: string): string {
    return `${this.path}.rest-${id}`;
  }

  /**
   * @param file open, written or read before the call
   * @returns whether the path leads to this file, and no replacement under way can miss what stands in it now
   * @throws UnreachableError where a replacement that does not end cannot be called off
   */
  async stands(file: FileHandle): Promise<boolean> {
    await this.#untilNothingIsAnnounced();
    // In this order: a replacement that came between the two is seen by the second.
    return this.leadsTo(file);
  }

  /** @returns whether the path leads to this open file */
  async leadsTo(file: FileHandle): Promise<boolean> {
    const ours = await file.stat({ bigint: true });
    const there = await stat(this.path, { bigint: true }).catch(nullIfAbsent);
    return there !== null && there.ino === ours.ino && there.dev === ours.dev;
  }

  /** Takes away what replacements have left beside the file; one that is under way is called off. */
  async clear(): Promise<void> {
    for (const name of await this.#beside('.next-', '.rest-'))
      await rm(join(dirname(this.path), name), { force: true });
  }

  async #untilNothingIsAnnounced(): Promise<void> {
    const patientUntil = this.#clock.monotonic() + PATIENCE_MS;
    for (let names = await this.#beside('.next-'); names.length > 0; names = await this.#beside('.next-')) {
      if (this.#clock.monotonic() > patientUntil) await this.#callOff(names);
      else await this.#clock.sleep(LOOK_AGAIN_MS);
    }
  }

  async #callOff(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const path = join(dirname(this.path), name);
      await rm(path, { force: true }).catch((error: unknown) => {
        throw new UnreachableError(
          `an archiving that does not end stands in the way (${path}) and cannot be called off (${describeError(error)}): delete that file, nothing is lost by it`,
          { cause: error },
        );
      });
    }
  }

  async #beside(...marks: readonly string[]): Promise<string[]> {
    const prefixes = marks.map((mark) => `${basename(this.path)}${mark}`);
    const names = (await readdir(dirname(this.path)).catch(nullIfAbsent)) ?? [];
    return names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  }
}

/** @returns null for the error of a file that is not there @throws every other error */
export function nullIfAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
