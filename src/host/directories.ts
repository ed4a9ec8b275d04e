/** The directories in which processes of this host work. */
import { spawnSync } from 'node:child_process';
import { SECOND } from '../time.js';
import { listPrograms, readArguments, readDirectory, readStat, showsOwnNamespace } from './procfs.js';

const LSOF = '/usr/sbin/lsof';
const LIMIT_MS = 10 * SECOND;
const MOST_BYTES = 16 * 1024 * 1024;

export interface ProcessPlace {
  readonly pid: number;
  /** The name of its program, without arguments. */
  readonly program: string;
  /** Without links. */
  readonly directory: string;
}

/**
 * Processes of other users are seen by root only.
 * @returns the oldest first; null if this host does not show where its processes work
 */
export function processPlaces(): ProcessPlace[] | null {
  return showsOwnNamespace() ? fromProc() : fromLsof();
}

function fromProc(): ProcessPlace[] {
  return listPrograms()
    .reverse()
    .flatMap((pid) => {
      const directory = readDirectory(pid);
      if (directory === null) return [];
      const stat = readStat(pid);
      // One that the kernel says nothing about may still work there.
      if (typeof stat === 'string' && stat !== 'unknown') return [];
      const [program = ''] = readArguments(pid);
      return [{ pid, program: nameOf(program), directory }];
    });
}

/** The system has no `/proc`, such as macOS. */
function fromLsof(): ProcessPlace[] | null {
  const user = process.geteuid?.();
  const words = ['-a', '-d', 'cwd', ...(user === undefined ? [] : ['-u', String(user)]), '-F', 'pcn'];
  const { stdout, error } = spawnSync(LSOF, words, {
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
    timeout: LIMIT_MS,
    maxBuffer: MOST_BYTES,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return error === undefined ? parseLsof(stdout) : null;
}

/**
 * @internal for tests
 * @param text of `lsof -F pcn`: a line begins with the letter of its field
 */
export function parseLsof(text: string): ProcessPlace[] {
  const found: ProcessPlace[] = [];
  let pid = 0;
  let program = '';
  for (const line of text.split('\n')) {
    const value = line.slice(1);
    if (line.startsWith('p')) pid = Number(value);
    else if (line.startsWith('c')) program = value;
    else if (line.startsWith('n')) found.push({ pid, program: nameOf(program), directory: value });
  }
  return found;
}

function nameOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}
