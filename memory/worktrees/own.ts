/**
 * What git has for one worktree alone, besides the contents of its index: its settings, the patterns of its sparse checkout, its refs, and
 * the marks of files in its index.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFileSync } from '../../src/files/plainFile.js';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { entryAt } from './entry.js';

/**
 * The names under which all is kept, in the order in which it comes back. `refs` is the input of `git update-ref --stdin`. The marks are
 * lists of files, each with a zero byte at its end.
 */
export const OWN_FILES = [
  'intent-to-add',
  'config.worktree',
  'sparse-checkout',
  'refs',
  'assume-unchanged',
  'skip-worktree',
] as const;
const OWN_REFS = ['refs/worktree/', 'refs/bisect/', 'refs/rewritten/'];
const LARGEST_BYTES = 64 * 1024 * 1024;

export interface OwnFile {
  readonly name: (typeof OWN_FILES)[number];
  /** As `latin1`. */
  readonly text: string;
}

/** The files that have a mark, as `latin1`. */
export type Marks = Readonly<Record<'intent-to-add' | 'assume-unchanged' | 'skip-worktree', readonly string[]>>;

export interface OwnRef {
  /** As `latin1`. */
  readonly name: string;
  readonly object: string;
}

export function isOwnRef(name: string): boolean {
  return OWN_REFS.some((beginning) => name.startsWith(beginning));
}

/** @returns null if git cannot say. Symbolic refs hold nothing and are left out, as are refs whose object is lost */
export function ownRefs(repository: Repository, place: WorktreePlace): OwnRef[] | null {
  if (!mayHaveRefs(repository, place)) return [];
  const format = '--format=%(objectname) %(refname) %(symref)';
  const listed = repository.askIn(place, ['for-each-ref', format, ...OWN_REFS], 'latin1')?.split('\n');
  if (listed === undefined) return null;
  const refs = listed.flatMap((line): OwnRef[] => {
    const [object = '', name = '', target = ''] = line.split(' ');
    return name === '' || target !== '' ? [] : [{ name, object }];
  });
  const kinds = kindsOf(
    repository,
    refs.map(({ object }) => object),
  );
  return kinds === null ? null : refs.filter(({ object }) => kinds.has(object));
}

/** A worktree mostly has none, and the files of git say so. */
function mayHaveRefs({ common }: Repository, { folder }: WorktreePlace): boolean {
  return existsSync(join(common, 'reftable')) || OWN_REFS.some((place) => existsSync(join(folder, place)));
}

/** @returns the kind of each object that is there: git has removed some long ago, and a log names them still. Null if git cannot say */
export function kindsOf({ attempt }: Repository, objects: readonly string[]): Map<string, string> | null {
  if (objects.length === 0) return new Map();
  const { code, out } = attempt(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: `${objects.join('\n')}\n`,
  });
  if (code !== 0) return null;
  return new Map(
    out.split('\n').flatMap((line): [string, string][] => {
      const [object = '', kind = ''] = line.split(' ');
      return kind === '' || kind === 'missing' ? [] : [[object, kind]];
    }),
  );
}

/** @returns those that are there and not empty; null if one cannot be read */
export function ownFiles({ folder }: WorktreePlace, refs: readonly OwnRef[], marks: Marks): OwnFile[] | null {
  const listed = (mark: keyof Marks) => marks[mark].map((path) => `${path}\0`).join('');
  try {
    const texts: Readonly<Record<OwnFile['name'], string>> = {
      'config.worktree': textAt(join(folder, 'config.worktree')),
      'sparse-checkout': textAt(join(folder, 'info/sparse-checkout')),
      refs: refs.map(({ name, object }) => `update ${name} ${object}\n`).join(''),
      'intent-to-add': listed('intent-to-add'),
      'assume-unchanged': listed('assume-unchanged'),
      'skip-worktree': listed('skip-worktree'),
    };
    return OWN_FILES.map((name) => ({ name, text: texts[name] })).filter(({ text }) => text !== '');
  } catch {
    return null;
  }
}

function textAt(path: string): string {
  return entryAt(path) === null ? '' : readPlainFileSync(path, LARGEST_BYTES, { encoding: 'latin1' });
}

/** @returns whether files of the worktree that no pattern names are left out of its folder */
export function isSparse({ askIn }: Repository, place: WorktreePlace): boolean {
  return askIn(place, ['config', '--type=bool', '--get', 'core.sparseCheckout'])?.trim() === 'true';
}
