/** The working directory of a command. */
import { UsageError } from '../../src/errors.js';

/** @throws UsageError if it was deleted */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new UsageError('the current directory was deleted; change to another one and repeat the command', { cause });
  }
}
