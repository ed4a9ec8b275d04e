/**
 * Which product files their tests reach. A file of more than 60 lines is imported, perhaps through others, by a test of its
 * room, which is the folder of the same name below `test/`; or a test that runs it in another process names it:
 * `// covers: bridge/cli/program.ts`.
 */
import { posix } from 'node:path';
import { type Sources, targetsOf } from './rules.js';

const SMALL_LINES = 60;
const COVERS = /^\s*\/\/ covers: (.+)$/gm;

/**
 * @param product the sources of the rings
 * @param tests the sources below `test/`
 * @returns what is wrong, in words; empty if every file is reached
 */
export function findUnreached(product: Sources, tests: Sources): string[] {
  const all = new Map([...product, ...tests]);
  const testFiles = [...tests.keys()].filter((path) => path.endsWith('.test.ts'));
  const named = testFiles.flatMap((path) => namedIn(tests.get(path) ?? '').map((target) => ({ path, target })));
  const covered = new Set(named.map(({ target }) => target));
  const reachedFrom = new Map<string, Set<string>>();
  const isReached = (path: string): boolean => {
    const room = roomOf(path);
    const reached = reachedFrom.get(room) ?? reach(testsOf(room, testFiles), all);
    reachedFrom.set(room, reached);
    return reached.has(path);
  };
  return [
    ...[...product]
      .filter(([path, text]) => text.split('\n').length - 1 > SMALL_LINES && !covered.has(path) && !isReached(path))
      .map(([path]) => `${path}: no test of its room imports it, and no other one names it`),
    ...named
      .filter(({ target }) => !product.has(target))
      .map(({ path, target }) => `${path}: covers ${target}, which is no file of the product`),
  ];
}

function namedIn(text: string): string[] {
  return [...text.matchAll(COVERS)].flatMap(([, paths = '']) => paths.trim().split(/\s+/));
}

/** `bridge/telegram` for every file in it, however deep. */
function roomOf(path: string): string {
  return posix.dirname(path).split('/').slice(0, 2).join('/');
}

/** The tests below the room's folder, and those directly in the ring's. */
function testsOf(room: string, testFiles: readonly string[]): string[] {
  const ring = `test/${room.split('/')[0]}`;
  return testFiles.filter((path) => path.startsWith(`test/${room}/`) || posix.dirname(path) === ring);
}

function reach(starts: readonly string[], sources: Sources): Set<string> {
  const reached = new Set(starts);
  for (const path of reached) for (const target of targetsOf(path, sources)) reached.add(target);
  return reached;
}
