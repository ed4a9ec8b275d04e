/** A newer version has written to a record, so this one decides nothing there. */
import { UsageError } from '../../src/errors.js';

export class NewerVersionError extends UsageError {
  /** The clause that says so, without what to do. */
  readonly newer: string;
  /**
   * @param path of what the newer version has written
   * @param action that is refused, as a verb: `change it`
   */
  constructor(path: string, action: string) {
    const newer = `a newer version of Watchkeeper has written to ${path}`;
    super(`${newer}; update this one to ${action}`);
    this.newer = newer;
  }
}
