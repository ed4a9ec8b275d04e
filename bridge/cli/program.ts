/** The command line, with all its commands. */
import { didYouMean } from '../../src/config/didYouMean.js';
import { UsageError } from '../../src/errors.js';
import { type Command, type CommandContext, type ExitCode, printLines, sayLines } from '../command/command.js';
import { helpOfWord } from '../command/wordHelp.js';
import { runCommand, runCommandLine } from './commandLine.js';
import { COMMANDS } from './commands.js';
import { VERSION_WORDS } from './quickNames.js';

const NAMES = Object.keys(COMMANDS);
const HELP_WORDS = ['help', '--help', '-h'];

const OVERVIEW = `watchkeeper: runs AI coding-agent jobs for Telegram chats and lets none of them
die silently

usage: watchkeeper COMMAND [options]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join('\n')}

\`watchkeeper COMMAND --help\`, or \`watchkeeper help COMMAND\`, explains a command
with examples. Every command takes --json; \`track\` and \`work\` take --dir FOLDER,
another memory. \`watchkeeper --version\` prints the version.
exit codes: 0 fine, 1 found something, 2 usage or configuration, 3 unreachable

try it, with no account anywhere (the last line in another terminal):
  watchkeeper demo
  watchkeeper bridge
  watchkeeper enqueue --project local --text "say hello"`;

async function dispatch(name: string | undefined, args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  if (name === undefined) {
    sayLines(io, OVERVIEW.split('\n'));
    return 2;
  }
  if (HELP_WORDS.includes(name)) {
    const [about, word] = args;
    const text = about === undefined ? OVERVIEW : helpOfWord((await load(about)).help, word);
    printLines(io, text.split('\n'));
    return 0;
  }
  return runCommand(await load(name), args, context);
}

async function load(name: string): Promise<Command> {
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (found !== undefined) return (await found.load()).command;
  if (!name.startsWith('-')) {
    const known = [...NAMES, 'help'];
    throw new UsageError(
      `unknown command ${JSON.stringify(name)}${didYouMean(name, known)} (known: ${known.join(', ')})`,
    );
  }
  const known = [...HELP_WORDS, ...VERSION_WORDS].filter((word) => word.startsWith('-'));
  throw new UsageError(
    `unknown option ${JSON.stringify(name)} before a command${didYouMean(name, known)} (known: ${known.join(', ')}; options of a command come after its name)`,
  );
}

void runCommandLine(dispatch);
