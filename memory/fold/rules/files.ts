/** The inventory of files: which are read, worked on, done. */
import * as z from 'zod/mini';
import { FILE_STATUSES } from '../../words.js';
import { MOST_FILES, setIn } from '../bounds.js';
import type { FileEntry, Worklog } from '../worklog.js';
import { fact } from './rule.js';

const text = z.optional(z.string());

export const fileRules = {
  file: fact(
    () => ({
      path: z.string().check(z.minLength(1)),
      to: z.optional(z.enum(FILE_STATUSES)),
      from: text,
      step: text,
    }),
    (log, { path, to, from, step }, { at }) => {
      const before = log.files.get(from ?? path);
      if (from !== undefined) log.files.delete(from);
      const status = to ?? before?.status ?? 'done';
      keepFile(log, path, { status, step: step ?? before?.step ?? onlyStepInProgress(log), at });
    },
  ),
};

export function keepFile({ files, more }: Worklog, path: string, entry: FileEntry): void {
  setIn(files, [path, entry], {
    more,
    name: 'files',
    most: MOST_FILES,
    isSettled: ({ status }) => status !== 'working',
  });
}

/** @returns the step that is in progress, if there is exactly one */
export function onlyStepInProgress(log: Worklog): string | null {
  const [first, ...others] = [...log.steps.values()].filter(({ status }) => status === 'in_progress');
  return others.length === 0 ? (first?.id ?? null) : null;
}
