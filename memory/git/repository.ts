/** A repository, asked so that nothing of it is run; see `gitLine.ts`. */
import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkoutOf, type GitFolders, gitFoldersOf } from './checkout.js';
import {
  type GitCall,
  type GitEnd,
  type GitLine,
  type GitVariables,
  isInside,
  keepLine,
  placeLine,
  privateLine,
  runGit,
  settingsLine,
  storeLine,
  TRIAL,
  trialLine,
} from './gitLine.js';
import { type GitSettings, OBEYED, OF_COMMITS, readSettings } from './settings.js';

/** The data in the folder that worktrees share, without the objects: everything but configuration and hooks. */
const SHARED = ['refs', 'packed-refs', 'reftable', 'info', 'shallow'];
/** Hexadecimal digits of a commit of the usual format. */
const SHA1_LENGTH = 40;
/** How `git config` exits if there are no such settings. */
const NONE = 1;

export interface Repository {
  /** Whether it has no files of its own: then there is no worktree. */
  readonly isBare: boolean;
  /** Whether the repository has no checkout of its own, also where this worktree is linked to it. */
  readonly isContainer: boolean;
  /** The folder that its worktrees share. */
  readonly common: string;
  /** The command of its configuration for a new worktree; null if there is none, or the question is about commits alone. */
  readonly setup: string | null;
  /** @returns what git printed; null if it failed or took too long */
  ask(args: readonly string[], print?: Print): string | null;
  /**
   * As {@link ask}, about another worktree of the repository.
   * @param encoding as of {@link GitCall}
   * @param input in that encoding
   * @returns null also if its files belong to another user
   */
  askIn(
    worktree: WorktreePlace,
    args: readonly string[],
    encoding?: GitCall['encoding'],
    input?: string,
  ): string | null;
  /**
   * Asks about commits alone. Git may write objects and an index: they last as long as the question, outside the repository. No
   * setting and no worktree of a user changes the answer.
   */
  attempt(args: readonly string[], call?: Omit<GitCall, 'limitMs'>): GitEnd;
  /** As {@link attempt}, but objects that git writes stay in the repository. No branch is changed. */
  store(args: readonly string[], call?: Omit<GitCall, 'limitMs'>): GitEnd;
  /**
   * Takes files of a worktree into an index of ours and into objects of the repository, whatever attributes and filters say. The index
   * begins empty, and is the same for all calls about one question.
   * @param input in the encoding `latin1`, as what is printed
   */
  keepFiles(worktree: WorktreePlace, args: readonly string[], input?: string): GitEnd;
}

/** A worktree: its top level, and the folder of its own that git keeps for it. */
export interface WorktreePlace extends Pick<GitFolders, 'folder'> {
  readonly root: string;
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
  const ours = makePrivateFolder(root, folders.common, settings.format);
  if (ours === null) return null;
  try {
    return question(repositoryIn(ours, { root, folders, settings, variables, askingMs }));
  } finally {
    remove(ours);
  }
}

interface Place {
  readonly root: string;
  readonly folders: GitFolders;
  readonly settings: GitSettings;
  readonly variables: GitVariables;
  readonly askingMs: number;
}

function repositoryIn(ours: string, { root, folders, settings, variables, askingMs }: Place): Repository {
  const { common, folder } = folders;
  const { isBare, ofFiles, ofPrint, setup } = settings;
  const printed = (line: GitLine, call: Pick<GitCall, 'encoding' | 'input'> = {}) => {
    const { code, out } = runGit(line, { limitMs: askingMs, ...call });
    return code === 0 ? out : null;
  };
  let isPrepared = false;
  return {
    isBare: isBare && folder === common,
    isContainer: isBare,
    common,
    setup,
    ask(args, print = 'plain') {
      const obeyed = print === 'plain' ? ofFiles : [...ofFiles, ...ofPrint];
      return printed(privateLine({ ...folders, root, ours, settings: obeyed }, args, variables));
    },
    askIn(place, args, encoding, input) {
      if (!isOwn(place)) return null;
      return printed(privateLine({ ...place, common, ours, settings: ofFiles }, args, variables), { encoding, input });
    },
    attempt(args, call = {}) {
      if (!isPrepared) prepareTrial(ours, common);
      isPrepared = true;
      return runGit(trialLine(root, ours, args, variables), { ...call, limitMs: askingMs });
    },
    store(args, call = {}) {
      if (!isPrepared) prepareTrial(ours, common);
      isPrepared = true;
      return runGit(storeLine({ root, ours, common }, args, variables), { ...call, limitMs: askingMs });
    },
    keepFiles(place, args, input) {
      if (!isOwn(place)) return REFUSED;
      prepareKeep(ours);
      const line = keepLine({ ...place, common, ours, settings: ofFiles.filter(isOfBytes) }, args, variables);
      return runGit(line, { input, encoding: 'latin1', limitMs: askingMs });
    },
  };
}

/** The files belong to another user. */
const REFUSED: GitEnd = { code: null, out: '', err: 'its files belong to another user' };
/** They would change what is kept, or leave some of it out. */
const NOT_OF_BYTES = /^core\.(?:attributesfile|autocrlf|sparsecheckout)(?:=|$)/i;
/** Of all attributes, these count most. */
const AS_IT_IS = '* -text -eol -ident -filter -working-tree-encoding\n';

function isOfBytes(setting: string): boolean {
  return !NOT_OF_BYTES.test(setting);
}

function prepareKeep(ours: string): void {
  const keep = join(ours, TRIAL.keep);
  if (existsSync(keep)) return;
  for (const folder of ['info', 'refs']) mkdirSync(join(keep, folder), { recursive: true });
  symlinkSync(join(ours, 'config'), join(keep, 'config'));
  writeFileSync(join(keep, 'info/attributes'), AS_IT_IS);
  writeFileSync(join(keep, 'HEAD'), 'ref: refs/heads/.invalid\n');
}

/** New objects come into a folder of ours. Those of the repository are read from there. */
function prepareTrial(ours: string, common: string): void {
  mkdirSync(join(ours, TRIAL.files));
  mkdirSync(dirname(join(ours, TRIAL.alternates)), { recursive: true });
  // A path with a line end, or one that begins with a quote, is read as a text in quotes.
  writeFileSync(join(ours, TRIAL.alternates), `${JSON.stringify(join(common, 'objects'))}\n`);
  writeFileSync(join(ours, TRIAL.head), 'ref: refs/heads/.invalid\n');
}

/**
 * Git refuses the files of other users unless `safe.directory` names them. A line that names the folders skips that check, so git is
 * asked before.
 */
function ownFolders(root: string, { PATH, HOME }: GitVariables, limitMs: number): GitFolders | null {
  try {
    const folders = gitFoldersOf(root);
    const { folder, common } = folders;
    if (areOwn([root, join(root, '.git'), folder, common])) return folders;
    return runGit(placeLine(root, { PATH, HOME }), { limitMs }).code === 0 ? folders : null;
  } catch {
    return null;
  }
}

/** @throws if one is not there. Of the first two, git does not follow a link either */
function areOwn([root = '', link = '', ...folders]: readonly string[]): boolean {
  const user = process.geteuid?.();
  const files = [lstatSync(root), lstatSync(link), ...folders.map((folder) => statSync(folder))];
  return files.every(({ uid }) => uid === user);
}

function isOwn({ root, folder }: WorktreePlace): boolean {
  try {
    return areOwn([root, join(root, '.git'), folder]);
  } catch {
    return false;
  }
}

function settingsOf(root: string, { folder }: GitFolders, variables: GitVariables, limitMs: number) {
  const { code, out } = runGit(settingsLine(OBEYED, root, folder, variables), { limitMs });
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
