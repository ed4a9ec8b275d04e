/** A repository, asked so that nothing of it is run; see `gitLine.ts`. */
import { lstatSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutOf, type GitFolders, gitFoldersOf } from './checkout.js';
import { type GitVariables, isInside, placeLine, privateLine, runGit, settingsLine } from './gitLine.js';
import { OBEYED, OF_COMMITS, readSettings } from './settings.js';

/** The data in the folder that worktrees share, without the objects: everything but configuration and hooks. */
const SHARED = ['refs', 'packed-refs', 'reftable', 'info', 'shallow'];
/** Hexadecimal digits of a commit of the usual format. */
const SHA1_LENGTH = 40;
/** How `git config` exits if there are no such settings. */
const NONE = 1;

export interface Repository {
  /** Whether it has no files of its own: then there is no worktree. */
  readonly isBare: boolean;
  /** @returns what git printed; null if it failed or took too long */
  ask(args: readonly string[], print?: Print): string | null;
}

/** How a difference is printed: as git does, or as the settings of repository and user say. */
export type Print = 'plain' | 'configured';

export interface Asking {
  /** Questions about commits can do without the settings, and so without a process that reads them. */
  readonly about: 'files' | 'commits';
  /** To find out about the repository, twice at the most. */
  readonly preparingMs: number;
  /** For each call of `ask`. */
  readonly askingMs: number;
}

/**
 * @param root the top level of a worktree
 * @returns the answer; null if it is no worktree, git is not installed or refuses the owner of its files, the format of the
 *   repository is not known here, or no temporary folder can be made
 */
export function withRepository<Answer>(
  root: string,
  variables: GitVariables,
  { about, preparingMs, askingMs }: Asking,
  question: (repository: Repository) => Answer | null,
): Answer | null {
  const folders = ownFolders(root, variables, preparingMs);
  if (folders === null) return null;
  const isShown = about === 'commits' && checkoutOf(root)?.head?.length === SHA1_LENGTH;
  const settings = isShown ? OF_COMMITS : settingsOf(root, folders, variables, preparingMs);
  if (settings === null) return null;
  const { isBare, format, ofFiles, ofPrint } = settings;
  const ours = makePrivateFolder(root, folders.common, format);
  if (ours === null) return null;
  try {
    return question({
      isBare: isBare && folders.folder === folders.common,
      ask(args, print = 'plain') {
        const obeyed = print === 'plain' ? ofFiles : [...ofFiles, ...ofPrint];
        const line = privateLine({ ...folders, root, ours, settings: obeyed }, args, variables);
        const { code, out } = runGit(line, askingMs);
        return code === 0 ? out : null;
      },
    });
  } finally {
    remove(ours);
  }
}

/**
 * Git refuses the files of other users unless `safe.directory` names them. A line that names the folders skips that check, so git is
 * asked before.
 */
function ownFolders(root: string, { PATH, HOME }: GitVariables, limitMs: number): GitFolders | null {
  try {
    const folders = gitFoldersOf(root);
    const { folder, common } = folders;
    const files = [lstatSync(root), lstatSync(join(root, '.git')), statSync(folder), statSync(common)];
    const user = process.geteuid?.();
    if (files.every(({ uid }) => uid === user)) return folders;
    return runGit(placeLine(root, { PATH, HOME }), limitMs).code === 0 ? folders : null;
  } catch {
    return null;
  }
}

function settingsOf(root: string, { folder }: GitFolders, variables: GitVariables, limitMs: number) {
  const { code, out } = runGit(settingsLine(OBEYED, root, folder, variables), limitMs);
  return code === 0 || code === NONE ? readSettings(out) : null;
}

/** @returns a folder that no agent can reach, because a sandbox has another `/tmp`; null if it cannot be made */
function makePrivateFolder(root: string, common: string, config: string): string | null {
  let ours: string | null = null;
  try {
    ours = mkdtempSync(join(isInside(tmpdir(), root) ? '/tmp' : tmpdir(), 'watchkeeper-git-'));
    writeFileSync(join(ours, 'config'), config);
    for (const name of SHARED) symlinkSync(join(common, name), join(ours, name));
    return ours;
  } catch {
    if (ours !== null) remove(ours);
    return null;
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
