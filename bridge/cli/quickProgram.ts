/**
 * Most commands, as a program of their own: agents and people wait for them, and a program with all libraries of the bridge takes a
 * quarter longer to load.
 */
import { runCommand, runCommandLine } from './commandLine.js';
import { QUICK_COMMANDS } from './quickCommands.js';
import { QUICK_NAMES } from './quickNames.js';

void runCommandLine(async (name, args, context) => {
  const quick = QUICK_NAMES.find((known) => known === name);
  if (quick === undefined) throw new Error(`${name} is none of the quick commands`);
  return runCommand((await QUICK_COMMANDS[quick].load()).command, args, context);
});
