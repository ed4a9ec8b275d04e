/** Daemons that shed their environment: whether one of an earlier run lives when the next run of its lane begins. */
import { readdirSync, readFileSync } from 'node:fs';
import { laneOf } from '../chaos/invariants.js';
import type { AgentRecord } from '../e2e/evidence.js';
import { SHED_NAME } from './agents.js';

export interface ShedDaemon {
  readonly pid: number;
  readonly run: string;
}

/** @returns the daemons that live now */
export function livingDaemons(): ShedDaemon[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    // Only the shell has the run as a word of its own.
    const words = commandLine(name);
    const run = words.at(-1) ?? '';
    return words.some((word) => word.includes(SHED_NAME)) && isAlive(name) ? [{ pid: Number(name), run }] : [];
  });
}

/** Looks at each run when it has begun. What is found alive then lived beside it, for nothing that died comes back. */
export class ShedWatch {
  readonly violations: string[] = [];
  private seen = 0;

  /** @param records of the agents, in the order of the file */
  look(records: readonly AgentRecord[]): void {
    const starts = records.filter(({ event }) => event === 'start');
    const begun = starts.slice(this.seen);
    this.seen = starts.length;
    if (begun.length === 0) return;
    const living = livingDaemons();
    for (const { session, run } of begun) {
      const earlier = starts.filter((each) => each.run !== run && laneOf(each.session) === laneOf(session));
      for (const { pid, run: former } of living) {
        if (!earlier.some((each) => each.run === former) || former > run) continue;
        this.violations.push(
          `run ${run} of ${session} began while a process of run ${former} lived that shed its environment: ${pid}`,
        );
      }
    }
  }
}

function commandLine(pid: string): string[] {
  return read(`/proc/${pid}/cmdline`)
    .split('\0')
    .filter((word) => word !== '');
}

function isAlive(pid: string): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return !/^[ZX]?$/.test(stat.slice(stat.lastIndexOf(')') + 2).charAt(0));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
