#!/usr/bin/env node
/** The command line. The only place that reads the process's environment and ends the process. */
import { createInterface } from 'node:readline';
import { didYouMean } from '../../src/config/didYouMean.js';
import { readSettings } from '../../src/config/readSettings.js';
import { describeError, UnreachableError, UsageError } from '../../src/errors.js';
import { createRedactor } from '../../src/redact.js';
import { assessCommand } from './assess.js';
import { bridgeCommand } from './bridge.js';
import { cancelCommand } from './cancel.js';
import type { Command, CommandContext, CommandIo, ExitCode } from './command.js';
import { enqueueCommand } from './enqueue.js';
import { eventsCommand } from './events.js';
import { incidentsCommand } from './incidents.js';
import { sessionCommand } from './session.js';
import { sessionsCommand } from './sessions.js';
import { watchdogCommand } from './watchdog.js';

const COMMANDS: readonly Command[] = [
  bridgeCommand,
  watchdogCommand,
  enqueueCommand,
  sessionsCommand,
  sessionCommand,
  cancelCommand,
  eventsCommand,
  incidentsCommand,
  assessCommand,
];

const OVERVIEW = `watchkeeper: runs AI coding-agent jobs for Telegram chats and lets none of them die silently

usage: watchkeeper COMMAND [options]

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`).join('\n')}

\`watchkeeper COMMAND --help\` explains a command with examples. Every command takes --json.
exit codes: 0 fine, 1 found something, 2 usage or configuration, 3 unreachable

try it, with no account anywhere:
  watchkeeper bridge
  watchkeeper enqueue --project local --text "say hello"    (in another terminal)`;

async function main(): Promise<void> {
  const io: CommandIo = {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
  };
  // A reader that closes the pipe early (`| head`) is no failure.
  process.stdout.on('error', () => process.exit(0));
  const [name, ...args] = process.argv.slice(2);
  process.exitCode = await dispatch(name, args, io).catch((error: unknown) => explain(error, io));
  // Whatever a command left open must not keep a finished command alive; flushed first.
  await new Promise((resolve) => process.stdout.write('', resolve));
  process.exit();
}

async function dispatch(name: string | undefined, args: readonly string[], io: CommandIo): Promise<ExitCode> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    io.stdout(`${OVERVIEW}\n`);
    return name === undefined ? 2 : 0;
  }
  const names = COMMANDS.map((command) => command.name);
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined)
    throw new UsageError(
      `unknown command ${JSON.stringify(name)}${didYouMean(name, names)} known: ${names.join(', ')}`,
    );
  if (args.includes('--help') || args.includes('-h')) {
    io.stdout(`${command.help}\n`);
    return 0;
  }
  return command.run(args, commandContext(io));
}

function commandContext(io: CommandIo): CommandContext {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());
  return {
    io,
    readSettings: () => readSettings({ environment: process.env, workingDirectory: process.cwd() }),
    input: process.stdin.isTTY === true ? createInterface({ input: process.stdin }) : null,
    logStream: process.stderr,
    stopping: stopping.signal,
  };
}

/** Secrets may stand in any message that another library made. */
function explain(error: unknown, io: CommandIo): ExitCode {
  const { TELEGRAM_BOT_TOKEN = '', GITHUB_TOKEN = '' } = process.env;
  const redact = createRedactor([TELEGRAM_BOT_TOKEN, GITHUB_TOKEN].filter((secret) => secret !== ''));
  const message = error instanceof UsageError ? error.message : describeError(error);
  io.stderr(`watchkeeper: ${redact(message)}\n`);
  if (error instanceof UsageError) return 2;
  return error instanceof UnreachableError ? 3 : 1;
}

await main();
