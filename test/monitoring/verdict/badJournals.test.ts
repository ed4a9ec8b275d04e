import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { assessPaths } from '../../../monitoring/offline/assessPaths.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { journalPath } from '../../../src/journal/path.js';
import { isoTime, MINUTE, SECOND } from '../../../src/time.js';
import { openToOthers, testFolder } from '../../harness/folder.js';
import { describeWithRedis } from '../../harness/redis.js';
import { must } from '../incident/saga/sagaScene.js';
import { BEGINNING, journalOf, openWatchdogScene, runOf, SILENCE_MS, type WatchdogScene } from '../watchdogScene.js';
import { at, call, type Line, line, prompt, result, toText } from './journals.js';

const LEASE_MS = 1_000 * MINUTE;
const MEBIBYTE = 1024 * 1024;

async function renew(scene: WatchdogScene, session: AgentSession): Promise<void> {
  expect(await scene.store.transitions.renewLease(session, LEASE_MS, scene.clock.now())).toBe(true);
}

async function accusedAtTick(scene: WatchdogScene): Promise<string[]> {
  const { accused } = await scene.watchdog.checkAllSessions({ act: false });
  return [...accused].flatMap(([id, findings]) => findings.map(({ rule }) => `${id} ${rule}`));
}

function saying(scene: WatchdogScene, words: string): string[] {
  return scene.logged.filter((each) => each.includes(words));
}

const TAKEN_AWAY: readonly [string, (path: string) => void][] = [
  ['a link', (path) => replaceBy(path, () => symlinkSync('/dev/zero', path))],
  ['a folder', (path) => replaceBy(path, () => mkdirSync(path))],
  ['a pipe', (path) => replaceBy(path, () => execFileSync('mkfifo', [path]))],
  ['nothing', (path) => unlinkSync(path)],
];

function replaceBy(path: string, make: () => void): void {
  renameSync(path, `${path}.away`);
  make();
}

describeWithRedis('a journal that was read and is replaced by', () => {
  // rule: a-lost-journal-leaves-the-store
  test.each(TAKEN_AWAY)('%s is judged by its record alone, which is logged once', async (_what, takeAway) => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    const path = journalPath(scene.folder, session.session_id);
    for (const each of BEGINNING) journalOf(scene, session).append(each);
    expect(await accusedAtTick(scene)).toEqual([]);
    await scene.clock.advance(SILENCE_MS / 2);
    takeAway(path);
    expect(await accusedAtTick(scene)).toEqual([]);
    await renew(scene, session);
    await scene.clock.advance(SILENCE_MS);
    expect(await accusedAtTick(scene)).toEqual([]);
    await scene.clock.advance(1);
    expect(await accusedAtTick(scene)).toEqual([`${session.session_id} silence`]);
    expect(saying(scene, 'is judged by its record alone')).toHaveLength(1);
  });
});

describeWithRedis('a journal that lacks lines because the disk was full', () => {
  test('is judged by its record alone', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    for (const each of BEGINNING) journalOf(scene, session).append(each);
    const { run_id } = must(session.run);
    await scene.store.transitions.recordRun(session.session_id, run_id, { journalTorn: true });
    await scene.clock.advance(SILENCE_MS);
    await renew(scene, session);
    await scene.clock.advance(SILENCE_MS);
    expect(await accusedAtTick(scene)).toEqual([]);
    await scene.clock.advance(1);
    expect(await accusedAtTick(scene)).toEqual([`${session.session_id} silence`]);
  });
});

describeWithRedis('a journal that was taken away', () => {
  test('and comes back is judged by its lines again', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    const path = journalPath(scene.folder, session.session_id);
    const journal = journalOf(scene, session);
    for (const each of BEGINNING) journal.append(each);
    await accusedAtTick(scene);
    renameSync(path, `${path}.away`);
    await accusedAtTick(scene);
    await scene.clock.advance(SILENCE_MS);
    journal.append({ event: 'assistant_message' });
    renameSync(`${path}.away`, path);
    await scene.clock.advance(SILENCE_MS);
    expect(await accusedAtTick(scene)).toEqual([]);
    await scene.clock.advance(1);
    expect(await accusedAtTick(scene)).toEqual([`${session.session_id} silence`]);
  });

  // Only root may put on another user for a moment.
  const testAsRoot = process.getuid?.() === 0 ? test : test.skip;
  testAsRoot('by its permissions is judged by its record alone', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    for (const each of BEGINNING) journalOf(scene, session).append(each);
    await accusedAtTick(scene);
    await scene.clock.advance(SILENCE_MS);
    await renew(scene, session);
    const path = journalPath(scene.folder, session.session_id);
    openToOthers(dirname(path));
    chmodSync(path, 0);
    await scene.clock.advance(SECOND);
    appendFileSync(path, 'x');
    process.seteuid?.(65_534);
    try {
      expect(await accusedAtTick(scene)).toEqual([]);
    } finally {
      process.seteuid?.(0);
    }
    expect(saying(scene, 'EACCES')).toHaveLength(1);
  });
});

describeWithRedis('a journal full of garbage', () => {
  // rule: any-journal-can-be-read
  test('is counted in one log line, and judged by its readable lines', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    const path = journalPath(scene.folder, session.session_id);
    const journal = journalOf(scene, session);
    for (const each of BEGINNING) journal.append(each);
    appendFileSync(path, 'garbage\n'.repeat(1_000));
    appendFileSync(path, `${JSON.stringify({ event: 'assistant_message', timestamp: '1970-01-01T00:00:00Z' })}\n`);
    for (let tick = 0; tick < 3; tick += 1) {
      expect(await accusedAtTick(scene)).toEqual([]);
      appendFileSync(path, 'more of it\n');
    }
    const said = saying(scene, 'its journal is damaged');
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('unreadable lines: 1000, lines without a possible time: 1 so far');
    await scene.clock.advance(SILENCE_MS + 1);
    expect(await accusedAtTick(scene)).toEqual([`${session.session_id} silence`]);
  });

  test('and nothing else is judged by the store, not by its content', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    const path = journalPath(scene.folder, session.session_id);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.alloc(MEBIBYTE, 0xfe));
    await scene.clock.advance(SILENCE_MS);
    await renew(scene, session);
    await scene.clock.advance(SILENCE_MS);
    expect(await accusedAtTick(scene)).toEqual([]);
    await scene.clock.advance(1);
    expect(await accusedAtTick(scene)).toEqual([`${session.session_id} silence`]);
  });
});

describeWithRedis('a clock that steps', () => {
  test('back by an hour accuses no session that keeps working', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    const journal = journalOf(scene, session);
    for (const each of BEGINNING) journal.append(each);
    for (let step = 0; step < 20; step += 1) {
      await scene.clock.advance(9 * MINUTE);
      if (step === 10) scene.clock.moveWallClock(-60 * MINUTE);
      await renew(scene, session);
      journal.append({ event: 'assistant_message' });
      const accused = (await accusedAtTick(scene)).filter((each) => !each.endsWith('runaway'));
      expect(accused).toEqual([]);
    }
  });
});

interface Judged {
  readonly verdict: string;
  readonly rules: readonly string[];
  readonly diagnostics: object;
}

async function assessText(text: string | Buffer, now: string | null = isoTime(at(300))): Promise<Judged> {
  const path = join(testFolder(), 'tool_use.jsonl');
  writeFileSync(path, text);
  const options = { thresholds: DEFAULT_THRESHOLDS, now: now === null ? null : Date.parse(now), replay: false };
  const [session] = (await assessPaths([path], options)).sessions;
  if (session === undefined) throw new Error('nothing was judged');
  return {
    verdict: session.verdict,
    rules: session.findings.map(({ rule }) => rule),
    diagnostics: session.diagnostics,
  };
}

const WORKING: readonly Line[] = [line(0, 'session_start', { source: 'startup' }), prompt(0), call(1, 'c1')];

describe('assess', () => {
  test.each([
    ['empty', ''],
    ['of zeros', Buffer.alloc(MEBIBYTE)],
    ['of binary', Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7_919) % 256))],
    ['of text', 'Traceback (most recent call last):\n'.repeat(10_000)],
    ['of JSON that is not a journal', '[]\n{}\n1\nnull\n{"event":1}\n{"event":"turn_end"}\n'],
  ])('has no verdict on a journal %s', async (_what, text) => {
    expect(await assessText(text)).toMatchObject({ verdict: 'unknown', rules: [] });
  });

  test.each([
    ['of 1970', '1970-01-01T00:00:00.000Z', 1],
    ['of 1970 in seconds', 0, 1],
    ['of the year 9999', '9999-12-31T23:59:59.000Z', 1],
    ['before our era', -62_135_596_800, 1],
    ['that is not a number', 'soon', 1],
    ['missing', null, 1],
    ['a day ahead', '2026-02-06T09:00:00Z', 0],
  ])('is not misled by a line with a time %s', async (_what, timestamp, untimed) => {
    const odd = { event: 'user_prompt', origin: 'human', timestamp };
    for (const text of [toText([odd, ...WORKING]), toText([...WORKING, odd])]) {
      const judged = await assessText(text);
      expect(judged).toMatchObject({ verdict: 'healthy', diagnostics: { untimed_lines: untimed } });
    }
  });

  test.each([
    ['2026-02-05T11:00:01.000+02:00'],
    ['2026-02-05 09:00:01'],
    ['2026-02-05T09:00:01.000000001Z'],
    [at(1) / SECOND],
    [at(1) + 0.25],
    ['2026-02-05T08:59:60.500Z'],
  ])('parses the instant %s', async (timestamp) => {
    const text = toText([prompt(0), { ...call(1, 'c1', { timeout_ms: 0 }), timestamp }]);
    const limit = isoTime(at(1) + DEFAULT_THRESHOLDS.silence_ms - SECOND);
    expect(await assessText(text, limit)).toMatchObject({ verdict: 'healthy', diagnostics: { untimed_lines: 0 } });
    const late = isoTime(at(1) + DEFAULT_THRESHOLDS.silence_ms + 1);
    expect(await assessText(text, late)).toMatchObject({ verdict: 'unhealthy', rules: ['silence'] });
  });
});

describe('a journal of 100 MB', () => {
  // rule: any-journal-can-be-read
  test('with lines of 50 MB, binary and garbage is judged in bounded memory', async () => {
    const path = join(testFolder(), 'tool_use.jsonl');
    const file = openSync(path, 'w');
    writeSync(file, toText(WORKING));
    const part = Buffer.alloc(MEBIBYTE, 'x');
    for (let written = 0; written < 50; written += 1) writeSync(file, part);
    writeSync(file, `\n${toText([result(2, 'c1')])}`);
    const garbage = Buffer.from('not a line of a journal\n'.repeat(40_000));
    for (let written = 0; written < 25; written += 1) writeSync(file, garbage);
    const lines = toText(Array.from({ length: 5_000 }, (_, index) => result(3 + index / 1_000, `d${index}`)));
    for (let written = 0; written < 20; written += 1) writeSync(file, lines);
    closeSync(file);
    const before = process.memoryUsage().rss;
    const options = { thresholds: DEFAULT_THRESHOLDS, now: at(60), replay: false };
    const [session] = (await assessPaths([path], options)).sessions;
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MEBIBYTE);
    expect(session).toMatchObject({
      verdict: 'healthy',
      tool_count: 5_001,
      diagnostics: { oversized_lines: 1, garbage_lines: 1_000_000 },
    });
    rmSync(path);
  }, 60_000);
});
