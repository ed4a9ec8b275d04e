/** Sections of a context on files: those in doubt, those that others have finished, and those that were changed. */
import { type DoubtfulFile, nameIn } from '../condition/filesInDoubt.js';
import type { SettledFile } from '../look/settledSince.js';
import { changeWords, type ObservedFile } from '../observed/files.js';
import type { Observed } from '../observed/observed.js';
import type { Section } from './budget.js';
import { entries, type Words } from './observedSections.js';

export function doubtOf(files: readonly DoubtfulFile[], words: Words): Section {
  const state = (file: DoubtfulFile) => {
    const { kept_in } = file;
    const place = kept_in?.split(' ').map((word) => words.name(word));
    return `${stateOf(file)}${place === undefined ? '' : `; ${place.join(' ')} has a version of it`}`;
  };
  return {
    title: 'Files that were being worked on and may be half written, to be checked first:',
    entries: entries(
      'files',
      files.map((file) => `- ${words.path(file.path)}: ${state(file)}`),
    ),
  };
}

function stateOf({ exists, size, changed_since }: DoubtfulFile): string {
  if (!exists) return 'it does not exist';
  if (size === null) return 'it cannot be looked at';
  return `${size} bytes, ${changed_since ? 'changed' : 'not changed'} since it was last mentioned`;
}

/** @returns how a file was finished, in a clause */
export function settledWords({ how, by }: SettledFile, name: (id: string) => string): string {
  return by === null ? `${how} since` : `${how} since by the agent of session ${name(by)}`;
}

export function settledOf(files: readonly SettledFile[], words: Words): Section {
  return {
    title: 'Files that it may have left half written, and that others have finished since:',
    entries: entries(
      'notes',
      files.map((file) => `- ${words.path(file.path)}: ${settledWords(file, (id) => words.name(id))}`),
    ),
  };
}

/** Names only: the agent that works on them knows the rest. */
export function inProgressOf(files: readonly DoubtfulFile[], words: Words): Section {
  return {
    title: 'Files in progress:',
    entries: entries(
      'files',
      files.map(({ path }) => `- ${words.path(path)}`),
    ),
  };
}

/**
 * @param directory as in {@link nameIn}
 * @param doubtful files that the reader is told of anyway. That they were modified is no news
 */
export function changedOf(
  { files, more }: Observed,
  directory: string,
  words: Words,
  doubtful: readonly DoubtfulFile[],
): Section {
  const known = new Set(doubtful.map(({ path }) => path));
  const isNews = ([path, { change, rewound }]: readonly [string, ObservedFile]) =>
    change !== 'read' && (change !== 'modified' || rewound || !known.has(nameIn(directory, path)));
  const name = (path: string) => words.path(nameIn(directory, path));
  const line = ([path, { change, from, rewound }]: readonly [string, ObservedFile]) =>
    `- ${changeWords(change)}${rewound ? ', taken back perhaps' : ''}: ${from === null ? '' : `${name(from)} to `}${name(path)}`;
  const changed = [...files].filter(isNews);
  const others = more.files ? ' (there may be others: not every file was recorded)' : '';
  return {
    title: `Files that it changed, the latest first${others}:`,
    entries: entries('notes', changed.map(line).reverse()),
  };
}
