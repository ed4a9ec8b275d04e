/** PATH for programs that shall not find the agents of this machine: each start of one costs as much as the test around it. */
import { existsSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { testFolder } from './folder.js';

/** @returns a PATH with these programs alone, as they are on the PATH of the tests */
export function pathWith(...programs: readonly string[]): string {
  const folder = testFolder();
  const places = (process.env.PATH ?? '').split(delimiter);
  for (const program of programs) {
    const found = places.map((place) => join(place, program)).find((path) => existsSync(path));
    if (found === undefined) throw new Error(`${program} is not on PATH`);
    symlinkSync(found, join(folder, program));
  }
  return folder;
}
