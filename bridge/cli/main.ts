#!/usr/bin/env node
/** The command line. The only place that reads the process's environment and ends the process. */
import { createInterface } from 'node:readline';
import { didYouMean } from '../../src/config/didYouMean.js';
import { describeError, UnreachableError, UsageError } from '../../src/errors.js';
import { createRedactor } from '../../src/redact.js';
import type { Command, CommandContext, CommandIo, ExitCode } from './command.js';

/** Each is loaded when it is called: `assess` must not wait for the libraries of the bridge. */
const COMMANDS: Readonly<Record<string, { readonly summary: string; load(): Promise<Command> }>> = {
  bridge: {
    summary: 'run the bridge: take messages, run agents, watch them',
    load: async () => (await import('./bridge.js')).bridgeCommand,
  },
  watchdog: {
    summary: 'stand by beside a bridge, or look once at every session',
    load: async () => (await import('./watchdog.js')).watchdogCommand,
  },
  enqueue: {
    summary: 'put a message into the queue, as if a chat had sent it',
    load: async () => (await import('./enqueue.js')).enqueueCommand,
  },
  sessions: {
    summary: 'list waiting, running and lately ended sessions',
    load: async () => (await import('./sessions.js')).sessionsCommand,
  },
  session: {
    summary: 'show one session: its record, its health, its final message',
    load: async () => (await import('./session.js')).sessionCommand,
  },
  cancel: {
    summary: 'end a waiting or running session for good',
    load: async () => (await import('./cancel.js')).cancelCommand,
  },
  events: { summary: 'read the critical events', load: async () => (await import('./events.js')).eventsCommand },
  incidents: {
    summary: 'list open and lately closed incidents',
    load: async () => (await import('./incidents.js')).incidentsCommand,
  },
  assess: {
    summary: 'judge journals offline: files, or folders of them',
    load: async () => (await import('./assess.js')).assessCommand,
  },
};
const NAMES = Object.keys(COMMANDS);

const OVERVIEW = `watchkeeper: runs AI coding-agent jobs for Telegram chats and lets none of them die silently

usage: watchkeeper COMMAND [options]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join('\n')}

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
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (found === undefined)
    throw new UsageError(
      `unknown command ${JSON.stringify(name)}${didYouMean(name, NAMES)} known: ${NAMES.join(', ')}`,
    );
  const command = await found.load();
  if (args.includes('--help') || args.includes('-h')) {
    io.stdout(`${command.help}\n`);
    return 0;
  }
  return command.run(args, commandContext(io));
}

/** Secrets may stand in any message that another library made, so what was read is remembered for {@link explain}. */
const secrets = new Set([process.env.TELEGRAM_BOT_TOKEN, process.env.GITHUB_TOKEN, process.env.REDIS_URL]);

function commandContext(io: CommandIo): CommandContext {
  const stopping = new AbortController();
  return {
    io,
    async readSettings() {
      const { readSettings } = await import('../../src/config/readSettings.js');
      const settings = await readSettings({ environment: process.env, workingDirectory: process.cwd() });
      for (const secret of settings.secrets) secrets.add(secret);
      return settings;
    },
    get input() {
      return process.stdin.isTTY === true ? createInterface({ input: process.stdin }) : null;
    },
    logStream: process.stderr,
    // Only who stops in order hears the signals; they end every other command at once.
    get stopping() {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());
      return stopping.signal;
    },
  };
}

function explain(error: unknown, io: CommandIo): ExitCode {
  const redact = createRedactor([...secrets].filter((secret) => secret !== undefined && secret !== '') as string[]);
  const message = error instanceof UsageError ? error.message : describeError(error);
  io.stderr(`watchkeeper: ${redact(message)}\n`);
  if (error instanceof UsageError) return 2;
  return error instanceof UnreachableError ? 3 : 1;
}

await main();
