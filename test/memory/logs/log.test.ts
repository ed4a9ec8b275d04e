import { appendFileSync, mkdtempSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { LogKind } from '../../../memory/logs/kind.js';
import { lineMaker, type Stamp } from '../../../memory/logs/line.js';
import { Log } from '../../../memory/logs/log.js';
import { linkWords } from '../../../src/files/plainFile.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';

/** A log in which the first `take` of a name wins. */
interface RaceEvents {
  readonly take: { readonly name: string; readonly by: string };
}
const races: LogKind<Map<string, string>, RaceEvents> = {
  name: 'races',
  begin: () => new Map(),
  apply(state, { event, name, by }) {
    if (event !== 'take') return null;
    if (state.has(String(name))) return { code: 'taken', message: `${state.get(String(name))} was first` };
    state.set(String(name), String(by));
    return null;
  },
  line: lineMaker<RaceEvents>(),
};
const stamp: Stamp = { clock: systemClock, redact: redactShapes, origin: 'person' };
const take = (name: string, by: string) => races.line('take', { name, by });

function newLog() {
  const path = join(mkdtempSync(join(tmpdir(), 'wk-log-')), 'log.jsonl');
  const log = Log.begin(path, races);
  if (log === null) throw new Error('the log exists');
  return { path, log };
}

/** Opens the log as another process would. */
function again(path: string): Log<Map<string, string>, RaceEvents> {
  const log = Log.open(path, races);
  if (log === null) throw new Error('there is no log');
  return log;
}

test('of two writers that both saw a free place, the first line in the file wins, and the second learns it', () => {
  const { path, log } = newLog();
  const other = again(path);
  const outcomes = other.write(() => {
    log.write(() => [take('a', 'first')], stamp);
    return [take('a', 'second')];
  }, stamp);
  expect(outcomes).toEqual([{ code: 'taken', message: 'first was first' }]);
  expect(again(path).state.get('a')).toBe('first');
  expect(again(path).counts).toEqual({ lines: 2, applied: 1, refused: 1, unreadable: 0, newer: 0 });
});

test('a torn line swallows nothing: the next line begins on a line of its own', () => {
  const { path, log } = newLog();
  log.write(() => [take('a', 'x')], stamp);
  appendFileSync(path, '{"v":1,"id":"01');
  log.write(() => [take('b', 'y')], stamp);
  expect(again(path).state).toEqual(
    new Map([
      ['a', 'x'],
      ['b', 'y'],
    ]),
  );
  expect(again(path).counts).toMatchObject({ applied: 2, unreadable: 1 });
  expect(readFileSync(path, 'utf8').split('\n')[1]).toBe('{"v":1,"id":"01');
});

test('a line that was glued to a torn one is written again, and counts once', () => {
  const { path, log } = newLog();
  log.write(() => {
    // Another writer dies within its line, after this one has looked.
    appendFileSync(path, '{"v":1,');
    return [take('a', 'x')];
  }, stamp);
  expect(again(path).state).toEqual(new Map([['a', 'x']]));
  const [, whole = ''] = readFileSync(path, 'utf8').split('\n');
  appendFileSync(path, `${whole}\n`);
  expect(again(path).counts).toMatchObject({ applied: 1, refused: 0, unreadable: 1 });
});

describe('a fact that is not read back', () => {
  test('begins on a line of its own behind what another writer, or a full disk, left of a line', () => {
    const { path, log } = newLog();
    log.append([take('a', 'x')], stamp);
    appendFileSync(path, '{"v":1,"id":"01');
    log.append([take('b', 'x')], stamp);
    log.append([take('c', 'x')], stamp);
    truncateSync(path, statSync(path).size - 3);
    log.append([take('d', 'x')], stamp);
    expect([...again(path).state.keys()]).toEqual(['a', 'b', 'd']);
    expect(again(path).counts).toMatchObject({ applied: 3, unreadable: 2 });
  });

  test('is written again if another writer died within a line just before it, and counts once', () => {
    const { path, log } = newLog();
    log.append([take('a', 'x')], stamp);
    const diesNow = () => {
      appendFileSync(path, '{"v":1,"id":"01');
      return systemClock.now();
    };
    log.append([take('b', 'y')], { ...stamp, clock: { ...systemClock, now: diesNow } });
    expect(again(path).state.get('b')).toBe('y');
  });

  test('is in the state of the next decision', () => {
    const { log } = newLog();
    log.append([take('a', 'first')], stamp);
    expect(log.isAlone).toBe(true);
    expect(log.write(() => [take('a', 'second')], stamp)).toEqual([{ code: 'taken', message: 'first was first' }]);
  });

  test('is not alone in a log that another process has written to', () => {
    const { path, log } = newLog();
    log.append([take('a', 'first')], stamp);
    expect(again(path).isAlone).toBe(false);
    again(path).append([take('b', 'second')], stamp);
    expect(log.isAlone).toBe(false);
  });
});

test('decisions on a log that a newer version has written to are refused, facts are not', () => {
  const { path, log } = newLog();
  appendFileSync(
    path,
    `${JSON.stringify({ v: 2, id: 'x', timestamp: '2026-01-01T00:00:00Z', event: 'take', origin: 'robot' })}\n`,
  );
  const before = readFileSync(path, 'utf8');
  expect(() => log.write(() => [take('a', 'x')], stamp)).toThrow(/newer version.*update/);
  expect(readFileSync(path, 'utf8')).toBe(before);
  expect(log.write(() => [take('a', 'x')], stamp, { isFact: true })).toEqual([null]);
  expect(log.counts.newer).toBe(1);
});

test('binary and foreign lines are counted and stay where they are', () => {
  const { path, log } = newLog();
  const foreign = Buffer.concat([
    Buffer.from([0, 255, 10]),
    Buffer.from('[1]\n{"v":1}\n'),
    Buffer.alloc(70_000, 'x'),
    Buffer.from('\n'),
  ]);
  writeFileSync(path, foreign);
  log.write(() => [take('a', 'x')], stamp);
  expect(log.counts).toEqual({ lines: 5, applied: 1, refused: 0, unreadable: 4, newer: 0 });
  expect(readFileSync(path).subarray(0, foreign.length).equals(foreign)).toBe(true);
});

test('a log that was cut off at any byte is a beginning of the log, and takes the next line', () => {
  const { path, log } = newLog();
  for (const name of ['a', 'b', 'ü 🙂', 'd']) log.write(() => [take(name, 'x')], stamp);
  const bytes = readFileSync(path);
  const cutPath = join(path, '..', 'cut.jsonl');
  for (let length = 0; length <= bytes.length; length += 1) {
    const beginning = bytes.subarray(0, length);
    writeFileSync(cutPath, beginning);
    const whole = beginning.toString('latin1').split('\n').length - 1;
    const cut = again(cutPath);
    expect([length, cut.counts.applied]).toEqual([length, whole]);
    expect(cut.write(() => [take('next', 'y')], stamp, { isDurable: false })).toEqual([null]);
    // A line that lacked nothing but its end counts once it has one.
    const after = again(cutPath);
    expect([0, 1]).toContain(after.counts.applied - whole - 1);
    after.close();
    expect(readFileSync(cutPath).subarray(0, length).equals(beginning)).toBe(true);
    cut.close();
  }
});

test('a log that is a link or a folder is refused in words, and named once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wk-log-'));
  const path = join(folder, 'log.jsonl');
  symlinkSync(newLog().path, path);
  expect(() => Log.open(path, races)).toThrow(linkWords(path));
  expect(() => Log.open(folder, races)).toThrow(linkWords(folder));
  expect(() => Log.read(folder, races)).toThrow(linkWords(folder));
});
