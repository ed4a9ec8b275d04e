/** `nobodyLooksMain.js HOME` checks a home of memory as a user who owns nothing else. Writes the results as JSON. */
import { checkMemory } from '../../../bridge/doctor/memoryChecks.js';
import { readProcessIdentity } from '../../../src/host/identity.js';

const NOBODY = 65_534;

const [home = ''] = process.argv.slice(2);
const surroundings = { directory: '/', process: readProcessIdentity('host'), variables: { WATCHKEEPER_HOME: home } };
// Here, after everything is loaded: the package itself may be closed to that user.
process.setgid?.(NOBODY);
process.setuid?.(NOBODY);
process.stdout.write(JSON.stringify(await checkMemory(surroundings, false)));
