/** Whether a folder takes a file at this moment: a disk that is full, or read-only, shows in nothing else. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @throws the file system's error */
export async function probeFolder(folder: string): Promise<void> {
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    await writeFile(probe, 'may go\n');
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}
