/**
 * Stands in for `node:fs`: the system gives an error for the paths that a test names, as it does without free descriptors, which
 * cannot be brought about here without taking them from the test as well. Only modules that are imported after it use it.
 */
import * as fs from 'node:fs';
import { jest } from '@jest/globals';

/** By path. */
const faults = new Map<string, { readonly code: string; readonly isOnce: boolean }>();

/** From now on, `import()` gives modules that use the stand-in. */
export function standInForFiles(): void {
  jest.unstable_mockModule('node:fs', () => ({
    ...fs,
    openSync: failing(fs.openSync),
    readFileSync: failing(fs.readFileSync),
    statSync: failing(fs.statSync),
    lstatSync: failing(fs.lstatSync),
    // It says of every error that nothing is there.
    existsSync: (path: fs.PathLike) => (typeof path !== 'string' || !faults.has(path)) && fs.existsSync(path),
  }));
}

function failing<Words extends unknown[], Result>(real: (...words: Words) => Result): (...words: Words) => Result {
  return (...words) => {
    throwIfFailing(words[0], real.name === 'openSync');
    return real(...words);
  };
}

/** Each look at the path fails with the code, or only its next opening. @returns what ends that */
export function failAt(path: string, code: string, which: 'each' | 'next opening' = 'each'): () => void {
  faults.set(path, { code, isOnce: which === 'next opening' });
  return () => faults.delete(path);
}

/** @returns what the action returns; meanwhile each look at the path fails with the code */
export function whileFailing<Result>(path: string, code: string, action: () => Result): Result {
  const end = failAt(path, code);
  try {
    return action();
  } finally {
    end();
  }
}

function throwIfFailing(path: unknown, isOpening: boolean): void {
  const fault = typeof path === 'string' ? faults.get(path) : undefined;
  if (fault === undefined || (fault.isOnce && !isOpening)) return;
  if (fault.isOnce) faults.delete(String(path));
  throw Object.assign(new Error(`${fault.code}: ${path}`), { code: fault.code });
}
