/** What the logs folder gathers is kept within its bounds, and nothing goes that somebody may still need. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkGrowth } from '../../../bridge/doctor/growthChecks.js';
import { EventConsumers } from '../../../monitoring/events/consumers.js';
import { EventReader } from '../../../monitoring/events/reader.js';
import { LocalIssues } from '../../../monitoring/incident/issue/localIssues.js';
import { RetentionRound } from '../../../monitoring/rounds/retentionRound.js';
import { readSettings } from '../../../src/config/readSettings.js';
import { FencedError } from '../../../src/errors.js';
import { createLogger } from '../../../src/log/logger.js';
import { DAY, HOUR, isoTime, systemClock } from '../../../src/time.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../../e2e/testScene.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { appendLines, eventAt } from './eventLines.js';

// covers: bridge/doctor/growthChecks.ts
// covers: monitoring/rounds/retentionRound.ts

const { retention: DEFAULTS } = await readSettings({ environment: {}, workingDirectory: '/nonexistent' });
const KIBIBYTE = 1024;

function openFolder(retention = DEFAULTS) {
  const logs = testFolder();
  const clock = new ManualClock();
  const said: string[] = [];
  const destinations = [{ name: 'the test', write: (line: string) => void said.push(line) }];
  const logger = createLogger({ level: 'info', redact: (text) => text, clock, destinations });
  const state = { isActing: true };
  const requireActing = async () => {
    if (!state.isActing) throw new FencedError('another watchdog acts');
  };
  const round = () => new RetentionRound({ clock, logger, logsFolder: logs, retention, requireActing });
  const file = join(logs, 'critical_events.jsonl');
  const archive = join(logs, 'archive');
  const archived = () => (existsSync(archive) ? readdirSync(archive).sort() : []);
  return { logs, clock, said, state, round, file, archive, archived };
}

async function idsIn(file: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { event } of new EventReader(file).read(null)) ids.push(event.incident_id);
  return ids;
}

// rule: files-are-cleared-up
test('critical events are archived automatically when they are old and acknowledged by every consumer', async () => {
  const { clock, round, file, archived } = openFolder();
  appendLines(file, [eventAt('old', clock.now() - 31 * DAY), eventAt('older-ack', clock.now() - 31 * DAY + 1)]);
  appendLines(file, [eventAt('young', clock.now() - 29 * DAY)]);
  const consumers = new EventConsumers(file, clock);
  let first = null;
  for await (const { place } of new EventReader(file).read(null)) first ??= place;
  if (first !== null) await consumers.acknowledge('reader', first);
  expect((await round().runOnce()).cleared).toMatchObject({ archivedEvents: 1 });
  expect(archived()).toHaveLength(1);
  expect(readFileSync(file, 'utf8')).not.toContain('"old.detected"');
  expect(await idsIn(file)).toEqual(['old', 'older-ack', 'young']);
});

// rule: files-are-cleared-up
test('archived events are deleted after their days, or earlier beyond their bytes; the newest file stays', async () => {
  const { clock, round, file, archive, archived } = openFolder({ ...DEFAULTS, archiveBytes: 3 * KIBIBYTE });
  mkdirSync(archive);
  const write = (number: number, archivedAt: number) => {
    const path = join(archive, `critical_events-00000${number}-2025-01-0${number}.jsonl`);
    appendLines(path, [eventAt(`i${number}`, 0)]);
    writeFileSync(path, `${readFileSync(path, 'utf8').trimEnd()}${' '.repeat(KIBIBYTE)}\n`);
    utimesSync(path, archivedAt / 1_000, archivedAt / 1_000);
  };
  write(1, clock.now() - 400 * DAY);
  write(2, clock.now() - 300 * DAY);
  write(3, clock.now() - 200 * DAY);
  write(4, clock.now() - 100 * DAY);
  appendLines(file, [eventAt('live', clock.now())]);
  expect((await round().runOnce()).cleared).toMatchObject({ archives: 2 });
  expect(archived()).toEqual([expect.stringMatching(/-000003-/), expect.stringMatching(/-000004-/)]);
  expect(await idsIn(file)).toEqual(['i3', 'i4', 'live']);
  await clock.advance(500 * DAY);
  await round().runOnce();
  expect(await idsIn(file)).toEqual(['live']);
  expect(archived()).toHaveLength(1);
});

test('old completed issue files go with their comments; open, not planned and the highest-numbered ones stay', async () => {
  const { logs, clock, round } = openFolder();
  const issues = new LocalIssues(join(logs, 'issues'), clock);
  for (const title of ['completed', 'open', 'not planned', 'completed lately', 'completed, the highest'])
    await issues.create(title, 'text');
  await issues.comment(1, 'again');
  const close = (number: number, reason: string, at: number) => {
    const path = join(logs, 'issues', `${number}.md`);
    const text = readFileSync(path, 'utf8')
      .replace('"state": "open"', '"state": "closed"')
      .replace('"state_reason": null', `"state_reason": "${reason}"`)
      .replace('"closed_at": null', `"closed_at": "${isoTime(at)}"`);
    writeFileSync(path, text);
  };
  const long = clock.now() - 366 * DAY;
  close(1, 'completed', long);
  close(3, 'not_planned', long);
  close(4, 'completed', clock.now() - DAY);
  close(5, 'completed', long);
  expect((await round().runOnce()).cleared).toMatchObject({ issues: 1 });
  expect(readdirSync(join(logs, 'issues')).sort()).toEqual(['2.md', '3.md', '4.md', '5.md']);
});

test('old reviews are deleted, nothing else in their folder, and nothing through a link', async () => {
  const { logs, clock, round } = openFolder();
  const [reviews, elsewhere] = [join(logs, 'daydream'), testFolder()];
  const day = (age: number) => `${isoTime(clock.now() - age * DAY).slice(0, 10)}.md`;
  mkdirSync(reviews);
  for (const name of [day(400), day(300), 'notes.md', 'schedule.json']) writeFileSync(join(reviews, name), 'x');
  expect((await round().runOnce()).cleared).toMatchObject({ reviews: 1 });
  expect(readdirSync(reviews).sort()).toEqual([day(300), 'notes.md', 'schedule.json'].sort());

  const linked = openFolder();
  writeFileSync(join(elsewhere, day(400)), 'x');
  symlinkSync(elsewhere, join(linked.logs, 'daydream'));
  await linked.round().runOnce();
  expect(readdirSync(elsewhere)).toEqual([day(400)]);
});

test('a file of rejected updates that is too large is rotated, and one former file is kept', async () => {
  const { logs, round } = openFolder({ ...DEFAULTS, logBytes: KIBIBYTE });
  const path = join(logs, 'rejected_updates.jsonl');
  writeFileSync(path, 'x'.repeat(KIBIBYTE));
  expect((await round().runOnce()).cleared).toMatchObject({ rotatedLogs: 0 });
  writeFileSync(path, 'y'.repeat(KIBIBYTE + 1));
  expect((await round().runOnce()).cleared).toMatchObject({ rotatedLogs: 1 });
  expect([existsSync(path), existsSync(`${path}.1`)]).toEqual([false, true]);
});

test('retention runs once a day, also across restarts, and only in the acting watchdog', async () => {
  const { logs, clock, state, round, file, archived } = openFolder();
  const addOld = (id: string) => appendLines(file, [eventAt(id, clock.now() - 40 * DAY)]);
  addOld('one');
  state.isActing = false;
  await round().runIfDue();
  expect(archived()).toEqual([]);
  state.isActing = true;
  await round().runIfDue();
  expect(archived()).toHaveLength(1);
  addOld('two');
  await clock.advance(23 * HOUR);
  await round().runIfDue();
  expect(archived()).toHaveLength(1);
  await clock.advance(2 * HOUR);
  await round().runIfDue();
  expect(archived()).toHaveLength(2);
  expect(JSON.parse(readFileSync(join(logs, 'retention.json'), 'utf8'))).toMatchObject({
    done_at: isoTime(clock.now()),
    next_at: isoTime(clock.now() + DAY),
  });
});

test('a step that fails is logged, blocks no other step, and is tried again within hours', async () => {
  const { logs, clock, said, round } = openFolder({ ...DEFAULTS, logBytes: KIBIBYTE });
  mkdirSync(join(logs, 'issues'));
  writeFileSync(join(logs, 'issues', '1.md'), 'no head');
  const path = join(logs, 'rejected_updates.jsonl');
  writeFileSync(path, 'x'.repeat(2 * KIBIBYTE));
  const same = round();
  await same.runIfDue();
  expect(said.join()).toMatch(/retention: .*1\.md does not begin with a head/);
  expect(existsSync(`${path}.1`)).toBe(true);
  expect(existsSync(join(logs, 'retention.json'))).toBe(false);
  writeFileSync(path, 'x'.repeat(2 * KIBIBYTE));
  await clock.advance(2 * HOUR);
  await same.runIfDue();
  expect(existsSync(path)).toBe(false);
});

test('the doctor shows the sizes and the next time, and warns when that is long past', async () => {
  const logs = testFolder();
  const environment = { WATCHKEEPER_LOGS: logs, RETENTION_DAYS: '7' };
  const settings = await readSettings({ environment, workingDirectory: testFolder() });
  writeFileSync(join(logs, 'bridge.log'), 'x'.repeat(5 * KIBIBYTE));
  const check = () => checkGrowth(settings, systemClock);
  expect(await check()).toMatchObject({
    verdict: 'ok',
    found: expect.stringMatching(/bridge\.log 5 KiB.*kept 7 days/),
  });
  const record = (next: number) =>
    writeFileSync(
      join(logs, 'retention.json'),
      JSON.stringify({ v: 1, done_at: isoTime(next - DAY), next_at: isoTime(next) }),
    );
  record(systemClock.now() + HOUR);
  expect(await check()).toMatchObject({ verdict: 'ok', found: expect.stringMatching(/next at 20/) });
  record(systemClock.now() - DAY);
  expect(await check()).toMatchObject({ verdict: 'warning', remedy: expect.stringContaining('retention') });
});

describeScenes('a bridge', () => {
  // rule: files-are-cleared-up
  test(
    'cleans up by itself, with the configured days and bytes',
    async () => {
      const scene = await openTestScene({
        projects: { boat: { chats: [{ id: 1 }] } },
        environment: { RETENTION_DAYS: '2', RETENTION_LOG_BYTES: '65536' },
      });
      const file = join(scene.logs, 'critical_events.jsonl');
      const now = systemClock.now();
      // Of incidents that have ended: those of which the store has no record are ended by the bridge.
      const ended = [eventAt('old', now - 3 * DAY), eventAt('young', now - DAY)].map((event) => ({
        ...event,
        final: true,
      }));
      appendLines(file, ended);
      writeFileSync(join(scene.logs, 'bridge.log'), `${JSON.stringify({ msg: 'x'.repeat(64 * KIBIBYTE) })}\n`);
      await scene.startBridge();
      const archive = join(scene.logs, 'archive');
      await scene.until('the archive', () => existsSync(archive) && readdirSync(archive).length === 1);
      await scene.until('its record', () => existsSync(join(scene.logs, 'retention.json')));
      expect(await idsIn(file)).toEqual(['old', 'young']);
      expect(readFileSync(file, 'utf8')).not.toContain('old.detected');
      expect(existsSync(join(scene.logs, 'bridge.log.1'))).toBe(true);
    },
    SCENE_TIMEOUT_MS,
  );
});
