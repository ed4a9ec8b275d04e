/** Runs commands of the product as a user without rights: no sandbox holds an agent of root, and tests often run as root. */
import { chmodSync, chownSync, lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compiledProgram } from '../../src/host/program.js';
import { openToOthers } from '../harness/folder.js';

const UID = 64_001;
export const isRoot = process.getuid?.() === 0;
/** Null: the present user is one. */
export const ORDINARY_USER = isRoot ? { uid: UID, gid: UID, name: null, home: null } : null;

/** @returns the program and arguments that make the rest of a command line run as that user */
export function asOrdinaryUser(): readonly [string, ...string[]] {
  return isRoot ? ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', '--'] : ['env'];
}

/** @returns a program in the folder that starts the product's command line, as that user unless told otherwise */
export function productStarter(folder: string, prefix: readonly string[] = asOrdinaryUser()): string {
  const starter = join(folder, 'start');
  const words = [...prefix, process.execPath, compiledProgram('bridge/cli/main')];
  writeFileSync(starter, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`);
  chmodSync(starter, 0o755);
  return starter;
}

/** Gives a folder with all that is in it to that user. */
export function giveToOrdinaryUser(folder: string): void {
  if (!isRoot) return;
  giveTo(UID, folder);
  openToOthers(folder);
}

/** Needs root. */
export function giveTo(user: number, path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  chownSync(path, user, user);
  if (!stat.isDirectory()) return;
  for (const name of readdirSync(path)) giveTo(user, join(path, name));
}
