/** Lists a folder in git's own exclude file, which no commit contains. */
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, errorCode } from '../../src/errors.js';
import { readPlainFileSync } from '../../src/files/plainFile.js';
import { appendPrivately } from '../../src/files/privateFiles.js';
import { gitFoldersOf } from './checkout.js';

const LARGEST_BYTES = 16 * 1024 * 1024;
/** They mean something in a pattern. */
const SPECIAL = /[\\*?[\]!#\s]/g;

/**
 * An agent can write `.git` of its project, so links in the place of the file are refused, and nothing but this file is written.
 * @param root the top level of a worktree, or a plain folder, for which nothing is done
 * @param folder relative to it, with `/` between its parts
 * @returns why it is not excluded, in a clause; null if it is, or there is no git
 */
export function excludeFolder(root: string, folder: string): string | null {
  if (!existsSync(join(root, '.git'))) return null;
  const { common } = gitFoldersOf(root);
  const info = join(common, 'info');
  const path = join(info, 'exclude');
  const pattern = `/${folder.replaceAll(SPECIAL, '\\$&')}/`;
  try {
    if (!existsSync(join(common, 'HEAD'))) return `${common} is not the folder of a repository`;
    makeFolder(info);
    if (lstatSync(info).isSymbolicLink()) return `${info} is a link`;
    if (!linesOf(path).includes(pattern)) appendPrivately(path, `${pattern}\n`);
    return null;
  } catch (error) {
    return describeError(error);
  }
}

function linesOf(path: string): string[] {
  return existsSync(path) ? readPlainFileSync(path, LARGEST_BYTES).split(/\r?\n/) : [];
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
