import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Api } from 'grammy';
import { packageRoot } from '../../../src/host/program.js';
import { LogFile, readableLine, terminalDestination } from '../../../src/log/logDestinations.js';
import { createLogger, type LogDestination, type Logger } from '../../../src/log/logger.js';
import { createRedactor } from '../../../src/log/redact.js';
import type { Clock } from '../../../src/time.js';
import { runOnSmallDisk } from '../../harness/smallDisk.js';

const BOT_TOKEN = '5294327191:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc';
const clock = { now: () => Date.UTC(2026, 1, 5, 10) } as Clock;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchkeeper-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function loggerTo(...destinations: LogDestination[]): Logger {
  return createLogger({ level: 'debug', redact: createRedactor(['own-secret-1']), clock, destinations });
}

function memory(): LogDestination & { lines: string[] } {
  const lines: string[] = [];
  return { name: 'memory', lines, write: (line) => void lines.push(line) };
}

/** The file takes the lines of a tick at its end. */
function endOfTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function records(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('a log record', () => {
  test('is one line of JSON with the time of the clock, the level as a word and the fields', () => {
    const out = memory();
    loggerTo(out).info({ sessions: 12 }, 'watchdog: %d sessions', 12);
    expect(out.lines).toHaveLength(1);
    expect(JSON.parse(out.lines[0] ?? '')).toEqual({
      level: 'info',
      time: '2026-02-05T10:00:00.000Z',
      pid: process.pid,
      sessions: 12,
      msg: 'watchdog: 12 sessions',
    });
  });

  test('is scrubbed wherever the secret is: message, field, key, child binding, error', () => {
    const out = memory();
    const log = loggerTo(out).child({ bound: 'own-secret-1' });
    log.warn({ deep: { list: [`own-secret-1`] }, 'own-secret-1': 1 }, `bot${BOT_TOKEN}/`);
    log.error(new Error('own-secret-1', { cause: new Error(`https://x/bot${BOT_TOKEN}/getMe`) }));
    const text = out.lines.join('');
    expect(text).not.toContain('own-secret-1');
    expect(text).not.toContain(BOT_TOKEN);
    expect(out.lines.map((line) => JSON.parse(line).bound)).toEqual(['[redacted:own_secret]', '[redacted:own_secret]']);
  });

  test('of an HttpError of grammY shows the reason, not the token', async () => {
    const server = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const api = new Api(BOT_TOKEN, { apiRoot: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    const error = await api.getMe().catch((thrown: unknown) => thrown);
    await new Promise((resolve) => server.close(resolve));
    const out = memory();
    loggerTo(out).error({ err: error, failure: error }, 'polling');
    expect(out.lines[0]).not.toContain(BOT_TOKEN);
    const { err, failure } = JSON.parse(out.lines[0] ?? '');
    expect(err).toMatchObject({
      type: 'HttpError',
      cause: { message: expect.stringContaining('[redacted:bot_token]') },
    });
    expect(failure).toEqual(err);
  });

  test('of an error contains message, code and causes, and no request; cycles end', () => {
    const error = Object.assign(new Error('outer'), { code: 'E1', status: 502, request: { headers: { a: 1 } } });
    error.cause = new AggregateError([Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })], '');
    const circle = new Error('circle');
    circle.cause = circle;
    const out = memory();
    loggerTo(out).error({ err: error }, 'x');
    loggerTo(out).error(circle);
    const { err } = JSON.parse(out.lines[0] ?? '');
    expect(err).toMatchObject({ type: 'Error', message: 'outer', code: 'E1', status: 502 });
    expect(err.cause.errors[0]).toMatchObject({ message: 'refused', code: 'ECONNREFUSED' });
    expect(err).not.toHaveProperty('request');
    expect(JSON.parse(out.lines[1] ?? '').msg).toBe('circle');
  });
});

describe('the terminal', () => {
  function stream(isTTY: boolean) {
    const written: string[] = [];
    let fail: (error: Error) => void = () => {};
    const result = {
      isTTY,
      written,
      write: (text: string) => written.push(text) > 0,
      on: (_event: 'error', listener: (error: Error) => void) => {
        fail = listener;
      },
      fail: () => fail(new Error('EPIPE')),
    };
    return result;
  }

  test('shows one readable line for people, without control characters', () => {
    const tty = stream(true);
    loggerTo(terminalDestination(tty)).warn(
      { session_id: 's\u001b[31m1', findings: [1], err: new Error('no\nway', { cause: new Error('behind') }) },
      'forged\n10:00:00.000 info  line',
    );
    expect(tty.written).toEqual([
      '10:00:00.000 warn  forged\\n10:00:00.000 info  line  session_id=s\\u001b[31m1  findings=[1]  err: no\\nway: behind\n',
    ]);
  });

  test('does not repeat fields that are in the sentence, nor absent ones', () => {
    const tty = stream(true);
    loggerTo(terminalDestination(tty)).info(
      { session_id: 's1', run_id: 'r1', attempt: 1, reason: null },
      'session s1: run started (attempt 1)',
    );
    expect(tty.written).toEqual(['10:00:00.000 info  session s1: run started (attempt 1)  run_id=r1  attempt=1\n']);
  });

  test('gets JSON if it is not a terminal', () => {
    const pipe = stream(false);
    loggerTo(terminalDestination(pipe)).info('hello');
    expect(JSON.parse(pipe.written[0] ?? '')).toMatchObject({ msg: 'hello' });
  });

  test('that is closed does not stop the file', async () => {
    const pipe = stream(false);
    const path = join(folder, 'bridge.log');
    const log = loggerTo(terminalDestination(pipe), new LogFile(path));
    log.info('one');
    pipe.fail();
    log.info('two');
    log.info('three');
    await endOfTick();
    expect(records(path).map(({ msg }) => msg)).toEqual([
      'one',
      expect.stringContaining('cannot be written to the terminal (EPIPE)'),
      'two',
      'three',
    ]);
  });

  test('shows a line that is not JSON as it is', () => {
    expect(readableLine('plain\n')).toBe('plain\n');
  });
});

describe('the file', () => {
  test('is rotated by size and keeps a fixed number', async () => {
    const path = join(folder, 'deep', 'bridge.log');
    const log = loggerTo(new LogFile(path, { maxBytes: 400, keep: 2 }));
    for (let number = 0; number < 30; number += 1) {
      log.info(`line ${number}`);
      await endOfTick();
    }
    expect(readdirSync(join(folder, 'deep')).sort()).toEqual(['bridge.log', 'bridge.log.1', 'bridge.log.2']);
    const kept = ['.2', '.1', ''].flatMap((suffix) => {
      expect(statSync(path + suffix).size).toBeLessThanOrEqual(400);
      return records(path + suffix).map(({ msg }) => msg);
    });
    expect(kept).toEqual(kept.map((_, index) => `line ${30 - kept.length + index}`));
  });

  test('gets the lines of a tick at its end', async () => {
    const path = join(folder, 'bridge.log');
    const log = loggerTo(new LogFile(path));
    log.info('1');
    log.info('2');
    expect(existsSync(path)).toBe(false);
    await endOfTick();
    expect(records(path).map(({ msg }) => msg)).toEqual(['1', '2']);
  });

  test('that was deleted under the logger is opened again; two loggers share one', async () => {
    const path = join(folder, 'bridge.log');
    const [one, two] = [loggerTo(new LogFile(path)), loggerTo(new LogFile(path))];
    one.info('1');
    two.info('2');
    await endOfTick();
    rmSync(path);
    one.info('3');
    two.info('4');
    await endOfTick();
    expect(records(path).map(({ msg }) => msg)).toEqual(['3', '4']);
  });

  test('that was moved under the logger gets no further line, even without another in its place', async () => {
    const path = join(folder, 'bridge.log');
    const log = loggerTo(new LogFile(path));
    log.info('1');
    await endOfTick();
    renameSync(path, `${path}.old`);
    log.info('2');
    await endOfTick();
    renameSync(path, `${path}.older`);
    writeFileSync(path, '');
    log.info('3');
    await endOfTick();
    const kept = [`${path}.old`, `${path}.older`, path].map((each) => records(each).map(({ msg }) => msg));
    expect(kept).toEqual([['1'], ['2'], ['3']]);
  });

  test('is rotated by the total size written by all its loggers', async () => {
    const path = join(folder, 'bridge.log');
    const limits = { maxBytes: 400, keep: 9 };
    const loggers = [loggerTo(new LogFile(path, limits)), loggerTo(new LogFile(path, limits))];
    for (let number = 0; number < 30; number += 1) {
      loggers[number % 2]?.info(`line ${number}`);
      await endOfTick();
    }
    const files = readdirSync(folder).map((name) => join(folder, name));
    expect(Math.max(...files.map((file) => statSync(file).size))).toBeLessThanOrEqual(400);
    expect(files.flatMap((file) => records(file))).toHaveLength(30);
  });

  test('whose folder cannot be used is reported once, until it can be used again', async () => {
    const out = memory();
    const blocked = join(folder, 'blocked');
    writeFileSync(blocked, '');
    const log = loggerTo(out, new LogFile(join(blocked, 'bridge.log')));
    log.info('one');
    await endOfTick();
    log.info('two');
    await endOfTick();
    rmSync(blocked);
    mkdirSync(blocked);
    log.info('three');
    await endOfTick();
    expect(out.lines.map((line) => JSON.parse(line).msg)).toEqual([
      'one',
      expect.stringMatching(/^The log cannot be written to .*blocked\/bridge\.log \(.*This is logged once/),
      'two',
      'three',
      expect.stringMatching(/^The log is written to .* again\.$/),
    ]);
    expect(records(join(blocked, 'bridge.log'))[0]).toMatchObject({ msg: 'three' });
  });

  test('is private to its own user, and so is a folder that is created for it', async () => {
    const path = join(folder, 'logs', 'bridge.log');
    loggerTo(new LogFile(path)).info('one');
    await endOfTick();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  // rule: nothing-is-written-through-a-link
  test('is not written through a link that replaced it', async () => {
    const out = memory();
    const [path, victim] = [join(folder, 'bridge.log'), join(folder, 'victim')];
    writeFileSync(victim, 'mine\n');
    symlinkSync(victim, path);
    loggerTo(out, new LogFile(path)).info('one');
    await endOfTick();
    expect(readFileSync(victim, 'utf8')).toBe('mine\n');
    expect(out.lines.map((line) => JSON.parse(line).msg).join()).toMatch(/links are not followed/);
  });

  const onFullDisk = existsSync('/dev/full') ? test : test.skip;
  onFullDisk('on a full disk is spoken of', async () => {
    const out = memory();
    loggerTo(out, new LogFile('/dev/full')).info('one');
    await endOfTick();
    expect(JSON.parse(out.lines[1] ?? '').msg).toContain('ENOSPC');
  });

  // rule: a-torn-line-is-removed
  test('keeps nothing of a line that a full disk cut off, once there is space', () => {
    runOnSmallDisk(
      folder,
      `import { LogFile } from '${pathToFileURL(join(packageRoot(), 'dist/src/log/logDestinations.js'))}';
       const file = new LogFile('bridge.log');
       const line = JSON.stringify({ msg: 'x'.repeat(300) }) + '\\n';
       for (let faults = 0; faults < 2; ) try { file.write(line + line); } catch { faults += 1; }
       makeRoom();
       file.write(JSON.stringify({ msg: 'room again' }) + '\\n');`,
    );
    const kept = records(join(folder, 'bridge.log')).map(({ msg }) => msg);
    expect(kept.length).toBeGreaterThan(2);
    expect(kept.at(-1)).toBe('room again');
  });

  test('has a torn line of another process terminated before the next one', async () => {
    const path = join(folder, 'bridge.log');
    writeFileSync(path, '{"msg":');
    loggerTo(new LogFile(path)).info('next');
    await endOfTick();
    expect(readFileSync(path, 'utf8')).toMatch(/^\{"msg":\n\{.*"next".*\n$/);
  });

  test('gets the lines of a tick in one piece at its end, and urgent ones at once, in order', async () => {
    const pieces: string[][] = [];
    const log = loggerTo({
      name: 'memory',
      gathers: true,
      write: (lines) =>
        void pieces.push(
          lines
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line).msg),
        ),
    });
    log.info('1');
    log.debug('2');
    expect(pieces).toEqual([]);
    await endOfTick();
    expect(pieces).toEqual([['1', '2']]);
    log.info('3');
    log.warn('4');
    expect(pieces).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
    await endOfTick();
    expect(pieces).toHaveLength(2);
  });

  test('gets many lines of one tick in pieces that are not too large', () => {
    let written = 0;
    let largest = 0;
    const log = loggerTo({
      name: 'memory',
      gathers: true,
      write(lines) {
        written += lines.length;
        largest = Math.max(largest, lines.length);
      },
    });
    for (let number = 0; number < 300; number += 1) log.info('x'.repeat(1_000));
    expect(written).toBeGreaterThan(200_000);
    expect(largest).toBeLessThan(70_000);
  });

  test.each([
    ['dies at once', "logger.fatal('last words'); process.kill(process.pid, 'SIGKILL');", 'SIGKILL'],
    ['exits at once', "logger.info('last words'); process.exit();", null],
    ['logs as it exits', "process.once('exit', () => logger.info('last words')); process.exit();", null],
    ['throws', "logger.info('last words'); throw new Error('lost');", null],
  ])('contains the last line of a process that %s', (_, lastSteps, endedBy) => {
    const path = join(folder, 'bridge.log');
    const module = (name: string) => JSON.stringify(pathToFileURL(join(packageRoot(), 'dist', 'src', name)).href);
    const script = `
      const { createLogger } = await import(${module('log/logger.js')});
      const { LogFile } = await import(${module('log/logDestinations.js')});
      const { systemClock } = await import(${module('time.js')});
      const destinations = [new LogFile(${JSON.stringify(path)})];
      const logger = createLogger({ level: 'info', redact: (text) => text, clock: systemClock, destinations });
      ${lastSteps}`;
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(signal).toBe(endedBy);
    expect(records(path)).toMatchObject([{ msg: 'last words' }]);
  });
});
