import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/host/program.js';
import type { Sources } from './rules.js';

/**
 * @param folders at the top of the package
 * @param root the package's folder, or another checkout of it
 * @returns every TypeScript file below them, sorted by path
 */
export function readSources(folders: readonly string[], root = packageRoot()): Sources {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => `${folder}/${path}`),
  );
  return new Map(paths.sort().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}
