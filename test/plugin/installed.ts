/** An installation in a folder of the test, with a stand-in for the hook program. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testFolder } from '../harness/folder.js';

/** Says as which process it runs, who started it, and how much it was given. */
const STAND_IN = `let bytes = 0;
process.stdin.on('data', (chunk) => { bytes += chunk.length; });
process.stdin.on('end', () => console.log(JSON.stringify({ pid: process.pid, parent: process.ppid, bytes })));
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
