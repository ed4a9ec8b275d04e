/** The files that a shell command changed, as Claude Code lists them next to its output (`bashEditDiff`; it is off by default). */
import type { Changes } from '../draft/deeds.js';
import { type Fields, listAt, numberAt, textAt } from '../draft/fields.js';

const KINDS = ['created', 'modified', 'deleted', 'changed'] as const;

interface Change {
  readonly path: string;
  /** `changed`: it is not said which of the others. */
  readonly kind: (typeof KINDS)[number];
  /** The whole text of a file that was created or deleted; null if it is unknown. */
  readonly text: string | null;
}

/**
 * @param diff `bashEditDiff`
 * @returns null if it lists no file. A file that went and one that came with the same text is a move
 */
export function shellChanges(diff: Fields, trim: (text: string) => string): Changes | null {
  const changes = changesOf(diff);
  const more = unnamedIn(diff, changes.length);
  if (changes.length === 0 && more === 0) return null;
  const renamed: { from: string; to: string }[] = [];
  const moved = new Set<Change>();
  for (const gone of changes.filter(({ kind, text }) => kind === 'deleted' && text !== null)) {
    const come = changes.find((each) => each.kind === 'created' && each.text === gone.text && !moved.has(each));
    if (come === undefined) continue;
    moved.add(gone).add(come);
    renamed.push({ from: trim(gone.path), to: trim(come.path) });
  }
  const listed = (wanted: Change['kind']) =>
    changes.filter((each) => each.kind === wanted && !moved.has(each)).map(({ path }) => trim(path));
  const lists = KINDS.map((kind) => [kind, listed(kind)] as const);
  return {
    ...Object.fromEntries(lists.filter(([, paths]) => paths.length > 0)),
    ...(renamed.length > 0 && { renamed }),
    ...(more > 0 && { more }),
  };
}

function changesOf(diff: Fields): Change[] {
  if (diff.files === undefined && diff.changedFiles === undefined) return [];
  const shown = listAt(diff, 'files').flatMap((file): Change[] => {
    const path = textAt(file, 'filePath');
    if (path === null) return [];
    const kind = file.created === true ? 'created' : file.deleted === true ? 'deleted' : 'modified';
    return [{ path, kind, text: kind === 'modified' ? null : wholeText(file) }];
  });
  const known = new Set(shown.map(({ path }) => path));
  // Files beyond the diff's size are only named, whether they were created, changed or deleted.
  const named = Array.isArray(diff.changedFiles) ? diff.changedFiles : [];
  const others = named.filter((path): path is string => typeof path === 'string' && !known.has(path));
  return [...shown, ...others.map((path): Change => ({ path, kind: 'changed', text: null }))];
}

/** Beyond the files that it shows, and beyond those that it names, it has only a number. */
function unnamedIn(diff: Fields, known: number): number {
  const more = numberAt(diff, 'moreFiles') ?? 0;
  return Math.max(listAt(diff, 'files').length + more - known, 0);
}

/** @returns null if not all of it is shown, and for an empty text: two empty files are not one that moved */
function wholeText(file: Fields): string | null {
  const hunks = listAt(file, 'hunks');
  const lines = hunks.flatMap(({ lines }) => (Array.isArray(lines) ? lines.map(String) : []));
  const shown = lines.filter((line) => line.startsWith('+') || line.startsWith('-'));
  const whole = hunks.reduce(
    (sum, hunk) => sum + (numberAt(hunk, 'oldLines') ?? 0) + (numberAt(hunk, 'newLines') ?? 0),
    0,
  );
  return shown.length === 0 || shown.length !== whole ? null : shown.map((line) => line.slice(1)).join('\n');
}
