/**
 * One of many processes that begin, end and reopen sessions in one directory. Prints what each attempt led to.
 *
 * argv: home, directory, seed, attempts
 */
import { writeSync } from 'node:fs';
import { RefusedError } from '../../../memory/logs/kind.js';
import { Memory } from '../../../memory/sessions/memory.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';
import { seededRandom } from '../../src/journal/random.js';

const [home = '', directory = '', seed = '1', attempts = '1'] = process.argv.slice(2);
const random = seededRandom(Number(seed));
let own: string | null = null;
for (let attempt = 0; attempt < Number(attempts); attempt += 1) {
  const memory = new Memory({
    surroundings: { directory, process: readProcessIdentity('host'), variables: { WATCHKEEPER_HOME: home } },
    folder: null,
    clock: systemClock,
    redact: redactShapes,
  });
  const { lifecycle, workspace, sessions } = memory;
  const session = own === null ? null : sessions.open(own);
  const what = session === null || random.below(3) === 0 ? 'begin' : session.log.state.end === null ? 'end' : 'reopen';
  let outcome = 'done';
  try {
    if (what === 'begin' || session === null) {
      own = lifecycle.begin(workspace, { purpose: 'race', fields: {}, plan: [], concurrent: false }).id;
    } else if (what === 'end') lifecycle.end(session, workspace, { lines: () => [], reason: 'completed' });
    else lifecycle.reopen(session, workspace);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    outcome = error.message;
  }
  session?.log.close();
  writeSync(1, `${JSON.stringify({ what, session: own, outcome })}\n`);
}
