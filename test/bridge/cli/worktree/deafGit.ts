/** A git that does not answer some calls, whatever else it is asked. */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathWith } from '../../../harness/searchPath.js';

/**
 * @param folder in which it is made; no project
 * @param calls a pattern of a shell for all words of a call, such as `*' status '*`
 * @returns a search path on which it comes first
 */
export function pathOfDeafGit(folder: string, calls: string): string {
  mkdirSync(folder, { recursive: true });
  const made = mkdtempSync(join(folder, 'deaf-'));
  const program = join(made, 'git');
  const git = join(pathWith('git'), 'git');
  writeFileSync(program, `#!/bin/sh\ncase "$*" in ${calls}) exit 128;; esac\nexec '${git}' "$@"\n`);
  chmodSync(program, 0o755);
  return [made, pathWith('git')].join(delimiter);
}
