/** The worklogs that a bridge holds open. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { BridgeWorklogs } from '../../../memory/sessions/bridgeWorklogs.js';
import { createRedactor } from '../../../src/log/redact.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';

const start = () => [{ event: 'session_started', purpose: 'bake' }];

/** Files below the folder that this process has open. */
function openBelow(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      return [];
    }
  });
}

test('are closed by the end of their sessions, and the oldest when there are too many', () => {
  const folder = testFolder();
  const worklogs = new BridgeWorklogs(folder, { clock: new ManualClock(), redact: createRedactor([]) });
  const eventsOf = (id: string) =>
    readFileSync(join(folder, 'sessions', id, 'worklog.jsonl'), 'utf8').match(/(?<="event":")[a-z_]+/g);
  const first = worklogs.of('tg_a_1_1');
  first.write(start);
  for (let count = 2; count <= 250; count += 1) worklogs.of(`tg_a_1_${count}`).write(start);
  expect(openBelow(folder)).toHaveLength(200);
  first.append([{ event: 'log', message: 'still known' }]);
  first.close();
  for (let count = 1; count <= 250; count += 1) worklogs.end(`tg_a_1_${count}`, 'completed');
  expect(openBelow(folder)).toEqual([]);
  expect(eventsOf('tg_a_1_1')).toEqual(['session_started', 'log', 'session_ended']);
  worklogs.end('tg_a_1_250', 'failed');
  expect(eventsOf('tg_a_1_250')).toEqual(['session_started', 'session_ended']);
});
