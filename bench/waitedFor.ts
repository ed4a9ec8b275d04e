/** What a caller waits for: how long a command takes, and how much time of a processor, which no other work of the machine disturbs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Bash measures what it waited for to the millisecond; the shell of POSIX, and /proc, count in hundredths of a second. */
const MEASURING = `TIMEFORMAT='%3R %3U %3S'; exec 4>&2 2>"$0"; { time "$@" 2>&4 4>&-; }`;
/** If its input is a socket, bash takes itself for the shell of a remote user. */
const PLAIN = ['--norc', '--noprofile'];
const MS_PER_SECOND = 1_000;

export interface Waited {
  /** From the start of the command to its exit. */
  readonly ms: number;
  /** Of the command, and of all processes that it waited for itself: what it leaves in the background does not count. */
  readonly processorMs: number;
  readonly out: string;
}

export interface Command {
  readonly words: readonly string[];
  /** It gets none if it is missing. */
  readonly input?: string;
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
}

/** @throws Error if it says anything on standard error, or exits with anything but 0 */
export async function waitedFor({ words, input, cwd, env }: Command): Promise<Waited> {
  const folder = mkdtempSync(join(tmpdir(), 'wk-time-'));
  try {
    const report = join(folder, 'time');
    const child = spawn('bash', [...PLAIN, '-c', MEASURING, report, ...words], { cwd, env, stdio: 'pipe' });
    // What needs no input may be gone before it is closed.
    child.stdin.on('error', () => undefined).end(input);
    const [out, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    if (code !== 0 || said !== '') throw new Error(`${words[0]} ended with ${code}: ${said}`);
    const [real = NaN, user = NaN, system = NaN] = readFileSync(report, 'utf8').trim().split(' ').map(Number);
    return { ms: real * MS_PER_SECOND, processorMs: (user + system) * MS_PER_SECOND, out };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
