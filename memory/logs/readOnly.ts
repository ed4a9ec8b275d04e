/** Reads a part of a log: a directory may have thousands of sessions, and most readers need none of their lines. */
import { closeSync } from 'node:fs';
import type { LogKind } from './kind.js';
import { openLogFile, requireReadable, unusable } from './logFile.js';
import { LogReader } from './reader.js';

/**
 * Only lines of one event are parsed.
 * @returns the state that these lines alone lead to; null if there is no log
 * @throws UnreachableError if it cannot be read
 */
export function readOnly<State, Events>(
  path: string,
  kind: LogKind<State, Events>,
  event: keyof Events & string,
): State | null {
  const file = openLogFile(path, 'read');
  if (file === null) return null;
  try {
    const reader = new LogReader(kind, event);
    reader.readOn(file.descriptor, requireReadable(path, file.size));
    return reader.state;
  } catch (error) {
    throw unusable(path, error);
  } finally {
    closeSync(file.descriptor);
  }
}
