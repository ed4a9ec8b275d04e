/** Checks whether a folder can be written at this moment: nothing else shows a full or read-only disk. */
import { constants } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE } from '../../src/files/privateFiles.js';

/** A link in its place would make this write another file of this user. */
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

/** @throws the file system's error */
export async function probeFolder(folder: string): Promise<void> {
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    await writeFile(probe, 'may go\n', { flag: FLAGS, mode: PRIVATE_FILE });
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}
