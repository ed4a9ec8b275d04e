/**
 * `nobodyMain.js COMMANDS` runs commands as a user who owns nothing: root may read and write everywhere. COMMANDS is a list, as JSON,
 * of the words of each; so are its results, with what each says.
 */
import { command as track } from '../../../bridge/cli/track/track.js';
import { command as work } from '../../../bridge/cli/work/work.js';
import { UnreachableError, UsageError, WatchkeeperError } from '../../../src/errors.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { runCommand } from './inProcess.js';
import type { Said } from './program.js';

const NOBODY = 65_534;

const commands = JSON.parse(process.argv[2] ?? '[]') as string[][];
const surroundings = {
  directory: process.cwd(),
  process: readProcessIdentity('host'),
  variables: { WATCHKEEPER_HOME: process.env.WATCHKEEPER_HOME ?? '' },
};

async function say([name, ...args]: readonly string[]): Promise<Said> {
  try {
    return await runCommand(name === 'work' ? work : track, args, { surroundings });
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    const code = error instanceof UsageError ? 2 : error instanceof UnreachableError ? 3 : 1;
    return { code, out: '', err: error.message };
  }
}

// Here, after everything is loaded: the package itself may be closed to that user.
process.setgid?.(NOBODY);
process.setuid?.(NOBODY);
const said: Said[] = [];
for (const words of commands) said.push(await say(words));
process.stdout.write(JSON.stringify(said));
