/** What was passed over for good can be read again, line by line. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { ChatFoundation } from '../../../../bridge/chat/foundation.js';
import { RejectedUpdates } from '../../../../bridge/telegram/intake/rejectedUpdates.js';
import { createLogger } from '../../../../src/log/logger.js';
import { redactShapes } from '../../../../src/log/redact.js';
import { systemClock } from '../../../../src/time.js';
import { testFolder } from '../../../harness/folder.js';

test('a line of a rejected update that a full disk cut off is terminated before the next one', async () => {
  const logsFolder = testFolder();
  const path = join(logsFolder, 'rejected_updates.jsonl');
  writeFileSync(path, '{"v":1,"timestamp":"2026-02-05T10:0');
  const logger = createLogger({ level: 'error', destinations: [], redact: redactShapes, clock: systemClock });
  const base = { redact: redactShapes, clock: systemClock, logger } as ChatFoundation;
  await new RejectedUpdates(base, logsFolder).add({ update_id: 7 }, new Error('no'));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ v: 1, update_id: 7 });
});

test('a rejected update that cannot be written is kept in the log, without secrets', async () => {
  const logged: string[] = [];
  const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
  const logger = createLogger({ level: 'error', destinations, redact: redactShapes, clock: systemClock });
  const base = { redact: redactShapes, clock: systemClock, logger } as ChatFoundation;
  const noFolder = join(testFolder(), 'file');
  writeFileSync(noFolder, '');
  const message = { text: 'password: hunter2' };
  await new RejectedUpdates(base, noFolder).add({ update_id: 7, message } as never, new Error('no'));
  expect(JSON.parse(logged.at(-1) ?? '')).toMatchObject({
    update_id: 7,
    update: expect.stringContaining('[redacted:value]'),
    msg: expect.stringContaining('could not be written'),
  });
  expect(logged.join('')).not.toContain('hunter2');
});
