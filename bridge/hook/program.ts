/**
 * The program behind the hooks of the plugin. It always exits with 0: if anything fails here, the agent works on, and one line on
 * standard error says what.
 */
import { readSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { LARGEST_PAYLOAD_BYTES, type Payload, parsePayload } from '../../memory/programs/payload.js';
import { takeSpool } from '../../memory/programs/spool.js';
import { conversationOf, isAgent } from '../../memory/sessions/agentProcess.js';
import { isInBridgeRun } from '../../memory/sessions/bridgeRun.js';
import { Memory } from '../../memory/sessions/memory.js';
import {
  SURROUNDING_VARIABLES,
  type Surroundings,
  type SurroundingVariable,
} from '../../memory/sessions/surroundings.js';
import type { ProgramFolders } from '../../src/agents/agentProgram.js';
import { programOfProcess } from '../../src/agents/programs.js';
import { describeError, errorCode } from '../../src/errors.js';
import { homeOfUser } from '../../src/host/homeOfUser.js';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import { systemProcessTable } from '../../src/host/processes.js';
import { readArguments } from '../../src/host/procfs.js';
import { createRedactor, ownSecretsIn } from '../../src/log/redact.js';
import { oneLine } from '../../src/log/visibleText.js';
import { systemClock } from '../../src/time.js';
import { startDetached } from '../command/detached.js';
import { keepLater, roundLater } from '../command/keepLater.js';
import { answerOf } from './answers.js';

const STDIN = 0;
const STDOUT = 1;
const CHUNK_BYTES = 64 * 1024;
const END_OF_OBJECT = 0x7d;
/** The last of the characters that JSON calls white space. */
const SPACE = 0x20;
/** Together two seconds. */
const [WAIT_MS, MOST_WAITS] = [5, 400];
/** The agent may start its hook through a shell. */
const MOST_SHELLS = 3;

const { env } = process;
const redact = createRedactor(ownSecretsIn(env));

/**
 * Reads to the end of the payload, which need not be that of the input. One that is too long is read to its end, too: the agent
 * may not expect that its reader leaves early.
 * @throws Error if it is too long, or cannot be read
 */
function readPayload(agent: string | null): Payload | null {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let parts: Buffer[] = [];
  for (let length = 0, count = 0; ; length += count) {
    count = readWaiting(chunk);
    if (length + count > LARGEST_PAYLOAD_BYTES) parts = [];
    else parts.push(Buffer.from(chunk.subarray(0, count)));
    const payload = count === 0 || endsObject(chunk, count) ? parsePayload(textOf(parts), agent) : null;
    if (payload !== null) return payload;
    if (count > 0) continue;
    if (length > LARGEST_PAYLOAD_BYTES) throw new Error(`the payload is longer than ${LARGEST_PAYLOAD_BYTES} bytes`);
    return null;
  }
}

/** An input that does not block has nothing yet: then it is asked again, for as long as an agent would wait. */
function readWaiting(chunk: Buffer): number {
  for (let waits = 0; ; waits += 1) {
    try {
      return readSync(STDIN, chunk);
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN' || waits === MOST_WAITS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, WAIT_MS);
    }
  }
}

/** A line break may follow, or nothing. */
function endsObject(chunk: Buffer, length: number): boolean {
  let last = length - 1;
  while (last >= 0 && (chunk[last] ?? 0) <= SPACE) last -= 1;
  return chunk[last] === END_OF_OBJECT;
}

function textOf(parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString('utf8');
}

/** @returns the process that has started this hook, or that of the shell which did; null if it is gone */
function agentAbove(host: string, folders: ProgramFolders): ProcessIdentity | null {
  const parent = readProcessIdentity(host, process.ppid);
  if (parent.pid <= 1 || parent.pid_start === '') return null;
  let at: ProcessIdentity = parent;
  for (let count = 0; count < MOST_SHELLS; count += 1) {
    if (isAgent(at, folders, parent)) return at;
    const above = systemProcessTable().find(at.pid)?.parent ?? 0;
    if (above <= 1) break;
    at = readProcessIdentity(host, above);
  }
  return parent;
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}

/** What a run of a bridge has left in the environment, long after its end, leads to its memory and not to the person's. */
function inheritedOf(environment: NodeJS.ProcessEnv, name: SurroundingVariable): string | undefined {
  const isOfRun = name === 'WATCHKEEPER_RUN' || name === 'WATCHKEEPER_SESSION' || name === 'WATCHKEEPER_MEMORY';
  return isOfRun && environment.WATCHKEEPER_RUN ? undefined : environment[name];
}

/** @returns the answer to the agent; null if there is none */
async function main(): Promise<object | null> {
  const host = env.WATCHKEEPER_HOST ?? hostname();
  if (isInBridgeRun((name) => env[name] ?? null, process.pid, readProcessIdentity(host))) return null;
  const environment: NodeJS.ProcessEnv = { ...env, HOME: env.HOME || homeOfUser() };
  const isSpooled = process.argv.includes('--spooled');
  const agent = isSpooled ? null : agentAbove(host, environment);
  const payload = isSpooled ? null : readPayload(agent === null ? null : programOfProcess(readArguments(agent.pid)));
  if (payload === null && !isSpooled) throw new Error('what it was given is no payload of a hook');
  const variables = SURROUNDING_VARIABLES.map((name) => [name, inheritedOf(environment, name)] as const);
  const surroundings: Surroundings = {
    directory: resolve(payload?.directory ?? currentDirectory()),
    process: readProcessIdentity(host),
    variables: Object.fromEntries(variables.filter(([, value]) => value !== undefined)),
  };
  const starter = { startDetached: (args: readonly string[]) => startDetached(args, env) };
  const memory = new Memory({ surroundings, folder: null, clock: systemClock, redact, origin: 'program' });
  if (payload === null) {
    takeSpool(memory, (session) => keepLater(starter, memory, session));
    return null;
  }
  const outer = agent === null ? null : conversationOf(agent.pid);
  return answerOf({
    memory,
    payload,
    agent,
    launchedIn: outer?.conversation === payload.conversation ? null : outer,
    keepLater: (session) => keepLater(starter, memory, session),
    roundLater: () => roundLater(starter, memory),
    report,
  });
}

function report(error: unknown): void {
  process.stderr.write(`watchkeeper: the hook has recorded nothing: ${oneLine(redact(describeError(error)))}\n`);
}

/** Written as to a file: `process.stdout` takes as long to load as a hook to do its work. It waits for a late reader. */
async function say(answer: object): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(answer)}\n`);
  let at = 0;
  try {
    while (at < bytes.length) at += writeSync(STDOUT, bytes, at);
  } catch {
    process.stdout.on('error', () => undefined);
    await new Promise<void>((resolve) => process.stdout.write(bytes.subarray(at), () => resolve()));
  }
}

main()
  .then((answer) => (answer === null ? undefined : say(answer)))
  .catch(report)
  // Nothing that is left open may keep the agent waiting.
  .finally(() => process.exit(0));
