/** What the bridge that was killed had stored, and its worklogs lack. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MissedEnds } from '../../../bridge/runs/missedEnds.js';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { BridgeWorklogs } from '../../../memory/sessions/bridgeWorklogs.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { createLogger } from '../../../src/log/logger.js';
import { createRedactor } from '../../../src/log/redact.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';

const PROCESS = { host: 'h', boot_id: 'b', pid_namespace: 'n', pid: 7, pid_start: '1' };

test('ends the worklogs of sessions that have ended, with runs whose end nobody wrote, and touches no other', async () => {
  const folder = testFolder();
  const clock = new ManualClock();
  const redact = createRedactor([]);
  const logged: string[] = [];
  const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
  const logger = createLogger({ level: 'debug', redact, clock, destinations });
  const worklogs = new BridgeWorklogs(folder, { clock, redact });
  const linesOf = (id: string) =>
    readFileSync(join(folder, 'sessions', id, 'worklog.jsonl'), 'utf8').match(/(?<="event":")[a-z_]+/g);
  const begin = (session_id: string) => [
    worklogKind.line('session_started', { session_id, purpose: 'bake' }),
    worklogKind.line('run_started', { process: PROCESS }),
  ];
  for (const id of ['tg_a_1_1', 'tg_a_1_2', 'tg_a_1_3']) worklogs.of(id).write(() => begin(id));
  worklogs.end('tg_a_1_2', 'failed');
  const known = { tg_a_1_1: 'completed', tg_a_1_2: 'failed', tg_a_1_3: 'active', tg_a_1_4: 'completed' };
  const sessions = Object.entries(known).map(([session_id, status]) => ({ session_id, status }) as AgentSession);
  const records = { sessionIds: async () => Object.keys(known), sessions: async () => sessions };
  const missed = new MissedEnds({ store: { records }, worklogs, logger });
  await missed.start();
  await missed.stop();
  expect(linesOf('tg_a_1_1')).toEqual(['session_started', 'run_started', 'run_ended', 'session_ended']);
  expect(linesOf('tg_a_1_2')).toEqual(['session_started', 'run_started', 'session_ended']);
  expect(linesOf('tg_a_1_3')).toEqual(['session_started', 'run_started']);
  expect(existsSync(join(folder, 'sessions', 'tg_a_1_4'))).toBe(false);
  const broken = { sessionIds: () => Promise.reject(new Error('Redis is away')), sessions: async () => [] };
  const failing = new MissedEnds({ store: { records: broken }, worklogs, logger });
  await failing.start();
  await failing.stop();
  expect(logged.at(-1)).toContain('Redis is away');
});
