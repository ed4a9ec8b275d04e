/** The verbs of `watchkeeper worktree`. */
import { didYouMean } from '../../src/config/didYouMean.js';
import { UsageError } from '../../src/errors.js';
import { ambiguous } from '../../src/ids.js';
import { type Inside, insideOf } from '../look/inWorktrees.js';
import { listSessions } from '../look/list.js';
import type { Surroundings } from '../sessions/surroundings.js';
import type { Viewer } from '../sessions/views.js';
import { ago } from '../show/status.js';
import {
  ageCell,
  changesCell,
  insideCell,
  mergedCell,
  nameCell,
  notesOn,
  removedNotes,
  sizeCell,
} from '../show/worktreeWords.js';
import { type ListedWorktree, listWorktrees, type WorktreeList } from '../worktrees/list.js';
import { type RepositoryPlace, repositoryAt, stayingFolder } from '../worktrees/place.js';
import type { Removal } from '../worktrees/records.js';
import { sizeOf } from '../worktrees/size.js';
import { wayBack } from '../worktrees/wayBack.js';
import { type Worktree, worktreeAround, worktreesNamed } from '../worktrees/worktree.js';
import { flag, neededWord } from './fields.js';
import { allOf } from './removeWorktrees.js';
import { unanswered } from './unanswered.js';
import { type Outcome, verb } from './verb.js';

/** As many names of changed files are enough for a program that decides what to look at. */
const MOST_FILES = 50;
const ignore = () => undefined;
const NOTHING_INSIDE: Inside = { sessions: [], agents: [], processes: null };

export const list = verb({
  name: 'list',
  summary:
    'every worktree of the repository, whichever program made it: changes,\nwhether it is merged, who works in it; --size: with the room it takes;\n--removed: instead, the way back to each removed one',
  fields: { size: flag('[--size|--removed]'), removed: flag('') },
  async run(memory, { size, removed: isOfRemoved }, { judge }): Promise<Outcome> {
    const { process, variables } = memory.surroundings;
    const place = placeOf(memory.surroundings);
    const found = listWorktrees(place, process, variables);
    if (found === null) throw unanswered(place, variables);
    const { base, worktrees, removed, unfinished, running, kept } = found;
    const going = new Set([...unfinished, ...running].map(({ folder }) => folder));
    const inside = await insideOf(memory, worktrees, judge);
    // A log that cannot be read is no reason to leave out a worktree: its session counts as one that left nothing unfinished.
    const open = await listSessions(memory, { where: 'repository', which: 'unfinished', judge, onUnreadable: ignore });
    const roots = new Set(worktrees.map(({ path }) => path));
    const here = worktreeAround(worktrees, memory.workspace.root)?.path ?? null;
    const rows = worktrees.map((worktree) => ({
      worktree,
      inside: inside.get(worktree.path) ?? NOTHING_INSIDE,
      size: size ? sizeOf(worktree.path, roots) : null,
      isRemoved: worktree.folder !== null && going.has(worktree.folder),
    }));
    return {
      value: {
        repository: place.id,
        home: place.home,
        base,
        worktrees: rows.map((row) => ({ ...rowValue(row), is_here: row.worktree.path === here })),
        removed: removed.map((each) => removalValue(each, place)),
        unfinished: unfinished.map((each) => removalValue(each, place, true)),
      },
      lines: isOfRemoved
        ? removedLines(memory, found, place)
        : tableOf(memory, rows, {
            base: base === null ? null : base.name,
            unfinished: new Set(open.rows.map(({ session_id }) => session_id)),
            below: removedNotes({ kept: kept ?? [], unfinished, running }, memory.settings.removed_days),
          }),
      asides: found.unanswered.map(memory.stamp.redact),
    };
  },
});

export const path = verb({
  name: 'path',
  summary: 'prints the folder of a worktree, for `cd`; NAME is TYPE/NAME, a branch,\na folder, or the name alone',
  fields: { name: neededWord('NAME', 'path NAME: which worktree? `watchkeeper worktree list` shows all') },
  run(memory, { name }): Outcome {
    const { path, ghost } = worktreeNamed(memory.surroundings, name);
    if (ghost?.kind === 'folder_gone' || ghost?.kind === 'unreadable')
      throw new UsageError(`the folder of ${name} is gone: ${path}`);
    return { value: { path }, lines: path };
  },
});

/** @throws UsageError if the caller's directory is in no repository */
export function placeOf({ directory }: Surroundings): RepositoryPlace {
  const place = repositoryAt(directory);
  if (place === null) throw new UsageError(`${directory} is in no git repository: change to one first`);
  return place;
}

/** @throws UsageError if there is no such worktree, or several may be meant; UnreachableError if git does not answer */
function worktreeNamed(surroundings: Surroundings, name: string): Worktree {
  return worktreeAmong(allOf(surroundings, placeOf(surroundings)), name, surroundings.directory);
}

/** @throws UsageError if there is no such worktree, or several may be meant */
export function worktreeAmong(worktrees: readonly Worktree[], name: string, directory: string): Worktree {
  const [found, ...others] = worktreesNamed(worktrees, name, directory);
  if (found === undefined) {
    const known = worktrees.map(({ branch, path }) => branch ?? path);
    throw new UsageError(
      `no worktree is called ${JSON.stringify(name)}${didYouMean(name, known)} (\`watchkeeper worktree list\` shows all)`,
    );
  }
  if (others.length > 0)
    throw ambiguous(
      name,
      [found, ...others].map(({ path }) => path),
      'worktrees',
      'one by its folder',
    );
  return found;
}

interface Row {
  readonly worktree: ListedWorktree;
  readonly inside: Inside;
  /** In bytes; null if it was not asked for. */
  readonly size: number | null;
  /** Whether it is being removed, or its removal was cut off. */
  readonly isRemoved: boolean;
}

function rowValue({ worktree, inside, size }: Row) {
  const { dirt, folder: _, unanswered: __, ...rest } = worktree;
  const named = (paths: readonly string[]) => ({ count: paths.length, files: paths.slice(0, MOST_FILES) });
  return {
    ...rest,
    dirt: dirt === null ? null : { tracked: named(dirt.tracked), untracked: named(dirt.untracked) },
    ...inside,
    ...(size !== null && { size_bytes: size }),
  };
}

function removalValue(removal: Removal, place: RepositoryPlace, isCutOff = false) {
  const { name, path, at, kept } = removal;
  return { name, path, at, kept, way_back: wayBack(removal, stayingFolder(place), isCutOff) };
}

function removedLines({ clock, stamp }: Viewer, { removed, kept }: WorktreeList, place: RepositoryPlace): string[] {
  const now = clock.now();
  const recorded = removed.flatMap((removal) => [
    `${removal.name}, removed ${ago(now - removal.at)}, was in ${removal.path}; the way back:`,
    ...wayBack(removal, stayingFolder(place)).map((line) => `  ${line}`),
  ]);
  const others = (kept ?? []).filter(({ ref }) => removed.every((removal) => removal.kept !== ref));
  const lines = [
    ...recorded,
    ...others.map(({ ref, name, at }) => `${name}, removed ${ago(now - at)}, without a record: \`git log ${ref}\``),
  ];
  return (lines.length === 0 ? ['no removed worktree is kept'] : lines).map(stamp.redact);
}

interface Notes {
  /** The name of the branch for which it is said whether each is merged; null if none is known. */
  readonly base: string | null;
  /** The ids of sessions that left something unfinished. */
  readonly unfinished: ReadonlySet<string>;
  /** Sentences on what is no worktree any more. */
  readonly below: readonly string[];
}

function tableOf({ clock, stamp, surroundings }: Viewer, rows: readonly Row[], { base, unfinished, below }: Notes) {
  const now = clock.now();
  const { redact } = stamp;
  const { HOME } = surroundings.variables;
  const isSized = rows.some(({ size }) => size !== null);
  const size = isSized ? ['SIZE'] : [];
  const cells = rows.map(({ worktree, inside, size }) => [
    nameCell(worktree),
    changesCell(worktree),
    mergedCell(worktree),
    ageCell(worktree, now),
    insideCell(inside, unfinished),
    ...(size === null ? [] : [sizeCell(size)]),
    HOME !== undefined && worktree.path.startsWith(`${HOME}/`) ? `~${worktree.path.slice(HOME.length)}` : worktree.path,
  ]);
  const notes = [
    ...rows.flatMap(({ worktree, inside, isRemoved }) => notesOn(worktree, inside, { unfinished, isRemoved })),
    ...below,
  ].map(redact);
  return {
    head: ['BRANCH', 'CHANGES', `MERGED${base === null ? '' : ` INTO ${base}`}`, 'AGE', 'IN IT', ...size, 'FOLDER'],
    rows: cells.map((row) => row.map(redact)),
    // Folders of one repository differ at their ends.
    isWhole: true,
    below: notes.length === 0 ? [] : ['', ...notes],
  };
}
