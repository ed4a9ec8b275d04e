/** A kept copy that is being written, next to the old one. */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { syncFolderSync } from '../../src/files/durableFile.js';
import type { JournalRecord } from '../../src/journal/record.js';
import { LineFile } from '../../src/transcripts/lineFile.js';
import { type Seal, type Source, textOfSeal } from '../observed/keptCopy.js';
import type { Share } from '../observed/shares.js';

export interface SealedCopy {
  readonly seal: Seal;
  readonly bytes: number;
  /** SHA-256 of the whole file, hexadecimal. */
  readonly digest: string;
}

export class CopyFile {
  readonly #path: string;
  readonly #file: LineFile;
  readonly #inner = createHash('sha256');
  readonly #sources: Source[] = [];
  #bytes = 0;
  #lines = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = new LineFile(path);
  }

  write(line: JournalRecord): void {
    const text = JSON.stringify(line);
    this.#file.write(text);
    this.#inner.update(`${text}\n`);
    this.#bytes += Buffer.byteLength(text) + 1;
    this.#lines += 1;
  }

  /** @returns how many lines it has */
  endSource({ conversation: { provider, id: conversation }, bytes }: Share): number {
    const lines = this.#lines;
    this.#sources.push({ provider, conversation, bytes, lines });
    this.#lines = 0;
    return lines;
  }

  seal(): SealedCopy {
    const all = this.#inner.copy();
    const text = textOfSeal(this.#sources, this.#inner.digest('hex'));
    this.#file.write(text);
    const bytes = this.#bytes + Buffer.byteLength(text) + 1;
    return { seal: JSON.parse(text) as Seal, bytes, digest: all.update(`${text}\n`).digest('hex') };
  }

  putInPlace(): void {
    this.#file.putInPlace();
    syncFolderSync(dirname(this.#path));
  }

  discard(): void {
    this.#file.discard();
  }
}
