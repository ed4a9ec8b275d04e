/** Most commands, as a program of their own: with all libraries of the bridge it would take a quarter longer to load. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/host/program.js';
import { printLines } from '../command/command.js';
import { runCommand, runCommandLine } from './commandLine.js';
import { QUICK_COMMANDS } from './quickCommands.js';
import { QUICK_NAMES, VERSION_WORDS } from './quickNames.js';

void runCommandLine(async (name, args, context) => {
  if (VERSION_WORDS.some((word) => word === name)) {
    const { version }: { version: string } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
    printLines(context.io, version);
    return 0;
  }
  const quick = QUICK_NAMES.find((known) => known === name);
  if (quick === undefined) throw new Error(`${name} is none of the quick commands`);
  return runCommand((await QUICK_COMMANDS[quick].load()).command, args, context);
});
