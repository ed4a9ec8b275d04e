/** The worklogs that a bridge holds open. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { Log } from '../../../memory/logs/log.js';
import { BridgeWorklogs } from '../../../memory/sessions/bridgeWorklogs.js';
import { createRedactor } from '../../../src/log/redact.js';
import { isoTime } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';

const ID = 'tg_a_1_1';
const startOf = (session_id: string) => () => [worklogKind.line('session_started', { session_id, purpose: 'bake' })];

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

function scene() {
  const folder = testFolder();
  const clock = new ManualClock();
  const worklogs = new BridgeWorklogs(folder, { clock, redact: createRedactor([]) });
  const faults: unknown[] = [];
  const onFault = (error: unknown) => void faults.push(error);
  const linesOf = (id: string) =>
    readFileSync(join(folder, 'sessions', id, 'worklog.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { folder, clock, worklogs, faults, onFault, linesOf };
}

test('are written half a second later, in order, with the time at which it was true', async () => {
  const { folder, clock, worklogs, onFault, linesOf } = scene();
  const timestamp = isoTime(clock.now());
  worklogs.later(ID, startOf(ID), onFault);
  worklogs.later(ID, [worklogKind.line('log', { message: 'baked', timestamp })], onFault);
  worklogs.expectEnd(ID);
  worklogs.endLater(ID, timestamp, onFault);
  expect(existsSync(join(folder, 'sessions'))).toBe(false);
  await clock.advance(499);
  expect(existsSync(join(folder, 'sessions'))).toBe(false);
  await clock.advance(1);
  expect(linesOf(ID)).toMatchObject([
    { event: 'session_started' },
    { event: 'log', timestamp },
    { event: 'session_ended', reason: 'completed', timestamp },
  ]);
  expect(openBelow(folder)).toEqual([]);
});

describe('in a burst of messages', () => {
  /** Runs of one session after the other begin, 20 ms apart. @returns the ids */
  async function burst({ clock, worklogs, onFault }: ReturnType<typeof scene>, ms: number): Promise<string[]> {
    const ids: string[] = [];
    for (let passed = 0; passed < ms; passed += 20) {
      const id = `tg_a_1_${passed}`;
      ids.push(id);
      worklogs.later(id, startOf(id), onFault);
      await clock.advance(20);
    }
    return ids;
  }

  test('give way until there is a gap', async () => {
    const given = scene();
    const ids = await burst(given, 2_000);
    expect(existsSync(join(given.folder, 'sessions'))).toBe(false);
    await given.clock.advance(100);
    for (const id of ids) expect(given.linesOf(id)).toHaveLength(1);
  });

  test('do not give way for more than about three seconds, nor to a thousand others', async () => {
    const given = scene();
    const ids = await burst(given, 6_000);
    const written = ids.filter((id) => existsSync(join(given.folder, 'sessions', id)));
    expect(written).toEqual(ids.slice(0, written.length));
    expect(written.length * 20).toBeGreaterThan(2_900);
    expect(written.length * 20).toBeLessThan(3_100);
    await given.clock.advance(1_000);
    const crowd = Array.from({ length: 1_100 }, (_, index) => `tg_b_1_${index}`);
    for (const id of crowd) given.worklogs.later(id, startOf(id), given.onFault);
    const early = crowd.filter((id) => existsSync(join(given.folder, 'sessions', id)));
    expect(early).toEqual(crowd.slice(0, 100));
    await given.worklogs.stop();
  });

  test('are all written before the bridge has stopped', async () => {
    const given = scene();
    const ids = await burst(given, 1_000);
    await given.worklogs.stop();
    for (const id of ids) expect(given.linesOf(id)).toHaveLength(1);
    expect(given.clock.waiting).toBe(0);
  });
});

test('are written at once by what must come after, and when the bridge stops', async () => {
  const { worklogs, onFault, linesOf } = scene();
  worklogs.later(ID, startOf(ID), onFault);
  worklogs.end(ID, 'failed');
  expect(linesOf(ID)).toMatchObject([{ event: 'session_started' }, { event: 'session_ended', reason: 'failed' }]);
  worklogs.later('tg_a_1_2', startOf('tg_a_1_2'), onFault);
  worklogs.later('tg_a_1_3', startOf('tg_a_1_3'), onFault);
  worklogs.settle('tg_a_1_2');
  expect(linesOf('tg_a_1_2')).toHaveLength(1);
  await worklogs.stop();
  expect(linesOf('tg_a_1_3')).toHaveLength(1);
});

test('take what their agent has said at the end, and no second end', async () => {
  const { folder, clock, worklogs, onFault, linesOf } = scene();
  worklogs.of(ID).write(startOf(ID));
  const stamp = { clock, redact: createRedactor([]), origin: 'agent' } as const;
  const log = Log.open(join(folder, 'sessions', ID, 'worklog.jsonl'), worklogKind);
  log?.write(() => [worklogKind.line('session_changed', { summary: 'baked' })], stamp);
  log?.close();
  worklogs.endLater(ID, isoTime(clock.now()), onFault);
  await worklogs.stop();
  worklogs.endLater(ID, isoTime(clock.now()), onFault);
  await worklogs.stop();
  expect(linesOf(ID).slice(2)).toMatchObject([{ event: 'session_ended', summary: 'baked' }]);
});

test('say what could not be written, and write the others', async () => {
  const { folder, worklogs, faults, onFault, linesOf } = scene();
  mkdirSync(join(folder, 'sessions', ID, 'worklog.jsonl'), { recursive: true });
  worklogs.later(ID, startOf(ID), onFault);
  worklogs.later('tg_a_1_2', startOf('tg_a_1_2'), onFault);
  await worklogs.stop();
  expect(faults).toMatchObject([{ message: expect.stringContaining('worklog.jsonl') }]);
  expect(linesOf('tg_a_1_2')).toHaveLength(1);
});

test('write what could not be written when it can be, in order', async () => {
  const { folder, clock, worklogs, faults, onFault, linesOf } = scene();
  const path = join(folder, 'sessions', ID, 'worklog.jsonl');
  mkdirSync(path, { recursive: true });
  const timestamp = isoTime(clock.now());
  worklogs.later(ID, startOf(ID), onFault);
  worklogs.endLater(ID, timestamp, onFault);
  await clock.advance(60_000);
  rmdirSync(path);
  await clock.advance(60_000);
  const events = [{ event: 'session_started' }, { event: 'session_ended', timestamp }];
  expect(linesOf(ID)).toMatchObject(events);
  await clock.advance(60_000);
  await worklogs.stop();
  expect(linesOf(ID)).toHaveLength(events.length);
  expect(faults.length).toBeGreaterThan(1);
});

test('know in which workspace a directory is for a minute', async () => {
  const { folder, clock, worklogs } = scene();
  const below = join(folder, 'repository', 'below');
  mkdirSync(below, { recursive: true });
  const before = worklogs.workspaceIdOf(below);
  mkdirSync(join(folder, 'repository', '.git'));
  expect(worklogs.workspaceIdOf(below)).toBe(before);
  await clock.advance(60_000);
  expect(worklogs.workspaceIdOf(below)).toBe(worklogs.workspaceIdOf(join(folder, 'repository')));
  expect(worklogs.workspaceIdOf(below)).not.toBe(before);
});

test('are closed by the end of their sessions, and the oldest when there are too many', () => {
  const folder = testFolder();
  const worklogs = new BridgeWorklogs(folder, { clock: new ManualClock(), redact: createRedactor([]) });
  const eventsOf = (id: string) =>
    readFileSync(join(folder, 'sessions', id, 'worklog.jsonl'), 'utf8').match(/(?<="event":")[a-z_]+/g);
  const first = worklogs.of('tg_a_1_1');
  first.write(startOf(ID));
  for (let count = 2; count <= 250; count += 1) {
    const id = `tg_a_1_${count}`;
    worklogs.of(id).write(startOf(id));
  }
  expect(openBelow(folder)).toHaveLength(200);
  first.append([worklogKind.line('log', { message: 'still known' })]);
  first.close();
  for (let count = 1; count <= 250; count += 1) worklogs.end(`tg_a_1_${count}`, 'completed');
  expect(openBelow(folder)).toEqual([]);
  expect(eventsOf('tg_a_1_1')).toEqual(['session_started', 'log', 'session_ended']);
  worklogs.end('tg_a_1_250', 'failed');
  expect(eventsOf('tg_a_1_250')).toEqual(['session_started', 'session_ended']);
});
