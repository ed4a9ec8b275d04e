/** Files that are written whole or not at all, and survive a power failure. */
import { randomBytes } from 'node:crypto';
import { fsyncSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { READ_NO_LINK, withFileSync } from './plainFile.js';
import { makeFolders, makePrivateFolder, PRIVATE_FILE } from './privateFiles.js';

/** Written next to it, synced, renamed. On any failure the old file stays. @throws the file system's error */
export async function replaceDurably(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const madeFolder = await makeFolders(folder);
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    const file = await open(temporary, 'wx', PRIVATE_FILE);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
  if (madeFolder !== undefined) await syncFolder(dirname(madeFolder));
}

/** A name in a folder is on the disk only when the folder is synced. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Like {@link replaceDurably}, into a folder below the logs folder. @throws NotPlainError if a link is in the folder's place
 */
export async function replaceBelowLogs(path: string, text: string): Promise<void> {
  await makePrivateFolder(dirname(path));
  await replaceDurably(path, text);
}

/** The synchronous {@link replaceDurably}, in a folder that exists. @throws the file system's error */
export function replaceInFolderSync(path: string, text: string): void {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: PRIVATE_FILE, flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolderSync(folder);
}

export function syncFolderSync(folder: string): void {
  withFileSync(folder, READ_NO_LINK, fsyncSync);
}
