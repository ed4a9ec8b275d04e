import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../../../../src/time.js';

const LONGEST_MS = 120 * SECOND;
const STOPS_WITHIN_MS = 10 * SECOND;

/** Runs a program without a terminal; one that has not ended by itself in time gets a SIGINT. */
export async function runUntil(
  [program = '', ...options]: readonly string[],
  environment: Readonly<Record<string, string>>,
  folder: string,
  untilMs = LONGEST_MS,
): Promise<void> {
  const env = { PATH: process.env.PATH, ...environment };
  const child = spawn(program, options, { cwd: folder, env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await Promise.race([ended, pause(untilMs, undefined, { ref: false })]);
  if (child.exitCode !== null) return;
  child.kill('SIGINT');
  await Promise.race([ended, pause(STOPS_WITHIN_MS, undefined, { ref: false })]);
  if (child.exitCode === null) child.kill('SIGKILL');
}
