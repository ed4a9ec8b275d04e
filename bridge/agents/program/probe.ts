/** A short run of a program for the doctor: isolated as an agent's run, but not journaled, without input, limited in time. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { errorCode } from '../../../src/errors.js';
import { ForeignTail } from '../../../src/log/foreignTail.js';
import { type Redact, redactShapes } from '../../../src/log/redact.js';
import { shellLine } from '../../../src/log/shellWords.js';
import { atMost, type Clock, SECOND } from '../../../src/time.js';
import { lineOfUser } from './agentUser.js';
import type { AgentCheckRequest, AgentSurroundings } from './contract.js';
import type { CommandLine } from './findProgram.js';
import { withoutInherited } from './inheritedDescriptors.js';
import { sandboxedLine } from './sandbox.js';

const STREAMS: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
const OUTPUT_LENGTH = 16 * 1024;
/** A program that has exited may have left a child that holds the pipes open. */
const LAST_WORDS_WAIT_MS = SECOND / 2;

interface Probe extends CommandLine, AgentSurroundings {
  /** Redacts the output; without it, only known shapes of secrets are redacted. */
  readonly redact?: Redact;
  readonly limitMs: number;
}

export type ProbeEnd =
  /** `code` is null if a signal ended it; `output` is the end of both its outputs, without secrets. */
  | { readonly kind: 'exited'; readonly code: number | null; readonly output: string }
  /** It was ended with its process group, because it took too long or the signal aborted. */
  | { readonly kind: 'late' }
  | { readonly kind: 'not_started'; readonly why: string };

/** @returns the line that a person types to start a program as the project's agents would, for a login */
export function asAgent({ projectKey }: AgentCheckRequest, words: readonly string[]): string {
  return `watchkeeper as-agent ${projectKey} -- ${shellLine(words)}`;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** @returns how it ended; never throws */
export async function runProbe(probe: Probe, signal: AbortSignal, clock: Clock): Promise<ProbeEnd> {
  let child: Child;
  try {
    const { command, args } = lineOfUser(sandboxedLine(probe, probe), probe.user);
    child = spawn(command, args, {
      cwd: probe.workingDirectory,
      env: probe.environment,
      // In its own session it has no terminal to ask on.
      detached: true,
      stdio: withoutInherited(STREAMS),
    });
  } catch (error) {
    return notStarted(error);
  }
  const tail = new ForeignTail();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('error', () => {});
    stream.setEncoding('utf8').on('data', (text: string) => tail.push(text));
  }
  const closed = new Promise((resolve) => child.once('close', resolve));
  const ended = new Promise<ProbeEnd>((resolve) => {
    child.once('error', (error) => resolve(notStarted(error)));
    child.once('exit', async (code) => {
      await atMost(clock, LAST_WORDS_WAIT_MS, closed, undefined);
      resolve({ kind: 'exited', code, output: tail.last(OUTPUT_LENGTH, probe.redact ?? redactShapes) });
    });
  });
  const over = new AbortController();
  const expired = clock.sleep(probe.limitMs, AbortSignal.any([signal, over.signal]));
  const end = await Promise.race([ended, expired.then((): ProbeEnd => ({ kind: 'late' }))]);
  over.abort();
  if (end.kind === 'late') signalGroup(child, 'SIGKILL');
  child.stdout.destroy();
  child.stderr.destroy();
  return end;
}

function notStarted(error: unknown): ProbeEnd {
  return { kind: 'not_started', why: errorCode(error) || 'it cannot be started' };
}

/** Signals the group that the child leads. Until the child is reaped, its pid names no other group. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has just ended by itself, or left its group: the code that ends a run finds the rest.
  }
}
