/** Runs other programs for a command, such as the installers of agents: their output is kept, their time limited. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { errorCode } from '../../src/errors.js';
import { SECRET_VARIABLES } from '../../src/log/redact.js';
import type { Clock } from '../../src/time.js';
import { signalGroup } from '../agents/program/probe.js';

/** Output beyond this is not kept, in UTF-16 units. */
const LONGEST_OUTPUT = 4 * 1024 * 1024;

export interface ProgramCall {
  /** A name that is searched on PATH, or a path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly limitMs: number;
  /** Without it, standard input is empty. */
  readonly question?: {
    /** Written to standard input, which stays open until the answer. */
    readonly lines: readonly string[];
    /** Whether a line of standard output is the answer; then the program is ended. */
    isAnswer(line: string): boolean;
  };
}

export type ProgramEnd =
  /** `code` is null if a signal ended it, or the answer came. Texts of other programs may contain secrets. */
  | { readonly kind: 'exited'; readonly code: number | null; readonly out: string; readonly err: string }
  /** It was ended because it took too long. */
  | { readonly kind: 'late' }
  | { readonly kind: 'not_started'; readonly why: string };

/** Never throws. */
export type RunProgram = (call: ProgramCall) => Promise<ProgramEnd>;

/** @param environment of this process; the programs get it without the secrets of a bridge */
export function programRunner(environment: Readonly<Record<string, string | undefined>>, clock: Clock): RunProgram {
  const ours = new Set<string>(SECRET_VARIABLES.flatMap((name) => [name, `${name}_FILE`]));
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !ours.has(name)));
  return (call) => run(call, env, clock);
}

async function run(call: ProgramCall, env: NodeJS.ProcessEnv, clock: Clock): Promise<ProgramEnd> {
  const { program, args, directory, limitMs, question } = call;
  let child: ChildProcessWithoutNullStreams;
  try {
    // In its own session it has no terminal to ask on, and it can be ended with all that it has started.
    child = spawn(program, args, { cwd: directory, env, detached: true });
  } catch (error) {
    return notStarted(error);
  }
  child.stdin.on('error', () => {});
  if (question === undefined) child.stdin.end();
  else child.stdin.write(question.lines.map((line) => `${line}\n`).join(''));
  const texts = { out: '', err: '' };
  const add = (name: 'out' | 'err', text: string) => {
    if (texts[name].length < LONGEST_OUTPUT) texts[name] += text;
    if (question !== undefined && name === 'out' && hasAnswer(texts.out, question.isAnswer))
      signalGroup(child, 'SIGKILL');
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => add('out', text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => add('err', text));
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once('error', (error) => resolve(notStarted(error)));
    child.once('close', (code) => resolve({ kind: 'exited', code, ...texts }));
  });
  const over = new AbortController();
  const expired = clock.sleep(limitMs, over.signal).then((): ProgramEnd => ({ kind: 'late' }));
  const end = await Promise.race([ended, expired]);
  over.abort();
  if (end.kind === 'late') signalGroup(child, 'SIGKILL');
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  return end;
}

/** Only whole lines count. */
function hasAnswer(text: string, isAnswer: (line: string) => boolean): boolean {
  return text.split('\n').slice(0, -1).some(isAnswer);
}

function notStarted(error: unknown): ProgramEnd {
  return { kind: 'not_started', why: errorCode(error) || 'it cannot be started' };
}
