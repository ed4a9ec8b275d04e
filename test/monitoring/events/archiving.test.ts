/** Reading by cursor, acknowledging and archiving, with real processes and real kills. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { CriticalEventLog } from '../../../monitoring/criticalEvents.js';
import { archiveEvents } from '../../../monitoring/events/archive.js';
import { ARCHIVING_STEPS, type ArchivingStep } from '../../../monitoring/events/beginning.js';
import { EventConsumers } from '../../../monitoring/events/consumers.js';
import { formatCursor, parseCursor } from '../../../monitoring/events/cursor.js';
import { EventReader, type From, type ReadEvent } from '../../../monitoring/events/reader.js';
import { packageRoot } from '../../../src/host/program.js';
import { DAY, systemClock } from '../../../src/time.js';
import { watchkeeperMeanwhile } from '../../bridge/cli/manyCalls.js';
import type { Said } from '../../bridge/cli/program.js';
import { testFolder } from '../../harness/folder.js';
import { untilStopped } from '../../harness/stopped.js';
import { appendLines, eventAt } from './eventLines.js';

const OLD = Date.UTC(2026, 0, 1);
const YOUNG = Date.UTC(2026, 2, 1);
const BETWEEN = Date.UTC(2026, 1, 1);

function logFile(): string {
  return join(testFolder(), 'logs', 'critical_events.jsonl');
}

function numbered(prefix: string, count: number, at = OLD) {
  return Array.from({ length: count }, (_, number) => eventAt(`${prefix}-${number}`, at + number));
}

async function idsBehind(file: string, from: From = null): Promise<string[]> {
  const ids: string[] = [];
  for await (const { event } of new EventReader(file).read(from)) ids.push(event.id);
  return ids;
}

async function everything(file: string): Promise<ReadEvent[]> {
  const found: ReadEvent[] = [];
  for await (const read of new EventReader(file).read(null)) found.push(read);
  return found;
}

const detected = (ids: readonly string[]) => ids.map((id) => `${id}.detected`);
const range = (prefix: string, count: number) =>
  detected(Array.from({ length: count }, (_, number) => `${prefix}-${number}`));
const acknowledge = (file: string, id: string, name = 'tester') =>
  new EventConsumers(file, systemClock).acknowledge(name, { id, first: null, end: 0 });
const archive = (file: string, before = BETWEEN) => archiveEvents(file, { clock: systemClock, before });
const linesIn = (file: string) =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).length : 0;
const besides = (file: string) => readdirSync(dirname(file)).filter((name) => /\.(?:next|rest)-/.test(name));

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

async function runProgram(
  command: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Ended> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, out, err };
}

const MAIN = join(packageRoot(), 'dist/test/monitoring/events/archivingMain.js');
const inProcess = (...args: string[]) => runProgram(process.execPath, [MAIN, ...args]);

/** The command as a reader in another process uses it. */
async function watchkeeper(file: string, ...args: string[]): Promise<Said & { lines: Record<string, unknown>[] }> {
  const logs = dirname(file);
  const said = await watchkeeperMeanwhile(dirname(logs), args, { WATCHKEEPER_LOGS: logs });
  const lines = said.out.split('\n').filter((line) => line.startsWith('{'));
  return { ...said, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('reading by cursor', () => {
  test('accepts the id of an event, too; a repeated line is returned once, also to the next reader', async () => {
    const file = logFile();
    appendLines(file, [...numbered('a', 3), ...numbered('a', 2), ...numbered('b', 1)]);
    expect(await idsBehind(file, parseCursor('a-1.detected'))).toEqual(detected(['a-2', 'b-0']));
    const places = [];
    for await (const { place } of new EventReader(file).read(null)) places.push(place);
    expect(await idsBehind(file, places[2])).toEqual(detected(['b-0']));
  });

  test('skips a torn line and reads it when it is complete', async () => {
    const file = logFile();
    appendLines(file, numbered('a', 1));
    const line = JSON.stringify(numbered('b', 1)[0]);
    appendFileSync(file, line.slice(0, 50));
    const [first] = await everything(file);
    expect(await idsBehind(file, first?.place)).toEqual([]);
    appendFileSync(file, `${line.slice(50)}\n`);
    expect(await idsBehind(file, first?.place)).toEqual(detected(['b-0']));
  });

  // rule: a-wrong-cursor-is-an-error
  test('a damaged cursor, one of another log, and one whose event was deleted are errors with exit code 2', async () => {
    const [file, other] = [logFile(), logFile()];
    appendLines(file, numbered('a', 3));
    appendLines(other, numbered('o', 3));
    const [foreign] = await everything(other);
    const [own] = await everything(file);
    const good = formatCursor(own?.place ?? null);
    const expectRefused = async (cursor: string, words: RegExp) => {
      const { code, out, err } = await watchkeeper(file, 'events', '--after', cursor, '--json');
      expect([cursor, code, out]).toEqual([cursor, 2, '']);
      expect(err).toMatch(words);
    };
    expect((await watchkeeper(file, 'events', '--after', good, '--json')).lines).toHaveLength(3);
    await expectRefused(formatCursor(foreign?.place ?? null), /o-0\.detected is neither/);
    await expectRefused('no-such-event.detected', /is neither/);
    await expectRefused(good.slice(0, -3), /damaged/);
    await expectRefused(`${good.slice(0, 8)}${good[8] === 'A' ? 'B' : 'A'}${good.slice(9)}`, /damaged/);
    await expectRefused('wk1:', /damaged/);
    await expectRefused('', /is no cursor/);
    await expectRefused('nope', /"nope" is no cursor/);
    rmSync(file);
    await expectRefused(good, /is neither/);
    expect((await watchkeeper(file, 'events', '--after', 'start', '--json')).lines).toEqual([{ cursor: 'start' }]);
  }, 60_000);

  test('every single damaged character is noticed', () => {
    const cursor = formatCursor({ id: 'a-1.detected', first: 'a-0.detected', end: 1_234 });
    for (let at = 4; at < cursor.length; at += 1) {
      const other = cursor[at] === 'x' ? 'y' : 'x';
      expect(() => parseCursor(`${cursor.slice(0, at)}${other}${cursor.slice(at + 1)}`)).toThrow('damaged');
    }
    expect(parseCursor(cursor)).toEqual({ id: 'a-1.detected', first: 'a-0.detected', end: 1_234 });
  });
});

describe('the events since an instant', () => {
  // rule: archiving-loses-nothing
  test('include those in the archive', async () => {
    const file = logFile();
    const log = new CriticalEventLog(file, (text) => text);
    const recent = async (since?: number) => (await log.readRecentEvents(since)).map(({ id }) => id);
    appendLines(file, [...numbered('old', 3), ...numbered('young', 3, YOUNG)]);
    await acknowledge(file, 'old-2.detected');
    expect((await archive(file)).events).toBe(3);
    expect(await recent()).toEqual(range('young', 3));
    expect(await recent(OLD + 1)).toEqual([...detected(['old-1', 'old-2']), ...range('young', 3)]);
    expect((await watchkeeper(file, 'events', '--since', '2026-01-01T00:00:00Z', '--json')).lines).toHaveLength(6);
    expect((await watchkeeper(file, 'events', '--json')).lines).toHaveLength(3);
    const reader = new EventReader(file);
    expect(await reader.startFor(YOUNG + DAY)).toBe('live');
    expect(await reader.startFor(OLD)).toBeNull();
    rmSync(file);
    expect(await recent(OLD + 2)).toEqual(['old-2.detected']);
  });
});

describe('archiving', () => {
  test('moves old events that all consumers have acknowledged, in order, and nothing else', async () => {
    const file = logFile();
    appendLines(file, numbered('old', 4));
    appendFileSync(file, 'garbage stays where it stood\n');
    appendLines(file, [...numbered('young', 1, YOUNG), ...numbered('late', 1)]);
    const bytes = readFileSync(file, 'utf8');
    expect(await archive(file)).toEqual({ events: 0, path: null, unacknowledged: 4 });
    await acknowledge(file, 'late-0.detected', 'first');
    await acknowledge(file, 'old-1.detected', 'second');
    expect(await archive(file)).toMatchObject({ events: 2, unacknowledged: 2 });
    await acknowledge(file, 'late-0.detected', 'second');
    const { path } = await archive(file);
    expect(basename(path ?? '')).toBe('critical_events-000002-2026-01-01.jsonl');
    expect(await archive(file)).toEqual({ events: 0, path: null, unacknowledged: 0 });
    const folder = join(dirname(file), 'archive');
    const pieces = readdirSync(folder)
      .sort()
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    expect([...pieces, readFileSync(file, 'utf8')].join('')).toBe(bytes);
    expect(await idsBehind(file, 'live')).toEqual(detected(['young-0', 'late-0']));
  });

  test('a consumer never goes back, and a consumer with an unknown position stops the archiving', async () => {
    const file = logFile();
    appendLines(file, numbered('a', 3));
    expect(await acknowledge(file, 'a-1.detected')).toBe(true);
    expect(await acknowledge(file, 'a-0.detected')).toBe(false);
    await expect(acknowledge(file, 'b-0.detected')).rejects.toMatchObject({ code: 'usage' });
    await expect(acknowledge(file, 'a-0.detected', '../x')).rejects.toMatchObject({ code: 'usage' });
    expect((await archive(file)).events).toBe(2);
    const lost = join(dirname(file), 'consumers', 'lost.json');
    writeFileSync(lost, JSON.stringify({ cursor: 'elsewhere.detected' }));
    await expect(archive(file)).rejects.toThrow(/lost has acknowledged an event that is not in this log/);
    writeFileSync(lost, '{"cursor":');
    await expect(archive(file)).rejects.toThrow(/lost\.json is damaged/);
    expect(await idsBehind(file)).toEqual(range('a', 3));
  });

  test('by command: acknowledged, moved, and reported', async () => {
    const file = logFile();
    appendLines(file, [...numbered('old', 2), eventAt('new-0', systemClock.now() - DAY)]);
    expect((await watchkeeper(file, 'events', 'archive')).out).toMatch(/nothing was moved; 2 events .*must stay/);
    const { lines } = await watchkeeper(file, 'events', '--after', 'start', '--json');
    const { code } = await watchkeeper(file, 'events', 'ack', String(lines.at(-1)?.cursor), '--consumer', 'mine');
    expect(code).toBe(0);
    expect(await watchkeeper(file, 'events', 'archive', '--json')).toMatchObject({ code: 0, lines: [{ events: 2 }] });
    expect((await watchkeeper(file, 'events', '--json')).lines.map(({ id }) => id)).toEqual(['new-0.detected']);
    expect((await watchkeeper(file, 'events', 'archive', '--follow')).code).toBe(2);
  }, 60_000);

  // rule: archiving-loses-nothing
  test.each(ARCHIVING_STEPS)(
    'killed after "%s", it loses and doubles nothing, and the next one finishes it',
    async (step: ArchivingStep) => {
      const file = logFile();
      appendLines(file, [...numbered('old', 50), ...numbered('young', 50, YOUNG)]);
      await acknowledge(file, 'old-39.detected');
      const all = [...range('old', 50), ...range('young', 50)];
      const [, , cursor] = await everything(file);

      const { signal } = await inProcess('archive', file, String(BETWEEN), step);
      expect(signal).toBe('SIGKILL');
      expect(await idsBehind(file)).toEqual(all);
      expect(await idsBehind(file, cursor?.place)).toEqual(all.slice(3));
      await new CriticalEventLog(file, (text) => text).logCriticalEvent(eventAt('after-0', YOUNG));
      expect(await idsBehind(file, cursor?.place)).toEqual([...all.slice(3), 'after-0.detected']);

      const { events } = await archive(file);
      expect(events).toBe(step === 'replaced' ? 0 : 40);
      expect(linesIn(file)).toBe(61);
      expect(await idsBehind(file)).toEqual([...all, 'after-0.detected']);
      expect(await idsBehind(file, cursor?.place)).toEqual([...all.slice(3), 'after-0.detected']);
      const folder = join(dirname(file), 'archive');
      expect(readdirSync(folder).map((name) => linesIn(join(folder, name)))).toEqual([40]);
      expect(besides(file)).toEqual([]);
    },
  );

  // rule: archiving-loses-nothing
  test('beside three processes that append and one that follows: nothing is lost, doubled or out of order', async () => {
    const file = logFile();
    const log = new CriticalEventLog(file, (text) => text);
    await log.logCriticalEvent(eventAt('first', OLD));
    const follower = inProcess('follow', file, 'last.detected');
    const writers = ['x', 'y', 'z'].map((prefix) => inProcess('append', file, prefix, '250'));
    let isWriting = true;
    const done = Promise.all(writers).finally(() => {
      isWriting = false;
    });
    let archivings = 0;
    while (isWriting) {
      const last = (await idsBehind(file, 'live')).at(-1);
      if (last === undefined) continue;
      await acknowledge(file, last);
      if ((await archive(file)).events > 0) archivings += 1;
    }
    await done;
    await log.logCriticalEvent(eventAt('last', OLD));
    const followed = (await follower).out.split('\n').filter(Boolean);
    const kept = await idsBehind(file);
    expect(archivings).toBeGreaterThan(5);
    expect([...followed, 'last.detected']).toEqual(kept);
    for (const prefix of ['x', 'y', 'z']) {
      expect(kept.filter((id) => id.startsWith(`${prefix}-`))).toEqual(range(prefix, 250));
    }
    expect(kept).toHaveLength(752);
    expect(besides(file)).toEqual([]);
  }, 90_000);

  // rule: archiving-loses-nothing
  test('stopped midway and continued after an append, it starts again instead of losing the line', async () => {
    const file = logFile();
    appendLines(file, [...numbered('old', 5), ...numbered('young', 2, YOUNG)]);
    await acknowledge(file, 'old-4.detected');
    const child = spawn(process.execPath, [MAIN, 'archive', file, String(BETWEEN), 'completed', 'SIGSTOP']);
    await once(child.stdout, 'data');
    await new CriticalEventLog(file, (text) => text).logCriticalEvent(eventAt('meanwhile-0', YOUNG));
    const all = [...range('old', 5), ...range('young', 2), 'meanwhile-0.detected'];
    expect(await idsBehind(file)).toEqual(all);
    const ended = once(child, 'close');
    await untilStopped(child.pid);
    child.kill('SIGCONT');
    expect(await ended).toEqual([0, null]);
    expect(await idsBehind(file)).toEqual(all);
    expect(linesIn(file)).toBe(3);
  });

  test('two at the same time have the same result', async () => {
    const file = logFile();
    appendLines(file, [...numbered('old', 500), ...numbered('young', 3, YOUNG)]);
    await acknowledge(file, 'old-499.detected');
    const ended = await Promise.all([1, 2, 3].map(() => inProcess('archive', file, String(BETWEEN))));
    expect(ended.map(({ code, err }) => [code, err])).toEqual([0, 1, 2].map(() => [0, '']));
    expect(await idsBehind(file)).toEqual([...range('old', 500), ...range('young', 3)]);
    expect(linesIn(file)).toBe(3);
  });

  // rule: archiving-loses-nothing
  test.each([
    ['the copy in the archive', 900, 10],
    ['the rest of the live file', 10, 900],
  ])('a disk that is full for %s loses nothing', async (_, old, young) => {
    const file = logFile();
    appendLines(file, [...numbered('old', old), ...numbered('young', young, YOUNG)]);
    await acknowledge(file, `old-${old - 1}.detected`);
    const before = readFileSync(file, 'utf8');
    const archiving = [process.execPath, MAIN, 'archive', file, String(BETWEEN)].map((word) => `'${word}'`).join(' ');
    // 100 blocks of 512 or 1,024 bytes: less than either part needs.
    const full = await runProgram('/bin/sh', ['-c', `ulimit -f 100; exec ${archiving}`]);
    expect(full.code).not.toBe(0);
    expect(full.err).toMatch(/could not be archived .*nothing is lost/);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(besides(file)).toEqual([]);
    expect(await idsBehind(file)).toEqual([...range('old', old), ...range('young', young)]);
    expect((await archive(file)).events).toBe(old);
    expect(await idsBehind(file)).toEqual([...range('old', old), ...range('young', young)]);
  });

  test('a folder without space for the archive is an error with that reason', async () => {
    const file = logFile();
    appendLines(file, numbered('old', 3));
    await acknowledge(file, 'old-2.detected');
    writeFileSync(join(dirname(file), 'archive'), 'a file is in the way');
    await expect(archive(file)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('nothing is lost'),
    });
    expect(linesIn(file)).toBe(3);
  });

  test('an archived file that was changed by hand is not mistaken for a copy', async () => {
    const file = logFile();
    appendLines(file, numbered('old', 3));
    await acknowledge(file, 'old-2.detected');
    mkdirSync(join(dirname(file), 'archive'));
    const strange = join(dirname(file), 'archive', 'critical_events-000001-2026-01-01.jsonl');
    appendLines(strange, [...numbered('old', 1), ...numbered('other', 1)]);
    expect((await archive(file)).events).toBe(3);
    expect(linesIn(strange)).toBe(2);
    expect(await idsBehind(file)).toEqual(detected(['old-0', 'other-0', 'old-1', 'old-2']));
  });

  test('an event that was written twice, before and after an archiving, hides none of those between', async () => {
    const file = logFile();
    appendLines(file, numbered('a', 3));
    await acknowledge(file, 'a-2.detected');
    await archive(file);
    appendLines(file, [...numbered('a', 1), ...numbered('b', 2)]);
    expect(await idsBehind(file)).toEqual(detected(['a-0', 'a-1', 'a-2', 'b-0', 'b-1']));
    await acknowledge(file, 'b-0.detected');
    expect((await archive(file)).events).toBe(2);
    expect(await idsBehind(file)).toEqual(detected(['a-0', 'a-1', 'a-2', 'b-0', 'b-1']));
  });

  test('keeps the permissions of the live file', async () => {
    const file = logFile();
    appendLines(file, [...numbered('old', 1), ...numbered('young', 1, YOUNG)]);
    chmodSync(file, 0o660);
    await acknowledge(file, 'old-0.detected');
    await archive(file);
    expect(statSync(file).mode & 0o777).toBe(0o660);
  });
});
