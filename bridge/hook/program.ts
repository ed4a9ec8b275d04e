/**
 * The program behind the hooks of the plugin. It always exits with 0: if anything fails here, the agent works on, and one line on
 * standard error says what.
 */
import { writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { takeSpool } from '../../memory/programs/spool.js';
import { conversationOf } from '../../memory/sessions/agentProcess.js';
import { isInBridgeRun } from '../../memory/sessions/bridgeRun.js';
import { Memory } from '../../memory/sessions/memory.js';
import {
  SURROUNDING_VARIABLES,
  type Surroundings,
  type SurroundingVariable,
} from '../../memory/sessions/surroundings.js';
import { programOfProcess } from '../../src/agents/programs.js';
import { describeError } from '../../src/errors.js';
import { homeOfUser } from '../../src/host/homeOfUser.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { readArguments } from '../../src/host/procfs.js';
import { createRedactor, ownSecretsIn } from '../../src/log/redact.js';
import { oneLine } from '../../src/log/visibleText.js';
import { systemClock } from '../../src/time.js';
import { agentAbove } from '../command/agentAbove.js';
import { startDetached } from '../command/detached.js';
import { keepLater } from '../command/keepLater.js';
import { answerOf } from './answers.js';
import { readPayload } from './input.js';

const STDOUT = 1;
/** Since the process began; a busy machine may have needed most of it. */
const [ANSWER_WITHIN_MS, LATE_READER_MS] = [2_000, 500];

const { env } = process;
const redact = createRedactor(ownSecretsIn(env));

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}

/** A run of a bridge leaves variables in the environment. Long after its end, they would lead to its memory instead of the person's. */
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
  const agent = isSpooled ? null : agentAbove(host, process.ppid, environment);
  const asked = systemClock.monotonic();
  const payload = isSpooled ? null : readPayload(agent === null ? null : programOfProcess(readArguments(agent.pid)));
  if (payload === null && !isSpooled) throw new Error('what it was given is no payload of a hook');
  const waitedMs = systemClock.monotonic() - asked;
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
    waitedMs,
    agent,
    launchedIn: outer?.conversation === payload.conversation ? null : outer,
    ...starter,
    report,
  });
}

function report(error: unknown): void {
  process.stderr.write(`watchkeeper: the hook has recorded nothing: ${oneLine(redact(describeError(error)))}\n`);
}

/**
 * Written as to a file: `process.stdout` takes as long to load as a hook to do its work. It waits for a late reader, but no longer than
 * an agent waits for the hook.
 */
async function say(answer: object): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(answer)}\n`);
  let at = 0;
  try {
    while (at < bytes.length) at += writeSync(STDOUT, bytes, at);
  } catch {
    process.stdout.on('error', () => undefined);
    await new Promise<void>((resolve) => {
      process.stdout.write(bytes.subarray(at), () => resolve());
      void systemClock.sleep(Math.max(LATE_READER_MS, ANSWER_WITHIN_MS - systemClock.monotonic())).then(resolve);
    });
  }
}

main()
  .then((answer) => (answer === null ? undefined : say(answer)))
  .catch(report)
  // Nothing that is left open may keep the agent waiting.
  .finally(() => process.exit(0));
