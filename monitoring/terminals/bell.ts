/** Rings an agent's terminal for a person who has left it. Nothing is printed, because the agent draws its own screen. */
import { closeSync, constants, fstatSync, openSync, readlinkSync, writeSync } from 'node:fs';
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';

const BELL = '\u0007';
/** Standard input, output and error. */
const STREAMS = [0, 1, 2];
const TERMINAL = /^\/dev\/(?:pts\/\d+|tty\w*)$/;
/** It becomes no process's controlling terminal, and a stopped one does not hold the caller up. */
const FLAGS = constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK;

/** A process that only has the agent's pid is not rung. @returns whether there is a terminal, of this user. Never throws */
export function ring(process: ProcessIdentity, here: ProcessIdentity): boolean {
  if (isProcessAlive(process, here) !== true) return false;
  const terminal = terminalOf(process.pid);
  try {
    return terminal !== null && ringAt(terminal);
  } catch {
    return false;
  }
}

function terminalOf(pid: number): string | null {
  for (const stream of STREAMS) {
    try {
      const path = readlinkSync(`/proc/${pid}/fd/${stream}`);
      if (TERMINAL.test(path)) return path;
    } catch {
      // It has closed this one, or is another user's.
    }
  }
  return null;
}

function ringAt(terminal: string): boolean {
  const descriptor = openSync(terminal, FLAGS);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isCharacterDevice() || stat.uid !== process.getuid?.()) return false;
    return writeSync(descriptor, BELL) > 0;
  } finally {
    closeSync(descriptor);
  }
}
