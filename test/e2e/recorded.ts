/** Agents that are started and killed beside each other, and what is on record of them afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchkeeperAgain } from '../bridge/cli/manyCalls.js';
import { afterThisTest } from '../harness/scope.js';
import { eventually } from './eventually.js';

const WITHIN_MS = 20_000;

/** In which agents work with the plugin. */
export interface RecordedPlace {
  /** In which people work. */
  readonly work: string;
  /** Of the memory of sessions. */
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface WorklogLine {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** @returns the worklog of each session, by its id, oldest first */
export function worklogsIn({ home }: Pick<RecordedPlace, 'home'>): Map<string, WorklogLine[]> {
  const folder = join(home, 'sessions');
  const ids = existsSync(folder) ? readdirSync(folder).sort() : [];
  return new Map(ids.map((id) => [id, linesOf(worklogPath(home, id))]));
}

function worklogPath(home: string, id: string): string {
  return join(home, 'sessions', id, 'worklog.jsonl');
}

function linesOf(path: string): WorklogLine[] {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** @returns what is written so far of all conversations; a call is there only some time after it has begun */
export function transcriptsIn(place: RecordedPlace): string {
  const paths = [...worklogsIn(place).values()].flat().map(({ transcript }) => transcript);
  return paths.map((path) => (typeof path === 'string' && existsSync(path) ? readFileSync(path, 'utf8') : '')).join('');
}

/** @returns the processes of a session's runs, oldest first */
export function processesOf(log: readonly WorklogLine[] = []): number[] {
  return log.flatMap(({ event, process }) => (event === 'run_started' ? [(process as { pid: number }).pid] : []));
}

/** @returns what a command prints as JSON, or as it is */
export function shown<T>({ work, environment }: RecordedPlace, words: string): T {
  const { out, err } = watchkeeperAgain(work, words.split(' '), environment);
  if (out === '') throw new Error(`\`${words}\` has printed nothing: ${err}`);
  return words.endsWith('--json') ? (JSON.parse(out) as T) : (out as T);
}

export interface AgentEnd {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunningAgent {
  readonly child: ChildProcess;
  readonly ended: Promise<AgentEnd>;
}

/** Starts a program without a terminal, in a process group that ends with the test. */
export function startAgent(
  { work, environment }: RecordedPlace,
  [program, ...args]: readonly [string, ...string[]],
  directory = work,
): RunningAgent {
  const child = spawn(program, args, { cwd: directory, env: environment, detached: true });
  const texts = { out: '', err: '' };
  child.stdin.end();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.err += text;
  });
  const ended = new Promise<AgentEnd>((resolve) => void child.once('close', (code) => resolve({ code, ...texts })));
  afterThisTest(async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
      process.kill(-child.pid, 'SIGKILL');
    await ended;
  });
  return { child, ended };
}

/** Kills a process without a word, as a crash does, and waits until it is gone. */
export async function killAtOnce(pid: number | undefined): Promise<void> {
  if (pid === undefined) throw new Error('there is no process to kill');
  if (isThere(pid)) process.kill(pid, 'SIGKILL');
  await eventually(() => !isThere(pid), { what: `the end of process ${pid}`, withinMs: WITHIN_MS });
}

/** A process that nobody has waited for has ended, too. */
export function isThere(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** @returns the records that a model was given in its request, each between its marks, oldest first */
export function contextsIn(request: object): string[] {
  return textsIn(request).flatMap((text) => text.match(/<session-record>[\s\S]*?<\/session-record>/g) ?? []);
}

/** The end of a command in a shell of an agent that lasts as long as the agent. */
export const LASTING = 'touch started && tail -f --pid=$PPID /dev/null';

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
