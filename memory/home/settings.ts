/** The settings of session memory that a user may change: `settings.json` in the home. */
import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { Faults } from '../../src/config/faults.js';
import { parseJsonText } from '../../src/config/jsonText.js';
import { MEMORY_DEFAULTS, type MemorySettings, memorySettings } from '../../src/config/memorySettings.js';
import { UnreachableError } from '../../src/errors.js';
import { requireOwn } from '../../src/files/ownFile.js';
import { readPlainFileSync } from '../../src/files/plainFile.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import type { Redact } from '../../src/log/redact.js';

/** In the home. */
export const SETTINGS_FILE = 'settings.json';
const LONGEST_FILE_BYTES = 256 * 1024;

/**
 * @param home of the memory
 * @returns the settings; the defaults if there is no file
 * @throws UsageError with every fault of the file
 * @throws UnreachableError if it cannot be read, or others own or may write it
 */
export function readMemorySettings(home: string, redact: Redact): MemorySettings {
  const path = join(home, SETTINGS_FILE);
  const faults = new Faults(redact);
  const given = contentOf(path, faults);
  if (given === undefined && faults.areNone) return MEMORY_DEFAULTS;
  const settings = faults.check({ where: '', file: path }, memorySettings(), given);
  faults.throwIfAny(`${path} has`);
  return settings ?? MEMORY_DEFAULTS;
}

/**
 * A link of this user's is followed, because people keep their settings elsewhere.
 * @returns undefined without a file. A link to nothing is not without one: it does not say what its owner has settled
 */
function contentOf(path: string, faults: Faults): unknown {
  try {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined) return undefined;
    requireOwn(path, entry);
    const check = (stat: Stats) => requireOwn(path, stat);
    const parsed = parseJsonText(readPlainFileSync(path, LONGEST_FILE_BYTES, { check }));
    if ('value' in parsed) return parsed.value;
    faults.add(`it ${parsed.fault}`);
    return undefined;
  } catch (cause) {
    if (cause instanceof UnreachableError) throw cause;
    throw new UnreachableError(`${path} cannot be read: ${describeStorageFault(cause)}`, { cause });
  }
}
