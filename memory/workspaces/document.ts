/** A document that a session names: its path, and what it held then. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeError, UsageError } from '../../src/errors.js';
import type { Document } from '../fold/worklog.js';
import { pathInWorkspace, type Workspace } from './workspace.js';

const LARGEST_BYTES = 64 * 1024 * 1024;

/**
 * @param path as it was written, in `directory`
 * @throws UsageError if it is no file, too large, or cannot be read
 */
export function documentAt(path: string, directory: string, workspace: Workspace): Document {
  const file = resolve(directory, path);
  try {
    const stat = statSync(file);
    if (!stat.isFile()) throw new UsageError(`${path} is not a file`);
    if (stat.size > LARGEST_BYTES) throw new UsageError(`${path} is larger than 64 MiB`);
    const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
    return { path: pathInWorkspace(path, directory, workspace), digest };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be read: ${describeError(error)}`, { cause: error });
  }
}
