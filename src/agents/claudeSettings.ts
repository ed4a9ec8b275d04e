/** The settings of Claude Code by which a person switches all hooks off, and with them what is recorded. */
import { join, resolve } from 'node:path';
import { readPlainFileSync } from '../files/plainFile.js';
import { parseObject } from '../json.js';

const LONGEST_FILE_BYTES = 1024 * 1024;
const OPTION = '--settings';

/**
 * @param configuration the folder of the user
 * @param directory in which the program was started
 * @returns the last settings file that says whether hooks are off, if it says so; else null
 */
export function fileWithoutHooks(configuration: string, directory: string): string | null {
  const own = join(configuration, 'settings.json');
  const files = [own, ...['settings.json', 'settings.local.json'].map((name) => join(directory, '.claude', name))];
  for (const path of files.reverse()) {
    const isOff = switchIn(textIn(path));
    if (isOff !== undefined) return isOff === true ? path : null;
  }
  return null;
}

/** @param words of its process. @returns whether one run has no hooks: `--settings` takes JSON, or the path of a file */
export function isRunWithoutHooks(words: readonly string[], directory: string): boolean {
  return words.some((word, index) => {
    const value =
      word === OPTION ? words[index + 1] : word.startsWith(`${OPTION}=`) ? word.slice(OPTION.length + 1) : '';
    if (value === undefined || value === '') return false;
    return switchIn(value.trimStart().startsWith('{') ? value : textIn(resolve(directory, value))) === true;
  });
}

function switchIn(text: string): unknown {
  return parseObject<Record<string, unknown>>(text)?.disableAllHooks;
}

/** A file that is missing or damaged says nothing; Claude Code complains of it itself. */
function textIn(path: string): string {
  try {
    return readPlainFileSync(path, LONGEST_FILE_BYTES);
  } catch {
    return '';
  }
}
