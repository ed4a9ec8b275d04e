/**
 * Linux's `/proc` (`man 5 proc`). A process may end between two reads, so absence is a result here, never an exception. A question
 * that was not answered is a result of its own: without free descriptors, every process would seem to be gone.
 */
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { errorCode } from '../errors.js';
import type { HostProcess } from './table.js';

/** `/proc/{pid}/environ`. `unreadable`: another user's process. `unknown`: it has ended, is replacing its program, or this host gave no answer; try again. */
export type Environment = Buffer | 'unknown' | 'unreadable';

/** Why a pid is not a living process; `kernel`: a thread of the kernel itself, which belongs to no run. */
export type NoProcess = 'zombie' | 'kernel' | 'gone';

/** The kernel's answer about a pid. `unknown`: no answer, for example because `/proc` hides the processes of other users (`hidepid`). */
export type Stat = HostProcess | NoProcess | 'unknown';

/** `PF_KTHREAD` in the kernel's `include/linux/sched.h`. */
const KERNEL_THREAD = 0x0020_0000;
/** The parent of the kernel's threads, in the namespace of the host itself. */
const KERNEL = 2;
/** In `/proc/{pid}/limits`, followed by the soft and the hard limit. */
const LOCKS_LINE = 'Max file locks';
const RESIDENT_LINE = 'Max resident set';
/** Dead, or about to be, according to the kernel. */
const DEAD_STATES = new Set(['Z', 'X', 'x']);
/** The only errors that say that a process is not there. */
const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH']);

/** One buffer for all reads: a look at 330 processes takes 5 ms instead of 12. Environments have no small limit. */
let shared = Buffer.allocUnsafeSlow(64 * 1024);

/** @returns whether `/proc` exists and shows this process's pid namespace */
export function showsOwnNamespace(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid);
  } catch {
    return false;
  }
}

/** @returns every pid, the highest first, so that a process that has just replaced itself is still found */
export function listPids(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid > 0)
    .sort((left, right) => right - left);
}

/** @returns the same without the threads of the kernel, which are most of them on many hosts */
export function listPrograms(): number[] {
  const threads = new Set(readStat(KERNEL) === 'kernel' ? [KERNEL, ...childrenOf(KERNEL)] : []);
  return listPids().filter((pid) => !threads.has(pid));
}

/** @returns none if the kernel does not list them */
function childrenOf(pid: number): number[] {
  const children = readWhole(`/proc/${pid}/task/${pid}/children`);
  return typeof children === 'string' ? [] : children.toString('latin1').split(' ').map(Number);
}

export function readStat(pid: number): Stat {
  const stat = readWhole(`/proc/${pid}/stat`);
  if (typeof stat !== 'string') return parseStat(pid, stat.toString('latin1'));
  // With `hidepid=2`, the processes of others have no folder either, so the kernel is asked as well.
  return stat === 'gone' && !hasPid(pid) ? 'gone' : 'unknown';
}

/** @returns whether any process of this namespace has the pid, even one that we may not signal */
export function hasPid(pid: number): boolean {
  // These mean groups of processes.
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/** @param text `/proc/{pid}/stat`; the second field is a name in parentheses that may itself hold `)` and spaces */
export function parseStat(pid: number, text: string): HostProcess | NoProcess {
  const field = statFields(text);
  const start = field(22);
  if (start === '') return 'gone';
  if ((Number(field(9)) & KERNEL_THREAD) !== 0) return 'kernel';
  // A process whose first thread has ended is called a zombie while its other threads continue.
  if (DEAD_STATES.has(field(3)) && Number(field(20)) <= 1) return 'zombie';
  return { pid, parent: Number(field(4)), group: Number(field(5)), session: Number(field(6)), start };
}

/** @returns a function that returns a field by its number in `man 5 proc`, from 3 on */
function statFields(text: string): (number: number) => string {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (number) => fields[number - 3] ?? '';
}

/** @returns the words with which the process was started, its program first; none if they cannot be read */
export function readArguments(pid: number): string[] {
  const words = readWhole(`/proc/${pid}/cmdline`);
  return typeof words === 'string' ? [] : words.toString('utf8').split('\0').slice(0, -1);
}

/** @returns the directory of a process, without links; null if it cannot be seen */
export function readDirectory(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/** @returns the environment that the process was started with; valid until the next read */
export function readEnvironment(pid: number): Environment {
  const whole = readWhole(`/proc/${pid}/environ`);
  if (whole === 'unreadable' || whole === 'unknown' || (whole !== 'gone' && whole.length > 0)) return whole;
  // If a process's first thread has ended, only the other threads still show the environment.
  const threads = otherThreads(pid);
  if (threads === 'unknown') return 'unknown';
  for (const thread of threads) {
    const part = readWhole(`/proc/${pid}/task/${thread}/environ`);
    if (part === 'unknown') return 'unknown';
    if (typeof part !== 'string' && part.length > 0) return part;
  }
  return whole === 'gone' ? 'unknown' : readEmpty(pid);
}

/** While a process replaces its program, its environment is empty for a moment, until the kernel knows its end. */
function readEmpty(pid: number): Environment {
  const before = environmentEnd(pid);
  const again = readWhole(`/proc/${pid}/environ`);
  // A copy, because the next read reuses its memory.
  const found = typeof again === 'string' ? again : Buffer.from(again);
  return found === 'gone' || before === 0 || environmentEnd(pid) !== before ? 'unknown' : found;
}

/** @returns the address of the environment's end, different for each program; 0 while there is none */
function environmentEnd(pid: number): number {
  const stat = readWhole(`/proc/${pid}/stat`);
  return typeof stat === 'string' ? 0 : Number(statFields(stat.toString('latin1'))(51));
}

/** The process's own limits that hold a mark, as the kernel prints them; empty if they cannot be read. */
export interface MarkLimits {
  /** False if the kernel gave no answer, so that the missing mark proves nothing; try again. */
  readonly areKnown: boolean;
  readonly locks: string;
  readonly resident: string;
}

export function readMarkLimits(pid: number): MarkLimits {
  const limits = readWhole(`/proc/${pid}/limits`);
  if (typeof limits === 'string') return { areKnown: limits !== 'unknown', locks: '', resident: '' };
  return { areKnown: true, locks: limitIn(limits, LOCKS_LINE), resident: limitIn(limits, RESIDENT_LINE) };
}

function limitIn(limits: Buffer, line: string): string {
  const at = limits.indexOf(line);
  if (at < 0) return '';
  return /\S+/.exec(limits.toString('latin1', at + line.length, at + line.length + 40))?.[0] ?? '';
}

function otherThreads(pid: number): string[] | 'unknown' {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.length > 1 ? threads.filter((thread) => thread !== String(pid)) : [];
  } catch (error) {
    return absence(error) === 'unknown' ? 'unknown' : [];
  }
}

/** The content is valid until the next call. */
function readWhole(path: string): Buffer | Absence {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    return absence(error);
  }
  try {
    let length = 0;
    for (;;) {
      if (length === shared.length) shared = Buffer.concat([shared, Buffer.alloc(length)]);
      length += readSync(file, shared, length, shared.length - length, null);
      // These files are read whole if there is room.
      if (length < shared.length) return shared.subarray(0, length);
    }
  } catch (error) {
    return absence(error);
  } finally {
    closeSync(file);
  }
}

/** Why there is no content. `unknown`: the error says nothing about the process, for example that this one may open no more files. */
type Absence = 'gone' | 'unreadable' | 'unknown';

function absence(error: unknown): Absence {
  const code = errorCode(error);
  if (ABSENT.has(code)) return 'gone';
  return ['EACCES', 'EPERM'].includes(code) ? 'unreadable' : 'unknown';
}
