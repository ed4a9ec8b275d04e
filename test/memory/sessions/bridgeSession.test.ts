/** The worklog of a bridge's session, as its runs and its deliveries write it. */
import { mkdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { Log } from '../../../memory/logs/log.js';
import { BridgeSession, lostRuns } from '../../../memory/sessions/bridgeSession.js';
import { createRedactor } from '../../../src/log/redact.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';

const PROCESS = { host: 'h', boot_id: 'b', pid_namespace: 'n', pid: 7, pid_start: '1' };
const ID = 'tg_boat_1_2';
let folder = '';
let session: BridgeSession;
const stamp = { clock: new ManualClock(), redact: createRedactor([]) };
const path = () => join(folder, 'sessions', ID, 'worklog.jsonl');
const state = () => Log.read(path(), worklogKind)?.state;
const events = () =>
  readFileSync(path(), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).event);
const start = () =>
  session.write(({ facts }) => [
    ...(facts === null ? [worklogKind.line('session_started', { session_id: ID, purpose: 'bake' })] : []),
    worklogKind.line('run_started', { process: PROCESS }),
  ]);

beforeEach(() => {
  folder = testFolder();
  session = new BridgeSession(folder, ID, stamp);
});

test('is begun by its first run, and only once', () => {
  start();
  session.close();
  start();
  expect(events()).toEqual(['session_started', 'run_started', 'run_started']);
  expect(state()).toMatchObject({ session_id: ID, lifecycle: 'active', last_activity: null, runs: [{}] });
});

test('gets no worklog by an end if nothing was ever run', () => {
  session.end('cancelled');
  expect(state()).toBeUndefined();
});

test('ends once, with what its agent said at the end, whoever comes second', () => {
  start();
  const agent = { ...stamp, origin: 'agent' as const };
  Log.open(path(), worklogKind)?.write(() => [worklogKind.line('session_changed', { summary: 'baked' })], agent);
  session.end('completed');
  session.end('cancelled');
  new BridgeSession(folder, ID, stamp).end('failed');
  expect(events().filter((event) => event === 'session_ended')).toHaveLength(1);
  expect(state()?.end).toMatchObject({ reason: 'completed', summary: 'baked' });
});

test('names the runs whose end nobody wrote', () => {
  start();
  session.end('failed', lostRuns);
  expect(state()).toMatchObject({ lifecycle: 'ended', runs: [{ reason: 'lost' }] });
  expect(events().at(-1)).toBe('session_ended');
});

test('takes facts beside lines of a newer version', () => {
  start();
  writeFileSync(path(), `{"v":2,"id":"x","timestamp":"2026-01-01T00:00:00Z","event":"new"}\n`, { flag: 'a' });
  session.end('completed');
  expect(state()?.end?.reason).toBe('completed');
});

test('writes through no link', () => {
  mkdirSync(join(folder, 'elsewhere'));
  mkdirSync(join(folder, 'sessions'));
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'sessions', ID));
  expect(start).toThrow('is a link');
});

test('an agent that blows up its worklog keeps the bridge from nothing: it is not read, before a run or in it', () => {
  start();
  truncateSync(path(), 2 ** 40);
  const refused = /worklog\.jsonl is larger than \d+ bytes, .* is not read: move it away$/;
  expect(() => start()).toThrow(refused);
  session.close();
  expect(() => start()).toThrow(refused);
  expect(() => session.end('completed')).toThrow(refused);
  expect(statSync(path()).size).toBe(2 ** 40);
});
