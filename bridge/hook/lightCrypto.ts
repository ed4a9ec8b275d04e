/**
 * Replaces `node:crypto` in the hook's program, because that takes longer to load than most hooks work: short texts are digested here,
 * and ids are taken from the system's source of randomness.
 */
import type { BinaryToTextEncoding } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { sha256 } from './sha256.js';

/** `node:crypto` digests longer ones faster, although it must be loaded. */
const LONGEST_TEXT = 4096;
const RANDOMNESS = '/dev/urandom';

type Load = () => typeof import('node:crypto');

/**
 * @param load loads `node:crypto`, for anything that is not done here
 * @returns of `node:crypto` what the hook's program uses
 */
export function lightCrypto(load: Load) {
  return {
    createHash: (algorithm: string) => new LightHash(algorithm, load),
    randomFillSync: (bytes: Buffer) => (fillFromSystem(bytes) ? bytes : load().randomFillSync(bytes)),
  };
}

class LightHash {
  readonly #algorithm: string;
  readonly #load: Load;
  readonly #parts: Buffer[] = [];

  constructor(algorithm: string, load: Load) {
    this.#algorithm = algorithm;
    this.#load = load;
  }

  update(part: string | Uint8Array, encoding?: BufferEncoding): this {
    this.#parts.push(typeof part === 'string' ? Buffer.from(part, encoding) : Buffer.from(part));
    return this;
  }

  digest(encoding?: BinaryToTextEncoding): string | Buffer {
    const bytes = Buffer.concat(this.#parts);
    if (this.#algorithm === 'sha256' && encoding === 'hex' && bytes.length <= LONGEST_TEXT) return sha256(bytes);
    const whole = this.#load().createHash(this.#algorithm).update(bytes);
    return encoding === undefined ? whole.digest() : whole.digest(encoding);
  }
}

/** @returns false if the system has no such device */
function fillFromSystem(bytes: Buffer): boolean {
  try {
    const file = openSync(RANDOMNESS, 'r');
    try {
      return fstatSync(file).isCharacterDevice() && readSync(file, bytes) === bytes.length;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
