/** Whether an agent's copy of the plugin is still what the package has. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { textIfThere, unlessAbsent } from './absent.js';

/** @returns whether both folders are there, and a file of the original is missing in the copy, or another one */
export function isOutdated(copy: string, original: string): boolean {
  const files = filesIn(original);
  if (files.length === 0 || filesIn(copy).length === 0) return false;
  return files.some((path) => textIfThere(join(copy, path)) !== textIfThere(join(original, path)));
}

function filesIn(folder: string): string[] {
  const entries = unlessAbsent(() => readdirSync(folder, { recursive: true, withFileTypes: true }), []);
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}
