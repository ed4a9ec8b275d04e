/** The changes of commits, so that the same change is found again in another commit. */
import type { Repository } from '../git/repository.js';

/** A change of one file. */
interface FileChange {
  readonly path: string;
  /** The modes before and after; zeros if there is no file. */
  readonly modes: string;
  /** The names of the contents before and after. */
  readonly contents: string;
}

export interface Change {
  readonly files: readonly FileChange[];
  /** Which files are changed, and their modes: equal changes have the same. */
  readonly shape: string;
}

const RAW = ['-r', '--raw', '-z', '--root', '--no-renames', '--no-abbrev'];
const PATCH = ['-r', '-p', '--root', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];
/** Otherwise settings decide that, in later versions of git. */
const PLAIN = ['--src-prefix=a/', '--dst-prefix=b/', '--diff-algorithm=myers', '--unified=3', '--inter-hunk-context=0'];
const COMMIT_LINE = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const ENTRY = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) /;
/** They differ between commits that make the same change: names of contents, and where a hunk begins. */
const HEADERS_OF_PLACE = /^(?:index |@@ )/;
/** A line that is no context. */
const CHANGED = /^[^ ]/;

/**
 * @param commits their names; of a merge commit, git shows nothing
 * @returns by name; null if git cannot read one of them
 */
export function changesOf({ attempt }: Repository, commits: readonly string[]): Map<string, Change> | null {
  if (commits.length === 0) return new Map();
  const input = commits.map((commit) => `${commit}\n`).join('');
  // Paths of any encoding remain different.
  const { code, out } = attempt(['diff-tree', '--stdin', ...RAW], { input, encoding: 'latin1' });
  return code === 0 ? readRaw(out, commits) : null;
}

function readRaw(out: string, commits: readonly string[]): Map<string, Change> {
  const known = new Set(commits);
  const found = new Map<string, FileChange[]>(commits.map((commit) => [commit, []]));
  let files: FileChange[] | undefined;
  const words = out.split('\0');
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, before, after, from, to] = ENTRY.exec(word) ?? [];
    if (before === undefined) {
      if (known.has(word.trim())) files = found.get(word.trim());
      continue;
    }
    at += 1;
    files?.push({ path: words[at] ?? '', modes: `${before} ${after}`, contents: `${from} ${to}` });
  }
  return new Map([...found].map(([commit, files]) => [commit, { files, shape: shapeOf(files) }]));
}

function shapeOf(files: readonly FileChange[]): string {
  return files.map(({ path, modes }) => `${modes} ${path}`).join('\0');
}

/** @returns whether both have the same files before and after, so that no contents need to be compared */
export function isIdentical(one: Change, other: Change): boolean {
  return one.shape === other.shape && one.files.every(({ contents }, at) => contents === other.files[at]?.contents);
}

/** The lines that a commit changes. */
export interface Patch {
  /** With the lines around each change. */
  readonly whole: string;
  /** Without them. */
  readonly changed: string;
}

/**
 * @param commits as of {@link changesOf}
 * @returns by name; null if git cannot read them, or the differences are too large
 */
export function patchesOf({ attempt }: Repository, commits: readonly string[]): Map<string, Patch> | null {
  const input = commits.map((commit) => `${commit}\n`).join('');
  const { code, out } = attempt(['diff-tree', '--stdin', '--full-index', ...PATCH, ...PLAIN], {
    input,
    encoding: 'latin1',
  });
  return code === 0 ? readPatches(out) : null;
}

function readPatches(out: string): Map<string, Patch> {
  const found = new Map<string, string[]>();
  let lines: string[] = [];
  let index = '';
  for (const line of out.split('\n')) {
    if (COMMIT_LINE.test(line)) {
      lines = [];
      found.set(line, lines);
    } else if (HEADERS_OF_PLACE.test(line)) index = line;
    // Git says only that binary contents differ.
    else if (line !== '') lines.push(line.startsWith('Binary files ') ? `${line}\n${index}` : line);
  }
  return new Map([...found].map(([commit, lines]) => [commit, patchOf(lines)]));
}

function patchOf(lines: readonly string[]): Patch {
  return { whole: lines.join('\n'), changed: lines.filter((line) => CHANGED.test(line)).join('\n') };
}
