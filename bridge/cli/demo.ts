import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { compiledProgram } from '../../src/host/program.js';
import type { Command } from '../command/command.js';
import { readOptions } from '../command/options.js';

export const command: Command = {
  help: `usage: watchkeeper demo [--json]

Plays the main story within a minute, with no account and no network: a bridge
and local stand-ins for Telegram and GitHub, five messages, an agent that hangs,
one that keeps failing, a bridge that is killed. Then it checks its claims
against the files that are left in demo-output/ of the current directory, and
makes a page of them, index.html. Needs Linux.

  --json   print only the outcome: {"holds", "claims": [{"says", "holds",
           "contradictions"}], "page"}

exit code: 0 every claim holds, 1 one does not, or the story broke off

examples:
  watchkeeper demo`,
  async run(args, context) {
    readOptions(args, { json: { type: 'boolean' } });
    // A program of its own: it runs on stand-ins that no other command may load.
    const demo = spawn(process.execPath, [compiledProgram('demo/main'), ...args], { stdio: 'inherit' });
    context.untilStopped().addEventListener('abort', () => demo.kill());
    const [code] = await once(demo, 'exit');
    return code === 0 ? 0 : 1;
  },
};
