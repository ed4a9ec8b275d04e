/**
 * Another process that works on a session.
 *
 * argv: folder — opens its worklog, says so, and writes when a line is put into it
 * argv: home, directory, session, `archive` or `unarchive`, how often — says nothing
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { archiveSession, unarchiveSession } from '../../../memory/keeping/archive.js';
import { Log } from '../../../memory/logs/log.js';
import { Memory } from '../../../memory/sessions/memory.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';

const [place = '', directory, id = '', kind = '', count = '1'] = process.argv.slice(2);
if (directory === undefined) {
  const log = Log.open(join(place, 'worklog.jsonl'), worklogKind);
  process.stdout.write('open\n');
  await once(process.stdin, 'data');
  const outcomes = log?.write(
    () => [worklogKind.line('note', { text: 'late' }), worklogKind.line('log', { message: 'late' })],
    { clock: systemClock, redact: redactShapes, origin: 'agent' },
  );
  process.stdout.write(`${JSON.stringify(outcomes?.map((refusal) => refusal?.code ?? null))}\n`);
} else {
  const act = kind === 'archive' ? archiveSession : unarchiveSession;
  for (let time = 0; time < Number(count); time += 1) {
    const memory = new Memory({
      surroundings: { directory, process: readProcessIdentity('host'), variables: { WATCHKEEPER_HOME: place } },
      folder: null,
      clock: systemClock,
      redact: redactShapes,
    });
    const session = memory.which(id);
    act(memory, session);
    session.log.close();
  }
}
