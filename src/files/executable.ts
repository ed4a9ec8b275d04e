/** Whether a file can be run. */
import { accessSync, constants } from 'node:fs';

/** @returns whether this process may execute it; also false if it is not there */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
