/** The account and the terminal of this process. A person in a shell has no other identity. */
import { readlinkSync } from 'node:fs';
import { userInfo } from 'node:os';

const TERMINAL = /^\/dev\/(pts\/\d+|tty\w+)$/;

/** @returns the name of the user; its number if the system knows no name, as in some containers */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.geteuid?.() ?? 'unknown');
  }
}

/** @returns such as `pts/3`; null if the process has none, or the system has no `/proc` */
export function terminalName(): string | null {
  for (const descriptor of [0, 1, 2]) {
    const found = TERMINAL.exec(linkOf(`/proc/self/fd/${descriptor}`))?.[1];
    if (found !== undefined) return found;
  }
  return null;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
