/** Readers of the critical events as they are outside: processes that use the command line, and are killed. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/host/program.js';
import { watchkeeperMeanwhile } from '../../bridge/cli/manyCalls.js';
import type { Said } from '../../bridge/cli/program.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { appendLines, eventAt } from './eventLines.js';

const OLD = Date.UTC(2026, 0, 1);
const BETWEEN = '2026-02-01T00:00:00Z';
const SEEDED = 1_600;
const APPENDED = 400;

const PROGRAM = join(packageRoot(), 'dist/bridge/cli/main.js');
const inDist = (name: string) => join(packageRoot(), 'dist/test/monitoring/events', name);
const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, number) => eventAt(`${prefix}-${number}`, OLD + number));
const ids = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, number) => `${prefix}-${number}.detected`);

function start(command: string, args: readonly string[], environment: Record<string, string> = {}): ChildProcess {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  afterThisTest(() => void child.kill('SIGKILL'));
  return child;
}

async function ended(child: ChildProcess) {
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, out, err };
}

function scene() {
  const logs = join(testFolder(), 'logs');
  const file = join(logs, 'critical_events.jsonl');
  const archiveFolder = join(logs, 'archive');
  const watchkeeper = (...args: string[]) => watchkeeperMeanwhile(dirname(logs), args, { WATCHKEEPER_LOGS: logs });
  /** Of all files in their order, as they stand there. */
  const idsOnDisk = () => {
    const archived = existsSync(archiveFolder) ? readdirSync(archiveFolder).sort() : [];
    return [...archived.map((name) => join(archiveFolder, name)), file].flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as { id: string }).id),
    );
  };
  return { logs, file, archiveFolder, watchkeeper, idsOnDisk };
}

describe('a reader that stores its cursor with its work', () => {
  // rule: archiving-loses-nothing
  test('gets 2,000 events across five archivings and three restarts once each, in order', async () => {
    const { logs, file, archiveFolder, watchkeeper, idsOnDisk } = scene();
    appendLines(file, numbered('seed', SEEDED));
    const writer = ended(start(process.execPath, [inDist('archivingMain.js'), 'append', file, 'w', String(APPENDED)]));
    const stateFile = join(dirname(logs), 'reader.json');
    const last = `w-${APPENDED - 1}.detected`;

    let archivings = 0;
    let steps: string[] = [];
    /** Archives beside reader and writer after each acknowledgement; kills the reader after the second where asked. */
    const read = async (diesAfter: string, isKilled = false) => {
      steps = [];
      const reader = start(process.execPath, [inDist('readerMain.js'), PROGRAM, logs, stateFile, last, diesAfter]);
      const done = ended(reader);
      if (reader.stdout === null) throw new Error('the reader has no output');
      let archiving = Promise.resolve();
      for await (const step of createInterface(reader.stdout)) {
        steps.push(step);
        if (step !== 'acknowledged') continue;
        if (isKilled && steps.filter((one) => one === 'acknowledged').length === 2) reader.kill('SIGKILL');
        archiving = archiving.then(async () => {
          const { code, out, err } = await watchkeeper('events', 'archive', '--before', BETWEEN, '--json');
          expect([code, err]).toEqual([0, '']);
          if ((JSON.parse(out) as { events: number }).events > 0) archivings += 1;
        });
      }
      await archiving;
      return done;
    };

    expect((await read('read')).signal).toBe('SIGKILL');
    expect(steps).toEqual(['read', 'stored', 'acknowledged', 'read']);
    expect((await read('stored')).signal).toBe('SIGKILL');
    expect(steps.slice(-2)).toEqual(['read', 'stored']);
    expect((await read('', true)).signal).toBe('SIGKILL');
    expect(await read('')).toMatchObject({ code: 0, err: '' });
    expect(await writer).toMatchObject({ code: 0, err: '' });

    const expected = [...ids('seed', SEEDED), ...ids('w', APPENDED)];
    expect((JSON.parse(readFileSync(stateFile, 'utf8')) as { ids: string[] }).ids).toEqual(expected);
    expect(archivings).toBeGreaterThanOrEqual(5);
    expect(readdirSync(archiveFolder)).toHaveLength(archivings);
    expect([...new Set(idsOnDisk())]).toEqual(expected);
  }, 120_000);
});

describe('a cursor', () => {
  // rule: a-wrong-cursor-is-an-error
  test('of a log that was restored to an earlier state is an error, even if the log has grown past it', async () => {
    const { file, watchkeeper } = scene();
    appendLines(file, numbered('a', 2));
    const before = readFileSync(file).length;
    appendLines(file, numbered('b', 2));
    const cursorOf = (out: string) =>
      String((JSON.parse(out.trim().split('\n').at(-1) ?? '') as { cursor: string }).cursor);
    const cursor = cursorOf((await watchkeeper('events', '--after', 'start', '--json')).out);
    truncateSync(file, before);
    for (const grown of [0, 50]) {
      appendLines(file, numbered(`c${grown}`, grown));
      const following = [
        ['--after', cursor, '--follow'],
        ['ack', cursor],
      ];
      for (const args of [['--after', cursor, '--json'], ...(grown > 0 ? following : [])]) {
        const { code, out, err } = await watchkeeper('events', ...args);
        expect([args[0], code, out]).toEqual([args[0], 2, '']);
        expect(err).toMatch(/b-1\.detected is neither/);
      }
    }
    expect(existsSync(join(dirname(file), 'consumers'))).toBe(false);
  }, 60_000);
});

describe('events archive, if it cannot write', () => {
  const hasNoPower = process.getuid?.() !== 0 || spawnSync('setpriv', ['--version']).status === 0;

  async function acknowledged() {
    const opened = scene();
    const { file, watchkeeper } = opened;
    appendLines(file, numbered('old', 900));
    expect((await watchkeeper('events', 'ack', 'old-899.detected')).code).toBe(0);
    const stays = async ({ code, out, err }: Said) => {
      expect([code, out]).toEqual([3, '']);
      expect(err).toMatch(/could not be archived \(.+\): nothing is lost; check space and permissions/);
      expect(opened.idsOnDisk()).toEqual(ids('old', 900));
      const again = await watchkeeper('events', '--after', 'start', '--json');
      expect(again.out.trim().split('\n')).toHaveLength(901);
    };
    return { ...opened, stays };
  }

  // rule: archiving-loses-nothing
  test('for lack of space exits with code 3, loses nothing, and can be repeated', async () => {
    const { logs, watchkeeper, stays, idsOnDisk } = await acknowledged();
    // 100 blocks of 512 or 1,024 bytes, as a full disk: less than the archived file needs.
    const command = `ulimit -f 100; exec '${process.execPath}' '${PROGRAM}' events archive --before ${BETWEEN}`;
    await stays(await ended(start('/bin/sh', ['-c', command], { WATCHKEEPER_LOGS: logs })));
    expect(await watchkeeper('events', 'archive', '--before', BETWEEN)).toMatchObject({ code: 0 });
    expect(idsOnDisk()).toEqual(ids('old', 900));
  }, 60_000);

  (hasNoPower ? test : test.skip)(
    'for lack of permission exits in the same way',
    async () => {
      const { logs, archiveFolder, watchkeeper, stays, idsOnDisk } = await acknowledged();
      mkdirSync(archiveFolder);
      chmodSync(archiveFolder, 0o555);
      // The superuser may write anywhere unless that power is taken from the process.
      const powerless = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : [];
      const [command = '', ...args] = [
        ...powerless,
        process.execPath,
        PROGRAM,
        'events',
        'archive',
        '--before',
        BETWEEN,
      ];
      await stays(await ended(start(command, args, { WATCHKEEPER_LOGS: logs })));
      chmodSync(archiveFolder, 0o755);
      expect(await watchkeeper('events', 'archive', '--before', BETWEEN)).toMatchObject({ code: 0 });
      expect(idsOnDisk()).toEqual(ids('old', 900));
    },
    60_000,
  );

  test('because a file is in the place of the folder exits in the same way', async () => {
    const { archiveFolder, file, watchkeeper } = await acknowledged();
    writeFileSync(archiveFolder, 'in the way');
    const { code, err } = await watchkeeper('events', 'archive', '--before', BETWEEN);
    expect(code).toBe(3);
    expect(err).toContain('nothing is lost');
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(900);
  }, 60_000);
});
