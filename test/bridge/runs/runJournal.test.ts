/** A run's journal on a disk that refuses it for a while. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import type { RunContext } from '../../../bridge/runs/runContext.js';
import { RunJournal } from '../../../bridge/runs/runJournal.js';
import { journalPath } from '../../../src/journal/path.js';
import { createLogger } from '../../../src/log/logger.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';

test('is torn from then on, gets what can be written again, and both are logged once', () => {
  const logsFolder = testFolder();
  const logged: string[] = [];
  const redact = (text: string) => text;
  const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
  const logger = createLogger({ level: 'info', redact, clock: systemClock, destinations });
  const path = journalPath(logsFolder, 'tg_yard_1_1');
  mkdirSync(dirname(dirname(path)));
  writeFileSync(dirname(path), 'in its way');
  const context = { settings: { logsFolder }, logger, clock: systemClock, redact } as RunContext;
  const journal = new RunJournal(context, 'tg_yard_1_1');
  journal.append({ event: 'user_prompt', origin: 'human' });
  journal.append({ event: 'heartbeat', source: 'step' });
  rmSync(dirname(path));
  journal.append({ event: 'turn_end', reason: 'end_turn' });
  journal.end({ kind: 'answered', answer: 'done' });
  expect(journal.isTorn).toBe(true);
  const events = readFileSync(path, 'utf8').trim().split('\n');
  expect(events.map((line) => JSON.parse(line).event)).toEqual(['turn_end', 'session_end']);
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'error', msg: expect.stringContaining('its run continues, judged by its record alone') },
    { level: 'warn', missing_lines: 2, msg: expect.stringContaining('its journal can be written again') },
  ]);
});
