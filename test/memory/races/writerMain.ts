/**
 * One of many writers of a log. Prints the id of each line that is on the disk, so that the test knows what was acknowledged.
 *
 * argv: the log's path, the writer's name, the number of lines
 */
import { writeSync } from 'node:fs';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { Log } from '../../../memory/logs/log.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';

const [path = '', name = '', lines = '0'] = process.argv.slice(2);
const log = Log.open(path, worklogKind);
if (log === null) throw new Error(`there is no log ${path}`);
for (let index = 0; index < Number(lines); index += 1) {
  const message = `${name}-${index}`;
  log.write(() => [worklogKind.line('log', { message })], {
    clock: systemClock,
    redact: redactShapes,
    origin: 'agent',
  });
  writeSync(1, `${message}\n`);
}
