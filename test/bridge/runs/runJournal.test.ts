/** A run's journal on a disk that refuses it for a while. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import type { RunContext } from '../../../bridge/runs/runContext.js';
import { RunJournal } from '../../../bridge/runs/runJournal.js';
import { journalPath } from '../../../src/journal/path.js';
import { JournalWriter } from '../../../src/journal/writer.js';
import { createLogger } from '../../../src/log/logger.js';
import { MINUTE, systemClock } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';

test('is torn from then on, gets what can be written again, and both are logged once', () => {
  const logsFolder = testFolder();
  const logged: string[] = [];
  const redact = (text: string) => text;
  const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
  const logger = createLogger({ level: 'info', redact, clock: systemClock, destinations });
  const path = journalPath(logsFolder, 'tg_yard_1_1');
  mkdirSync(dirname(dirname(path)));
  writeFileSync(dirname(path), 'in its way');
  const context = {
    settings: { logsFolder, memory: { texts: true } },
    logger,
    clock: systemClock,
    redact,
    here: { boot_id: '' },
  } as RunContext;
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

test('keeps no word of a prompt or an answer if the settings say so, but the answer that is to be sent', () => {
  const logsFolder = testFolder();
  const redact = (text: string) => text;
  const settings = { logsFolder, memory: { texts: false } };
  const context = { settings, clock: systemClock, redact, here: { boot_id: '' } } as RunContext;
  const journal = new RunJournal(context, 'tg_yard_1_1');
  const call = { tool_use_id: 'a', tool_name: 'Agent' };
  journal.append({ event: 'user_prompt', origin: 'human', text: 'mend the zebra' });
  journal.append({ event: 'assistant_message', text: 'the zebra is mended' });
  journal.append({ event: 'pre_tool_use', ...call, tool_input: { prompt: 'find the zebra' } });
  journal.append({ event: 'post_tool_use', ...call, is_error: false, outcome: 'ok', tool_output_preview: 'a zebra' });
  const before = readFileSync(journalPath(logsFolder, 'tg_yard_1_1'), 'utf8');
  expect(before).not.toContain('zebra');
  expect(before.trim().split('\n')).toHaveLength(4);
  expect(before).toMatch(/"input_digest":"\w+".*"tool_name":"Agent"/);
  journal.end({ kind: 'answered', answer: 'done' });
  expect(readFileSync(journalPath(logsFolder, 'tg_yard_1_1'), 'utf8')).toContain('"answer":"done"');
});

test('is on the disk half a second after a line, by one sync for all lines of that time, and at once if it ends without an answer', async () => {
  const logsFolder = testFolder();
  const clock = new ManualClock();
  const settings = { logsFolder, memory: { texts: true } };
  const context = { settings, clock, redact: (text: string) => text, here: { boot_id: '' } } as unknown as RunContext;
  // Whether a disk has something cannot be seen without cutting its power: this notes what was asked of it.
  const asked = jest.spyOn(JournalWriter.prototype, 'sync');
  afterThisTest(() => asked.mockRestore());
  const journal = new RunJournal(context, 'tg_yard_1_1');
  journal.begin('RUN', clock.now());
  journal.append({ event: 'heartbeat', source: 'output' });
  await clock.advance(499);
  expect(asked).not.toHaveBeenCalled();
  await clock.advance(1);
  expect(asked).toHaveBeenCalledTimes(1);
  await asked.mock.results[0]?.value;
  await clock.advance(MINUTE);
  expect(asked).toHaveBeenCalledTimes(1);
  journal.append({ event: 'turn_end', reason: 'end_turn' });
  journal.end({ kind: 'failed', cause: 'crash', reason: 'run_failed_exit_1', detail: '' });
  expect(asked).toHaveBeenCalledTimes(2);
  await asked.mock.results[1]?.value;
  await clock.advance(MINUTE);
  expect(asked).toHaveBeenCalledTimes(2);
});
