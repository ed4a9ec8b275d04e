/** The common part of the command line's programs. Only this part of them reads the environment and ends the process. */
import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import { SURROUNDING_VARIABLES, type Surroundings } from '../../memory/sessions/surroundings.js';
import type { Settings } from '../../src/config/settings.js';
import { describeError, UnreachableError, UsageError, WatchkeeperError } from '../../src/errors.js';
import { armFailpoint } from '../../src/failpoints.js';
import { homeOfUser } from '../../src/host/homeOfUser.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { createRedactor, ownSecretsIn, type Redact, redactJsonLine } from '../../src/log/redact.js';
import { visible } from '../../src/log/visibleText.js';
import { systemClock } from '../../src/time.js';
import {
  type Command,
  type CommandContext,
  type CommandIo,
  type ExitCode,
  printJson,
  printLines,
  sayEach,
  sayLines,
} from '../command/command.js';
import { startDetached } from '../command/detached.js';
import { ValueMissingError } from '../command/options.js';
import { programRunner } from '../command/runProgram.js';
import { ServiceSignals, type SignalHandlers } from '../command/serviceSignals.js';
import { helpOfWord } from '../command/wordHelp.js';

/** @throws UsageError, UnreachableError */
export type Dispatch = (
  name: string | undefined,
  args: readonly string[],
  context: CommandContext,
) => Promise<ExitCode>;

const STARTED_AGAIN =
  'this container restarts until that is corrected. Meanwhile, run the doctor with `docker compose run --rm bridge doctor`';

/** Runs the command that this process was called for, and ends the process. */
export async function runCommandLine(dispatch: Dispatch): Promise<void> {
  // Stays if the command never ends, as Node reports it of a module.
  process.exitCode = 13;
  const context = new ProcessContext();
  const [name, ...args] = process.argv.slice(2);
  const run = async () => {
    armFailpoint(process.env.WATCHKEEPER_FAILPOINT);
    return dispatch(name, args, context);
  };
  process.exitCode = await run().catch((error: unknown) => {
    const code = context.explain(error, wantsJson(name, args));
    if (code === 2 && isStartedAgain(name)) sayLines(context.io, `watchkeeper: ${STARTED_AGAIN}`);
    return code;
  });
  // Flushes the output, then exits: a resource that a command left open must not keep it alive when it has finished.
  await new Promise((resolve) => process.stdout.write('', resolve));
  process.exit();
}

/** For the words of session memory: readers of the other commands know what these print. What follows `--` is no option. */
function wantsJson(name: string | undefined, args: readonly string[]): boolean {
  if (name === undefined || !['track', 'work', 'state', 'mcp'].includes(name)) return false;
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).includes(name === 'mcp' ? '--call' : '--json');
}

export async function runCommand(
  command: Command,
  args: readonly string[],
  context: CommandContext,
): Promise<ExitCode> {
  const end = args.indexOf('--');
  const options = end === -1 ? args : args.slice(0, end);
  if (!options.includes('--help') && !options.includes('-h')) return command.run(args, context);
  const word = options.find((option) => !option.startsWith('-'));
  printLines(context.io, helpOfWord(command.help, word).split('\n'));
  return 0;
}

/** The container image says so itself; `unless-stopped` ignores exit codes. */
function isStartedAgain(name: string | undefined): boolean {
  return process.env.WATCHKEEPER_CONTAINER_DIES_WHOLE === 'yes' && (name === 'bridge' || name === 'watchdog');
}

/** The process as a command sees it. Also shows a command's error. */
class ProcessContext implements CommandContext {
  readonly io: CommandIo;
  readonly logStream = process.stderr;
  get input() {
    return process.stdin;
  }
  readonly #signals = new ServiceSignals(
    {
      on: (signal, listener) => process.on(signal, listener),
      exit: (code) => process.exit(code),
      write: (text) => this.io.stderr(text),
      hasTerminal: [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY === true),
    },
    systemClock,
  );
  /** Messages from other libraries may contain secrets, so every secret that was read is remembered. */
  readonly #secrets = new Set<string>();
  /** Built from the secrets that were known at the last call. */
  #redactor: { readonly redact: Redact; readonly knows: number } | null = null;
  #isServing = false;
  #stdoutFault: Error | null = null;
  #hasPrinted = false;

  constructor() {
    for (const secret of ownSecretsIn(process.env)) this.#secrets.add(secret);
    this.io = {
      stdout: (text) => {
        if (this.#stdoutFault !== null) throw this.#stdoutFault;
        this.#hasPrinted = true;
        process.stdout.write(this.#presentable(text));
      },
      stderr: (text) => void process.stderr.write(this.#presentable(text)),
      columns: process.stdout.isTTY === true ? process.stdout.columns : undefined,
    };
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      this.#stdoutFault = error;
      // A bridge continues without its terminal.
      if (this.#isServing) return;
      // A reader that closes the pipe early (`| head`) is no failure.
      if (error.code === 'EPIPE') process.exit(0);
      sayLines(this.io, `watchkeeper: the output is incomplete: standard output accepts no more (${error.code})`);
      process.exit(3);
    });
  }

  readonly redact: Redact = (text) => {
    if (this.#redactor?.knows !== this.#secrets.size) {
      this.#redactor = { redact: createRedactor([...this.#secrets]), knows: this.#secrets.size };
    }
    return this.#redactor.redact(text);
  };

  readonly readSettings = async (): Promise<Settings> => {
    const { readSettings } = await import('../../src/config/readSettings.js');
    const { checkAgentOptions } = await import('../agents/options.js');
    return readSettings({
      environment: process.env,
      workingDirectory: currentDirectory(),
      checkAgent: checkAgentOptions,
      onSecret: (secret) => this.#secrets.add(secret),
    });
  };

  get surroundings(): Surroundings {
    const environment: NodeJS.ProcessEnv = { ...process.env, HOME: process.env.HOME || homeOfUser() };
    const variables = SURROUNDING_VARIABLES.map((name) => [name, environment[name]] as const);
    return {
      directory: currentDirectory(),
      process: readProcessIdentity(process.env.WATCHKEEPER_HOST ?? hostname()),
      variables: Object.fromEntries(variables.filter(([, value]) => value !== undefined)),
    };
  }

  startDetached(args: readonly string[]): void {
    startDetached(args, process.env);
  }

  readonly runProgram = programRunner(process.env, systemClock);

  openInput(): AsyncIterable<string> | null {
    return process.stdin.isTTY === true ? createInterface({ input: process.stdin }) : null;
  }

  untilStopped(): AbortSignal {
    if (!this.#isServing) this.#signals.listen();
    this.#isServing = true;
    return this.#signals.stopping;
  }

  handleSignals(handlers: SignalHandlers): void {
    this.#signals.handle(handlers);
  }

  /** A program that asked for JSON gets the error as JSON, too, unless it has got some of the result. */
  explain(error: unknown, isJson: boolean): ExitCode {
    // Errors of ours are whole sentences, with the cause in them.
    const message = error instanceof WatchkeeperError ? error.message : describeError(error);
    const mayBeValue = error instanceof ValueMissingError;
    if (isJson && !mayBeValue && !this.#hasPrinted && this.#stdoutFault === null)
      printJson(this.io, { code: error instanceof WatchkeeperError ? error.code : 'internal', message });
    sayEach(this.io, [`watchkeeper: ${message}`]);
    if (error instanceof UsageError) return 2;
    return error instanceof UnreachableError ? 3 : 1;
  }

  /** Everything that is printed may contain words of people and agents. */
  #presentable(text: string): string {
    const body = text.replace(/\n$/, '');
    return `${visible(redactJsonLine(this.redact, body))}${text.slice(body.length)}`;
  }
}

/** @throws UsageError if it was deleted */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new UsageError('the current directory was deleted; change to another one and repeat the command', { cause });
  }
}
