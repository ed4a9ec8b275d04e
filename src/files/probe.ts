/** Whether a folder takes files. Its permissions do not show a full disk, nor a quota. */
import { constants } from 'node:fs';
import { access, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../errors.js';
import { PRIVATE_FILE } from './privateFiles.js';

/** A link in its place would make the probe write another file of this user. */
const PROBE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
/** A full disk still takes a few bytes: some file systems keep them next to the name. */
const PROBE = 'may go\n'.repeat(1_200);

/** Writes a file to the disk, and removes it. @throws the file system's error */
export async function probeFolder(folder: string): Promise<void> {
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    await writeFile(probe, PROBE, { flag: PROBE_FLAGS, mode: PRIVATE_FILE, flush: true });
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

export async function nearestExisting(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const exists = await access(at).then(
      () => true,
      (error: unknown) => errorCode(error) !== 'ENOENT',
    );
    if (exists || at === dirname(at)) return at;
  }
}
