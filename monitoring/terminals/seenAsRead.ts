/** Files as they were when they were read, so that a later look sees whether one has changed. It costs a `stat` of each. */
import { seenFile } from '../../src/files/seenFile.js';

export interface Seen {
  readonly path: string;
  readonly size: number | undefined;
  readonly mtimeMs: number | undefined;
}

export function seen(path: string): Seen {
  const stat = seenFile(path);
  return { path, size: stat?.size, mtimeMs: stat?.mtimeMs };
}

export function hasChanged({ path, size, mtimeMs }: Seen): boolean {
  const stat = seenFile(path);
  return stat?.size !== size || stat?.mtimeMs !== mtimeMs;
}
