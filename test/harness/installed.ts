/** Programs that no package of ours brings: where they are not, their tests say so. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from '@jest/globals';

export interface Installable {
  readonly program: string;
  /** What to type to have it on PATH. */
  readonly remedy: string;
}

/** `describe` for tests of a program on PATH; skipped, with the reason, where it is not there. */
export function describeWhereInstalled(name: string, { program, remedy }: Installable, tests: () => void): void {
  const isThere = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
  if (isThere) describe(name, tests);
  else describe.skip(`${name} (skipped: ${program} is not on PATH; \`${remedy}\` adds it)`, tests);
}
