/** The temporary folder that is in the place of a repository's common one: nothing that names a program is in it. See `gitLine.ts`. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { hasPid } from '../../src/host/procfs.js';
import { DAY } from '../../src/time.js';
import { TRIAL } from './gitLine.js';
import { isInside } from './outside.js';

const PREFIX = 'watchkeeper-git-';
const MADE_BY = new RegExp(`^${PREFIX}(\\d+)-`);
const EVERYBODYS = '/tmp';
/** No command takes that long. Until then, its process may be one that is not seen from here, as in a container. */
const LEFT_AFTER_MS = DAY;

/** The data in the folder that worktrees share, without the objects: everything but configuration and hooks. */
const SHARED = ['refs', 'packed-refs', 'reftable', 'info', 'shallow'];

/** They would change what is kept, or leave some of it out. */
const NOT_OF_BYTES = /^core\.(?:attributesfile|autocrlf|sparsecheckout)(?:=|$)/i;
/** Of all attributes, these count most. */
const AS_IT_IS = '* -text -eol -ident -filter -working-tree-encoding\n';

export function isOfBytes(setting: string): boolean {
  return !NOT_OF_BYTES.test(setting);
}

export function prepareKeep(ours: string): void {
  const keep = join(ours, TRIAL.keep);
  if (existsSync(keep)) return;
  for (const folder of ['info', 'refs']) mkdirSync(join(keep, folder), { recursive: true });
  symlinkSync(join(ours, 'config'), join(keep, 'config'));
  writeFileSync(join(keep, 'info/attributes'), AS_IT_IS);
  writeFileSync(join(keep, 'HEAD'), 'ref: refs/heads/.invalid\n');
}

/** New objects come into a folder of ours. Those of the repository are read from there. */
export function prepareTrial(ours: string, common: string): void {
  if (existsSync(join(ours, TRIAL.files))) return;
  mkdirSync(join(ours, TRIAL.files));
  mkdirSync(dirname(join(ours, TRIAL.alternates)), { recursive: true });
  // A path with a line end, or one that begins with a quote, is read as a text in quotes.
  writeFileSync(join(ours, TRIAL.alternates), `${JSON.stringify(join(common, 'objects'))}\n`);
  writeFileSync(join(ours, TRIAL.head), 'ref: refs/heads/.invalid\n');
}

/** @returns a folder that no agent can reach, because a sandbox has another `/tmp`; null if it cannot be made */
export function makePrivateFolder(root: string, common: string, config: string): string | null {
  let ours: string | null = null;
  try {
    ours = mkdtempSync(join(isInside(tmpdir(), root) ? EVERYBODYS : tmpdir(), `${PREFIX}${process.pid}-`));
    writeFileSync(join(ours, 'config'), config);
    for (const name of SHARED) symlinkSync(join(common, name), join(ours, name));
    return ours;
  } catch {
    if (ours !== null) removePrivateFolder(ours);
    return null;
  }
}

export function removePrivateFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Removes the folders that commands left when they were killed. Those of other users stay.
 * @param now UTC epoch milliseconds
 */
export function sweepPrivateFolders(now: number): void {
  for (const parent of new Set([tmpdir(), EVERYBODYS]))
    for (const name of readdirSync(parent)) {
      const [, pid] = MADE_BY.exec(name) ?? [];
      if (pid === undefined || hasPid(Number(pid))) continue;
      const folder = join(parent, name);
      const found = lstatSync(folder, { throwIfNoEntry: false });
      if (found?.isDirectory() && found.uid === process.getuid?.() && now - found.mtimeMs > LEFT_AFTER_MS)
        removePrivateFolder(folder);
    }
}
