/** Skills of ours that a person has copied into an agent's own folders. They come without hooks, so nothing is recorded. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { textIfThere, unlessAbsent } from './absent.js';

/** In every skill of ours: the command that it calls. */
const MARK = /\bwatchkeeper (?:track|work)\b/;

/**
 * @param folders where an agent looks for skills, one folder each
 * @returns the folders of the skills that call Watchkeeper
 */
export function skillsByHand(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    namesIn(folder)
      .map((name) => join(folder, name))
      .filter((skill) => MARK.test(textOf(join(skill, 'SKILL.md')))),
  );
}

function namesIn(folder: string): string[] {
  return unlessAbsent(() => readdirSync(folder).sort(), []);
}

function textOf(path: string): string {
  return textIfThere(path) ?? '';
}
