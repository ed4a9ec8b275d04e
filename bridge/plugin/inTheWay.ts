/** Says what keeps a folder of another program from being written, if that is something a person can move away. */
import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../../src/errors.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import { unlessAbsent } from './absent.js';

const AGAIN = 'then type the command again';
/** Node's own code is that of its `rm`. */
const IS_FOLDER = ['EISDIR', 'ERR_FS_EISDIR'];

/** @returns what is in the place of the folder, or of one above it, and what to do. Null if nothing is */
export function inTheWayOf(folder: string): string | null {
  const found = unlessAbsent(() => lstatSync(folder, { throwIfNoEntry: false }), undefined);
  if (found === undefined) {
    const above = dirname(folder);
    return above === folder ? null : inTheWayOf(above);
  }
  const target = unlessAbsent(() => statSync(folder, { throwIfNoEntry: false }), undefined);
  if (target?.isDirectory()) return null;
  if (!found.isSymbolicLink() || target !== undefined)
    return `${folder} is not a folder, and one belongs there: move it away, ${AGAIN}`;
  return `${folder} is a link to ${readlinkSync(folder)}, which cannot be reached: remove the link, or make that folder, ${AGAIN}`;
}

/** @returns why a file in a folder could not be written or removed, and what to do */
export function describeFolderFault(fault: unknown, folder: string): string {
  const blocked = inTheWayOf(folder);
  if (blocked !== null) return blocked;
  const { path = folder, dest = path } = Object(fault);
  if (IS_FOLDER.includes(errorCode(fault)))
    return `${dest} is a folder, and a file belongs there: move it away, ${AGAIN}`;
  return `${folder}: ${describeStorageFault(fault)}`;
}
