/**
 * The texts that Watchkeeper writes into a mirror. Their digests are kept in the home, so that a text that a person has changed is
 * known from one of ours: it is kept next to it, whatever is written afterwards.
 */
import { createHash } from 'node:crypto';
import { linkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode, nullIfAbsent } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { digestOfFile } from '../../src/files/digestOfFile.js';
import { replaceInFolderSync } from '../../src/files/durableFile.js';
import { withOwnFileSync } from '../../src/files/ownFile.js';
import { READ_NO_LINK } from '../../src/files/plainFile.js';
import { appendPrivately } from '../../src/files/privateFiles.js';
import { readAt } from '../../src/files/readAt.js';
import type { Places } from '../home/places.js';

/** Some hundred texts: a writer that was late by more is one that was killed. */
const LOOKED_AT_BYTES = 64 * 1024;
const LARGEST_BYTES = 64 * 1024 * 1024;
const MOST_NAMES = 1_000;

interface Written {
  /** SHA-256, hexadecimal. */
  readonly digest: string;
  readonly session_id: string;
}

export class MirrorTexts {
  readonly #places: Places;
  readonly #path: string;

  /** @param workspace its id */
  constructor(places: Places, workspace: string) {
    this.#places = places;
    this.#path = join(places.root, 'mirrors', `${workspace}.digests`);
  }

  /** @returns the last text; null if none was written */
  last(): Written | null {
    return this.#written().at(-1) ?? null;
  }

  /** @returns the session whose text has the digest; null if it is none of ours */
  writerOf(digest: string): string | null {
    return this.#written().findLast((one) => one.digest === digest)?.session_id ?? null;
  }

  /**
   * Writes a text, unless it is there, or was the last one: what a person has changed then stays until there is something new.
   * @returns whether it was written
   * @throws the file system's error; UnreachableError if the home cannot be written
   */
  put(file: string, text: string, sessionId: string): boolean {
    const digest = createHash('sha256').update(text).digest('hex');
    const there = digestAt(file);
    if (there !== null && (there === digest || this.last()?.digest === digest)) return false;
    this.keepEdited(file);
    // First: another writer that finds the text must know it.
    this.#places.make(dirname(this.#path));
    appendPrivately(this.#path, `${digest} ${sessionId}\n`);
    replaceInFolderSync(file, text);
    return true;
  }

  /** Gives a text that is none of ours a second name, `NAME.edited-1.md`. The first one may then be replaced. */
  keepEdited(file: string): void {
    const there = digestAt(file);
    if (there !== null && this.writerOf(there) === null) linkFree(file, editedNames(file));
  }

  #written(): Written[] {
    try {
      return withOwnFileSync(this.#path, (descriptor, { size }) => {
        const from = Math.max(0, size - LOOKED_AT_BYTES);
        const lines = readAt(descriptor, from, LOOKED_AT_BYTES).toString('utf8').split('\n');
        return lines.flatMap((line) => {
          const [, digest, session_id] = /^([0-9a-f]{64}) (\S+)$/.exec(line) ?? [];
          return digest === undefined || session_id === undefined ? [] : [{ digest, session_id }];
        });
      });
    } catch (error) {
      nullIfAbsent(error);
      return [];
    }
  }
}

/** @returns the digest of what is there; empty if it is no plain file, or cannot be read; null if nothing is there */
export function digestAt(path: string): string | null {
  try {
    return digestOfFile(path, READ_NO_LINK, LARGEST_BYTES)?.digest ?? '';
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? null : '';
  }
}

/** @returns the names for texts that a person has changed: `a.md` becomes `a.edited-1.md`, … */
export function editedNames(file: string): string[] {
  const base = file.replace(/\.md$/, '');
  return Array.from({ length: MOST_NAMES }, (_, index) => `${base}.edited-${index + 1}.md`);
}

/**
 * Gives a file another name: the first one that is free, or that it has already, as after a kill.
 * @throws Error if none is free; the file system's error
 */
function linkFree(file: string, names: readonly string[]): void {
  for (const name of names) {
    try {
      linkSync(file, name);
      return;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      const digest = digestAt(file);
      if (digest !== null && digest !== '' && digestAt(name) === digest) return;
    }
  }
  throw new Error(`each of ${names.length} names for ${file} is taken`);
}

/** Moves a file to the first free name, without overwriting. A repetition after a kill finds what is done. */
export function moveFree(file: string, names: readonly string[]): void {
  failpoint('archive.move.before');
  linkFree(file, names);
  failpoint('archive.move.after');
  rmSync(file, { force: true });
}
