/** The mounts of this host, as Linux lists them (`man 5 proc_pid_mountinfo`). Other systems are not asked. */
import { readFileSync } from 'node:fs';
import { errorCode } from '../errors.js';

const TABLE = '/proc/self/mountinfo';
const POINT = 4;
/** How the kernel writes white space and a backslash. */
const ESCAPED = /\\([0-7]{3})/g;

/**
 * @returns the paths on which something is mounted, as `latin1`: a path may be no text. None if this system has no such table
 * @throws the file system's error, if the table cannot be read
 */
export function mountPoints(): ReadonlySet<string> {
  const lines = table().split('\n');
  return new Set(lines.map((line) => line.split(' ')[POINT] ?? '').map(plain));
}

function table(): string {
  try {
    return readFileSync(TABLE, 'latin1');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

function plain(path: string): string {
  return path.replace(ESCAPED, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
