/** An installation in a folder of the test, with a stand-in for the hook program. */
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { testFolder } from '../harness/folder.js';

/** Says as which process it runs, who started it, how, and how much it was given. */
const STAND_IN = `let bytes = 0;
process.stdin.on('data', (chunk) => { bytes += chunk.length; });
const { pid, ppid: parent, execArgv: flags, argv, env } = process;
const variables = Object.keys(env).filter((name) => name.startsWith('NODE_'));
process.stdin.on('end', () => console.log(JSON.stringify({ pid, parent, flags, words: argv.slice(2), variables, bytes })));
`;

export interface Installed {
  readonly home: string;
  /** The folder of the package. */
  readonly root: string;
  /** The file by which the launcher finds the package. */
  readonly file: string;
}

/** @param folder whose name comes before all others; for names with blanks */
export function installedHook(folder = testFolder()): Installed {
  const [home, root] = [join(folder, 'home'), join(folder, 'root')];
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(join(root, 'dist/bridge/hook'), { recursive: true });
  writeFileSync(join(root, 'dist/bridge/hook/main.cjs'), STAND_IN);
  const file = join(home, 'installation');
  writeFileSync(file, `${root}\n${process.execPath}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return { home, root, file };
}

/** @returns the same path, relative to the directory in which the tests run */
export function fromHere(path: string): string {
  return relative(process.cwd(), path);
}

/** Each changes a good installation into a bad one. */
export const WRONG: readonly (readonly [string, (installed: Installed) => void])[] = [
  ['is not there', ({ file }) => rmSync(file)],
  ['is a folder', ({ file }) => [rmSync(file), mkdirSync(file)]],
  ['is a link to nothing', ({ file }) => [rmSync(file), symlinkSync('/nowhere', file)]],
  ['is empty', ({ file }) => writeFileSync(file, '')],
  ['is no text', ({ file }) => writeFileSync(file, Buffer.from([0, 1, 2, 10, 0xff, 0xfe, 0, 10]))],
  ['names a relative folder', ({ file, root }) => writeFileSync(file, `${fromHere(root)}\n${process.execPath}\n`)],
  ['names a package that has moved', ({ root }) => renameSync(root, `${root}.moved`)],
  ['names a package that is not built', ({ root }) => rmSync(join(root, 'dist'), { recursive: true })],
  ['can be written by the group', ({ file }) => chmodSync(file, 0o620)],
  ['can be written by others', ({ file }) => chmodSync(file, 0o602)],
  ['is in a home that the group can write', ({ home }) => chmodSync(home, 0o770)],
  ['is in a home that others can write', ({ home }) => chmodSync(home, 0o707)],
];
