/** Files of other programs, which may be there or not. */
import { readFileSync } from 'node:fs';
import { errorCode } from '../../src/errors.js';

/** @throws every error but those of something that is not there, is something else, or may not be read */
export function unlessAbsent<T>(read: () => T, absent: T): T {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'ELOOP'].includes(errorCode(error))) return absent;
    throw error;
  }
}

/** @returns null for a file that is not there, is something else, or may not be read */
export function textIfThere(path: string): string | null {
  return unlessAbsent(() => readFileSync(path, 'utf8'), null);
}
