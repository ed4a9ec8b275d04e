/** Runs a script whose files may not grow beyond a few blocks: a line in the middle of it goes in by half, as on a full disk. */
import { spawnSync } from 'node:child_process';

/** In blocks of 512 bytes. */
const LARGEST_FILE = 4;
const MAKE_ROOM = `
  import { execFileSync } from 'node:child_process';
  const makeRoom = () => execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited']);
`;

/**
 * @param cwd the script's folder
 * @param script an ES module; it may call `makeRoom()`, after which its files may grow
 * @returns what it wrote to standard output
 * @throws Error if it failed
 */
export function runOnSmallDisk(cwd: string, script: string): string {
  const limited = [
    '-c',
    `ulimit -S -f ${LARGEST_FILE}; exec "$@"`,
    'sh',
    process.execPath,
    '--input-type=module',
    '-e',
  ];
  const { status, stdout, stderr } = spawnSync('sh', [...limited, `${MAKE_ROOM}${script}`], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the script failed: ${stderr}`);
  return stdout;
}
