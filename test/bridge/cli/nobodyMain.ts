/** `nobodyMain.js track|work …` runs a command as a user who owns nothing: root may read and write everywhere. */
import { command as track } from '../../../bridge/cli/track/track.js';
import { command as work } from '../../../bridge/cli/work/work.js';
import { UnreachableError, UsageError, WatchkeeperError } from '../../../src/errors.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { runCommand } from './inProcess.js';

const NOBODY = 65_534;

const [name, ...args] = process.argv.slice(2);
const surroundings = {
  directory: process.cwd(),
  process: readProcessIdentity('host'),
  variables: { WATCHKEEPER_HOME: process.env.WATCHKEEPER_HOME ?? '' },
};
// Here, after everything is loaded: the package itself may be closed to that user.
process.setgid?.(NOBODY);
process.setuid?.(NOBODY);
try {
  const { code, out, err } = await runCommand(name === 'work' ? work : track, args, { surroundings });
  process.stdout.write(out);
  process.stderr.write(err);
  process.exitCode = code;
} catch (error) {
  if (!(error instanceof WatchkeeperError)) throw error;
  process.stderr.write(error.message);
  process.exitCode = error instanceof UsageError ? 2 : error instanceof UnreachableError ? 3 : 1;
}
