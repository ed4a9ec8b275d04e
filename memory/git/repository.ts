/** A repository, asked so that nothing of it is run; see `gitLine.ts`. */
import { existsSync, lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutOf, type GitFolders, gitFoldersOf } from './checkout.js';
import { whereSettingsAre } from './deedVariables.js';
import {
  type GitCall,
  type GitEnd,
  type GitLine,
  type GitVariables,
  keepLine,
  placeLine,
  privateLine,
  runGit,
  settingsLine,
  storeLine,
  trialLine,
} from './gitLine.js';
import { isOfBytes, makePrivateFolder, prepareKeep, prepareTrial, removePrivateFolder } from './privateFolder.js';
import { FATAL, type Refusal, Refusals } from './refusal.js';
import { type GitSettings, OBEYED, OF_COMMITS, readSettings } from './settings.js';

/** Hexadecimal digits of a commit of the usual format. */
const SHA1_LENGTH = 40;
/** How `git config` exits if there are no such settings. */
const NONE = 1;

export interface Repository extends Refusal {
  /** Whether it has no files of its own: then there is no worktree. */
  readonly isBare: boolean;
  /** Whether the repository has no checkout of its own, also where this worktree is linked to it. */
  readonly isContainer: boolean;
  /** The folder that its worktrees share. */
  readonly common: string;
  /** The command of its configuration for a new worktree; null if there is none, or the question is about commits alone. */
  readonly setup: string | null;
  /** Whether programs of its configuration convert files, which no question runs; false if the question is about commits alone. */
  readonly hasFilters: boolean;
  /** @returns what git printed; null if it failed or took too long */
  ask(args: readonly string[], print?: Print): string | null;
  /** As {@link ask}, for a question whose answer is how git exits. */
  askEnd(args: readonly string[], print?: Print): GitEnd;
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
  /** As {@link ask}, about git's folder for a worktree, whose files may be gone: its refs and their logs. */
  askFolder(folder: string, args: readonly string[]): string | null;
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
    removePrivateFolder(ours);
  }
}

interface Place {
  readonly root: string;
  readonly folders: GitFolders;
  readonly settings: GitSettings;
  readonly variables: GitVariables;
  readonly askingMs: number;
}

function repositoryIn(ours: string, asked: Place): Repository {
  const { root, folders, settings, variables, askingMs } = asked;
  const { common, folder } = folders;
  const { isBare, ofFiles, ofPrint, setup, hasFilters } = settings;
  const refusals = new Refusals(ours, common);
  const run = (line: GitLine, call: Omit<GitCall, 'limitMs'> = {}) =>
    refusals.note(runGit(line, { limitMs: askingMs, ...call }));
  // For the worktree that is asked, it is known already, also if the user has allowed it.
  const isReadable = (place: WorktreePlace) => (place.root === root && place.folder === folder) || isOwn(place);
  const runIn = (place: WorktreePlace, line: () => GitLine, call: Omit<GitCall, 'limitMs'>) =>
    isReadable(place) ? run(line(), call) : refusals.note(REFUSED);
  const lineOf = (args: readonly string[], print: Print) => {
    const obeyed = print === 'plain' ? ofFiles : [...ofFiles, ...ofPrint];
    return privateLine({ ...folders, root, ours, settings: obeyed }, args, variables);
  };
  const tried = (line: GitLine, call?: Omit<GitCall, 'limitMs'>) => {
    prepareTrial(ours, common);
    return run(line, call);
  };
  const obeyedIn = obeyedBy(asked);
  return {
    isBare: isBare && folder === common,
    get isContainer() {
      return ofPlace({ root, folder: common }, asked).isBare;
    },
    get refusal() {
      return refusals.last;
    },
    common,
    setup,
    hasFilters,
    ask(args, print = 'plain') {
      return printedBy(run(lineOf(args, print)));
    },
    askEnd(args, print = 'plain') {
      return run(lineOf(args, print));
    },
    askIn(place, args, encoding, input) {
      const line = () => privateLine({ ...place, common, ours, settings: obeyedIn(place) }, args, variables);
      const end = runIn(place, line, { encoding, input });
      return printedBy(UNREAD.test(end.err) ? refusals.note({ ...end, code: FATAL }) : end);
    },
    askFolder(folder, args) {
      return printedBy(run(privateLine({ root: folder, folder, common, ours, settings: [] }, args, variables)));
    },
    attempt(args, call) {
      return tried(trialLine(root, ours, args, variables), call);
    },
    store(args, call) {
      return tried(storeLine({ root, ours, common }, args, variables), call);
    },
    keepFiles(place, args, input) {
      const line = () => {
        prepareKeep(ours);
        return keepLine({ ...place, common, ours, settings: obeyedIn(place).filter(isOfBytes) }, args, variables);
      };
      return runIn(place, line, { input, encoding: 'latin1' });
    },
  };
}

/** @returns a function that gives the settings which git obeys in a worktree */
function obeyedBy(asked: Place): (place: WorktreePlace) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (place) => {
    const found = known.get(place.folder) ?? ofPlace(place, asked).ofFiles;
    known.set(place.folder, found);
    return found;
  };
}

function printedBy({ code, out }: GitEnd): string | null {
  return code === 0 ? out : null;
}

/** Git only warns of a folder that it cannot read, and lists no file: they would go unseen. One that has just gone has none. */
const UNREAD = /^warning: could not open directory .*(?<!: No such file or directory)$/m;

/** As git says it. */
const REFUSED: GitEnd = { code: FATAL, out: '', err: 'its files belong to another user' };

/**
 * Git refuses the files of other users unless `safe.directory` names them. A line that names the folders skips that check, so git is
 * asked before.
 */
function ownFolders(root: string, variables: GitVariables, limitMs: number): GitFolders | null {
  try {
    const folders = gitFoldersOf(root);
    const { folder, common } = folders;
    if (areOwn([root, join(root, '.git'), folder, common])) return folders;
    return runGit(placeLine(root, whereSettingsAre(variables)), { limitMs }).code === 0 ? folders : null;
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

/** Each worktree may have settings of its own; mostly, none has, and those of the one that is asked are those of all. */
function ofPlace(place: WorktreePlace, { folders, settings, variables, askingMs }: Place): GitSettings {
  const isOther = place.folder !== folders.folder;
  const hasOwn = [place.folder, folders.folder].some((folder) => existsSync(join(folder, 'config.worktree')));
  const own = isOther && hasOwn ? settingsOf(place.root, { ...folders, ...place }, variables, askingMs) : null;
  return own ?? settings;
}
