/** Files that are there whole or not at all, and still there after the power failed. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makePrivateFolder, PRIVATE_FILE, PRIVATE_FOLDER } from './privateFiles.js';

/**
 * Puts `text` in the place of the file, or makes it: written beside, synced, moved. On any failure the old file stands.
 * @throws the file system's error
 */
export async function replaceDurably(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const madeFolder = await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const beside = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    const file = await open(beside, 'wx', PRIVATE_FILE);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncFolder(folder);
  if (madeFolder !== undefined) await syncFolder(dirname(madeFolder));
}

/** A name in a folder is on the disk only when the folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** As {@link replaceDurably}, into a folder below the logs folder. @throws NotPlainError where a link is in the folder's place */
export async function replaceBelowLogs(path: string, text: string): Promise<void> {
  await makePrivateFolder(dirname(path));
  await replaceDurably(path, text);
}
