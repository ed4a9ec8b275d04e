// Where tests have their temporary folders, if nobody says so by TMPDIR: in memory, where there is room. They write many small files
// and wait until the disk has them, which beside other work takes them as long as their own.
// `node test/harness/memoryFolder.mjs` prints it for .ci/run.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MEMORY = '/dev/shm';
/** Several times what a whole run leaves at once. */
const LEAST_BYTES = 8 * 1024 ** 3;

/** @returns the folder for temporary folders; `tmpdir()` where there is not enough memory, or programs may not be there */
export function temporaryPlace() {
  if (process.env.TMPDIR) return process.env.TMPDIR;
  return hasRoom() && runsPrograms() ? MEMORY : tmpdir();
}

function hasRoom() {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    const [, kibibytes = '0'] = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
    return Math.min(bavail * bsize, Number(kibibytes) * 1024) >= LEAST_BYTES;
  } catch {
    return false;
  }
}

/** Containers often forbid it there. */
function runsPrograms() {
  const folder = mkdtempSync(join(MEMORY, 'wk-trial-'));
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(folder, { recursive: true });
  return status === 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(temporaryPlace());
