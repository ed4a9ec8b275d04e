/** Faults of a disk in words, with a remedy. */
import { describeError, errorCode } from '../errors.js';

export const MAKE_ROOM = 'make room on the disk and try again';
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const FORBIDDEN = ['EACCES', 'EPERM', 'EROFS'];

export function isFull(error: unknown): boolean {
  return FULL.includes(errorCode(error));
}

/** @returns the error's message, and what to do if the disk is full, or this user may not write there */
export function describeStorageFault(error: unknown): string {
  const code = errorCode(error);
  if (isFull(error)) return `${describeError(error)}; ${MAKE_ROOM}`;
  return FORBIDDEN.includes(code)
    ? `${describeError(error)}; make it readable and writable for your user`
    : describeError(error);
}
