// covers: monitoring/terminals/quietSession.ts monitoring/terminals/monitorRecord.ts monitoring/terminals/workspaceActivity.ts
/** The monitor of one session without a transcript: its worklog and its directory are all that can be seen. */

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { type WorklogLine, worklogKind } from '../../../memory/fold/rules/kind.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { Monitor, type MonitorEnd } from '../../../monitoring/terminals/monitor.js';
import type { MonitorLimits } from '../../../monitoring/terminals/monitorLimits.js';
import { livingMonitor, MONITOR_FILE } from '../../../monitoring/terminals/monitorRecord.js';
import { HOUR, isoTime, MINUTE, SECOND } from '../../../src/time.js';
import { type MemoryScene, memoryScene } from '../../memory/scene.js';

const USUAL: MonitorLimits = { intervalMs: MINUTE, checks: 3 };
const NEVER = new AbortController().signal;

let scene: MemoryScene;
let memory: Memory;
let id = '';
let said: string[] = [];

beforeEach(() => {
  scene = memoryScene();
  memory = scene.open();
  said = [];
  const session = memory.lifecycle.begin(memory.workspace, {
    purpose: 'bake',
    fields: {},
    plan: [],
    concurrent: false,
  });
  session.log.close();
  id = session.id;
});

function monitor(limits = USUAL): Monitor {
  const { clock } = scene;
  const counters = { sinceBootMs: () => clock.monotonic(), processorMs: () => 0 };
  const say = (sentence: string) => void said.push(sentence);
  return new Monitor({ memory: scene.open(), sessionId: id, clock, counters, say, ...limits });
}

function write(line: WorklogLine, origin: 'agent' | 'watchkeeper' = 'agent'): void {
  const session = memory.sessions.open(id);
  session?.log.write(() => [line], { ...memory.stamp, origin });
  session?.log.close();
}

const lines = () =>
  readFileSync(join(scene.home, 'sessions', id, 'worklog.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const noticed = () => lines().flatMap(({ event }) => (event.startsWith('notice') ? [event] : []));

test('three idle checks of a minute are noticed once, at their instant, in minutes, with what to try', async () => {
  const ended = monitor().run(NEVER);
  await scene.clock.advance(3 * MINUTE);
  expect(noticed()).toEqual([]);
  await scene.clock.advance(SECOND);
  expect(noticed()).toEqual(['notice']);
  for (const words of ['said nothing for 3 minutes', 'track ping', 'smaller steps', 'track resume'])
    expect(said).toEqual([expect.stringContaining(words)]);
  await scene.clock.advance(HOUR);
  expect(noticed()).toEqual(['notice']);
  write(worklogKind.line('log', { message: 'on' }));
  await scene.clock.advance(MINUTE);
  expect(noticed()).toEqual(['notice', 'notice_closed']);
  await scene.clock.advance(3 * MINUTE);
  expect(noticed()).toEqual(['notice', 'notice_closed', 'notice']);
  memory.lifecycle.end(memory.which(id), memory.workspace, { lines: () => [], reason: 'completed' });
  await scene.clock.advance(MINUTE);
  expect(await ended).toBe('session ended' satisfies MonitorEnd);
});

test('what Watchkeeper writes itself is no activity, nor is a ping, which excuses silence until it ends', async () => {
  void monitor().run(NEVER);
  await scene.clock.advance(2 * MINUTE);
  write(worklogKind.line('context_given', { level: 'root' }), 'watchkeeper');
  write(worklogKind.line('log', { message: 'by ourselves' }), 'watchkeeper');
  write(worklogKind.line('ping', { until: isoTime(scene.clock.now() + 5 * MINUTE) }));
  await scene.clock.advance(5 * MINUTE);
  expect(noticed()).toEqual([]);
  await scene.clock.advance(2 * SECOND);
  expect(said).toEqual([expect.stringContaining('said nothing for 7 minutes')]);
});

test('files that somebody makes, changes, renames or removes, also deep among 600 others, are activity, and logged as that', async () => {
  const at = (path: string) => join(scene.directory, path);
  mkdirSync(at('a/b/c'), { recursive: true });
  for (let index = 0; index < 600; index += 1) writeFileSync(at(`a/${index}`), 'x');
  void monitor().run(NEVER);
  const deeds = [
    () => writeFileSync(at('a/b/c/new'), 'x'),
    () => writeFileSync(at('a/7'), 'longer'),
    () => renameSync(at('a/8'), at('a/b/eight')),
    () => rmSync(at('a/9')),
  ];
  for (const deed of deeds) {
    await scene.clock.advance(2 * MINUTE);
    deed();
  }
  await scene.clock.advance(2 * MINUTE);
  expect(noticed()).toEqual([]);
  expect(lines().filter(({ event }) => event === 'fs_activity')).toMatchObject([
    { created: ['a/b/c/new'], origin: 'watchkeeper' },
    { modified: ['a/7'] },
    { created: ['a/b/eight'], deleted: ['a/8'] },
    { deleted: ['a/9'], counts: { created: 0, modified: 0, deleted: 1 } },
  ]);
  await scene.clock.advance(2 * MINUTE + SECOND);
  expect(noticed()).toEqual(['notice']);
});

test('nobody is accused if there are too many files to know', async () => {
  // As many letters as a scan holds take less time than as many files.
  const deep = join(scene.directory, ...Array.from({ length: 14 }, () => 'd'.repeat(250)));
  mkdirSync(deep, { recursive: true });
  for (let index = 0; index < 1_250; index += 1) writeFileSync(join(deep, `${index}`), '');
  const watching = monitor();
  await watching.runOnce();
  await scene.clock.advance(HOUR);
  await watching.runOnce();
  expect(noticed()).toEqual([]);
});

test('the files of the memory are no activity if it lies in the directory', async () => {
  const home = join(scene.directory, 'memory');
  memory = scene.open({ WATCHKEEPER_HOME: home });
  const session = memory.lifecycle.begin(memory.workspace, {
    purpose: 'bake',
    fields: {},
    plan: [],
    concurrent: false,
  });
  const { clock } = scene;
  const counters = { sinceBootMs: () => clock.monotonic(), processorMs: () => 0 };
  const watching = new Monitor({
    memory,
    sessionId: session.id,
    clock,
    counters,
    say: (it) => void said.push(it),
    ...USUAL,
  });
  await watching.runOnce();
  writeFileSync(join(home, 'sessions', session.id, 'scan.json'), '{}');
  await clock.advance(3 * MINUTE + SECOND);
  await watching.runOnce();
  expect(said).toHaveLength(1);
});

test('a host that slept accuses nobody', async () => {
  void monitor().run(NEVER);
  await scene.clock.advance(MINUTE);
  await scene.clock.stall(2 * HOUR);
  await scene.clock.advance(2 * MINUTE);
  expect(noticed()).toEqual([]);
  await scene.clock.advance(MINUTE + SECOND);
  expect(noticed()).toEqual(['notice']);
});

test('ends after a day, and when it is asked to', async () => {
  const day = monitor({ intervalMs: HOUR, checks: 48 }).run(NEVER);
  await scene.clock.advance(24 * HOUR);
  expect(await day).toBe('a day is over' satisfies MonitorEnd);
  const asked = new AbortController();
  const stopped = monitor().run(asked.signal);
  await scene.clock.advance(MINUTE);
  asked.abort();
  expect(await stopped).toBe('stopped' satisfies MonitorEnd);
});

test('ends after a day also if it checks less often', async () => {
  const watching = monitor({ intervalMs: 999_999 * SECOND, checks: 3 }).run(NEVER);
  await scene.clock.advance(24 * HOUR);
  expect(await watching).toBe('a day is over' satisfies MonitorEnd);
});

test('says once what it cannot read, and goes on when it can', async () => {
  const ended = monitor().run(NEVER);
  await scene.clock.advance(MINUTE);
  const path = join(scene.home, 'sessions', id, 'worklog.jsonl');
  renameSync(path, `${path}.away`);
  mkdirSync(path);
  await scene.clock.advance(5 * MINUTE);
  expect(said).toEqual([expect.stringContaining('cannot look, and tries again')]);
  rmSync(path, { recursive: true });
  renameSync(`${path}.away`, path);
  await scene.clock.advance(MINUTE);
  expect(noticed()).toEqual(['notice']);
  memory.lifecycle.end(memory.which(id), memory.workspace, { lines: () => [], reason: 'completed' });
  await scene.clock.advance(MINUTE);
  expect(await ended).toBe('session ended' satisfies MonitorEnd);
});

test('stays if its record is damaged, and writes it again, so that it can be stopped', async () => {
  const asked = new AbortController();
  const ended = monitor().run(asked.signal);
  await scene.clock.advance(SECOND);
  writeFileSync(join(scene.home, 'sessions', id, MONITOR_FILE), 'no record');
  await scene.clock.advance(4 * MINUTE);
  expect(noticed()).toEqual(['notice']);
  expect(livingMonitor(memory, id)).toMatchObject({ process: { pid: process.pid } });
  asked.abort();
  expect(await ended).toBe('stopped' satisfies MonitorEnd);
});

test('of two that begin at once, the one that is recorded stays', async () => {
  const first = monitor().run(NEVER);
  await scene.clock.advance(SECOND);
  expect(livingMonitor(memory, id)).toMatchObject({ process: { pid: process.pid }, checks: 3, interval_ms: MINUTE });
  const path = join(scene.home, 'sessions', id, MONITOR_FILE);
  const record = JSON.parse(readFileSync(path, 'utf8'));
  // The pid of this process, as another one had it before.
  writeFileSync(path, JSON.stringify({ ...record, process: { ...record.process, pid_start: '1' } }));
  expect(livingMonitor(memory, id)).toBeNull();
  await scene.clock.advance(MINUTE);
  expect(await first).toBe('replaced' satisfies MonitorEnd);
  writeFileSync(path, 'no record');
  expect(livingMonitor(memory, id)).toBeNull();
});
