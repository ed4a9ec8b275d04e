/** Faults that cannot be prepared from outside: of users, disks and clocks. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkDirectory, checkLogsFolder, judgeSpace } from '../../../bridge/doctor/folderChecks.js';
import { checkIsolation } from '../../../bridge/doctor/isolationChecks.js';
import { checkLosses } from '../../../bridge/doctor/lossChecks.js';
import { checkConfigurationFiles } from '../../../bridge/doctor/ownershipChecks.js';
import { checkPrivacy } from '../../../bridge/doctor/privacyChecks.js';
import { checkRedis } from '../../../bridge/doctor/redisChecks.js';
import { examineRedis } from '../../../bridge/doctor/redisExamination.js';
import { checkTelegram } from '../../../bridge/doctor/telegramChecks.js';
import { checkTornLines } from '../../../bridge/doctor/tornLineChecks.js';
import { startEmbeddedRedis } from '../../../bridge/redis/embeddedRedis.js';
import { TelegramApi } from '../../../bridge/telegram/api.js';
import { readSettings } from '../../../src/config/readSettings.js';
import { compiledProgram } from '../../../src/host/program.js';
import { type Clock, HOUR, isoTime, SECOND, systemClock } from '../../../src/time.js';
import { openToOthers, testFolder } from '../../harness/folder.js';
import { describeWithRedis, openTestRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';
import { startTelegramPeer } from '../../peers/telegram/telegramPeer.js';
import { project, testSettings } from '../telegram/scene.js';

const MEBIBYTE = 1024 * 1024;
const NOBODY = 65_534;

describe('a folder that this user cannot write', () => {
  const folder = testFolder();
  const closed = join(folder, 'closed');
  mkdirSync(closed);
  openToOthers(folder);
  chmodSync(closed, 0o555);

  test('is a fault, for the logs folder and a project directory; a remedy names the user', () => {
    const main = compiledProgram('test/bridge/doctor/unprivilegedMain');
    const results = JSON.parse(execFileSync(process.execPath, [main, closed, closed], { encoding: 'utf8' }));
    for (const result of results) {
      expect(result).toMatchObject({ verdict: 'fault', found: expect.stringMatching(/by user \d+ \(EACCES\)/) });
      expect(result.remedy).toMatch(/chown -R \d+ /);
    }
    expect(results).toHaveLength(3);
  });
});

const asRoot = process.getuid?.() === 0 ? test : test.skip;

asRoot('a directory in which git refuses to work because of its owner is told from one without git', async () => {
  const [foreign, bare] = [testFolder(), testFolder()];
  execFileSync('git', ['init', '--quiet', foreign]);
  chownSync(foreign, NOBODY, NOBODY);
  const look = (path: string) => checkDirectory('yard', path, { PATH: process.env.PATH ?? '' });
  expect(await look(foreign)).toMatchObject({ verdict: 'warning', remedy: expect.stringContaining('safe.directory') });
  expect(await look(bare)).toMatchObject({ verdict: 'warning', remedy: expect.stringContaining('git init') });
});

asRoot('agents of another user are looked at as that user: what it cannot write is a fault', async () => {
  const folder = testFolder();
  openToOthers(folder);
  const agentUser = { uid: NOBODY, gid: NOBODY, name: 'nobody', home: null };
  const look = () => checkDirectory('yard', folder, { PATH: process.env.PATH ?? '' }, agentUser);
  expect(await look()).toMatchObject({
    verdict: 'fault',
    found: expect.stringMatching(/cannot be written by user 65534/),
    remedy: expect.stringContaining(`chown -R 65534 ${folder}`),
  });
  chownSync(folder, NOBODY, NOBODY);
  expect(await look()).toMatchObject({ verdict: 'warning', remedy: expect.stringContaining('git init') });
  const settings = { ...testSettings([{ ...project('yard', folder, []), isolation: null }]), agentUser };
  const [isolation] = checkIsolation(settings, () => ({ why: 'bubblewrap is not installed', isMissing: true }));
  expect(isolation).toMatchObject({ verdict: 'ok', found: expect.stringContaining('its agents are user 65534') });
});

describe('the logs folder', () => {
  test('is unchanged afterwards: no file is left in it, and it is not created', async () => {
    const folder = testFolder();
    const ok = [{ verdict: 'ok' }, { name: 'disk space' }];
    expect(await checkLogsFolder(folder, true)).toMatchObject(ok);
    expect(await checkLogsFolder(join(folder, 'a', 'logs'), true)).toMatchObject(ok);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    [50, 'fault'],
    [500, 'warning'],
    [5_000, 'ok'],
  ])('with %i MiB left is %s', (mebibytes, verdict) => {
    expect(judgeSpace(mebibytes * MEBIBYTE)).toMatchObject({ name: 'disk space', verdict });
  });
});

describe('torn lines', () => {
  test('in events, log and journals are counted; a line that is being written is not one', async () => {
    const folder = testFolder();
    mkdirSync(join(folder, 'sessions', 's1'), { recursive: true });
    const journal = join(folder, 'sessions', 's1', 'tool_use.jsonl');
    writeFileSync(join(folder, 'critical_events.jsonl'), '{"v":1}\n{"v":1,"id\n{"v":1,\n   {"v":1}\n');
    writeFileSync(join(folder, 'bridge.log'), '{"level":"info"}\n{"level":');
    writeFileSync(journal, '');
    expect(await checkTornLines(folder)).toMatchObject([
      { verdict: 'warning', found: expect.stringMatching(/: 2 in [^,]*\/critical_events\.jsonl$/) },
    ]);
    writeFileSync(journal, '{"v":1,\n{"v":1}\n');
    const [check] = await checkTornLines(folder);
    expect(check?.found).toMatch(/, 1 in s1\/tool_use\.jsonl$/);
    expect(await checkTornLines(join(folder, 'nowhere'))).toMatchObject([{ verdict: 'ok' }]);
  });
});

// rule: a-newer-line-is-left-out
test('lines that a newer version wrote are counted', async () => {
  const logs = testFolder();
  writeFileSync(join(logs, 'critical_events.jsonl'), '{"v":1}\n{"v":2}\n{"v":3}\n');
  expect(await checkTornLines(logs)).toMatchObject([
    { name: 'torn lines', verdict: 'ok' },
    { name: 'newer lines', verdict: 'warning', found: expect.stringMatching(/: 2 in .*critical_events\.jsonl$/) },
  ]);
});

describe('the privacy of the logs', () => {
  // rule: a-logs-folder-is-private
  test('is a warning with the command to fix it, if others can read its folders or files', async () => {
    const logs = testFolder();
    chmodSync(logs, 0o700);
    writeFileSync(join(logs, 'bridge.log'), '', { mode: 0o600 });
    mkdirSync(join(logs, 'issues'), { mode: 0o700 });
    expect(await checkPrivacy(logs)).toMatchObject({ verdict: 'ok' });
    writeFileSync(join(logs, 'issues', '1.md'), '');
    chmodSync(join(logs, 'issues', '1.md'), 0o644);
    const wide = await checkPrivacy(logs);
    expect(wide).toMatchObject({ verdict: 'warning', found: expect.stringContaining('issues/1.md') });
    execFileSync('sh', ['-c', /`(.*)`/.exec(wide.remedy ?? '')?.[1] ?? 'false']);
    expect(await checkPrivacy(logs)).toMatchObject({ verdict: 'ok' });
  });

  test('is a fault if others can write there, or something there belongs to another user', async () => {
    const logs = testFolder();
    chmodSync(logs, 0o700);
    mkdirSync(join(logs, 'sessions'), { mode: 0o700 });
    chmodSync(join(logs, 'sessions'), 0o770);
    expect(await checkPrivacy(logs)).toMatchObject({
      verdict: 'fault',
      found: expect.stringContaining(`${join(logs, 'sessions')} can be written by other users (mode 0770)`),
      remedy: expect.stringContaining(`chmod go-w '${join(logs, 'sessions')}'`),
    });
    chmodSync(join(logs, 'sessions'), 0o700);
    if (process.getuid?.() !== 0) return;
    const planted = join(logs, 'critical_events.jsonl');
    writeFileSync(planted, '', { mode: 0o600 });
    chownSync(planted, NOBODY, NOBODY);
    expect(await checkPrivacy(logs)).toMatchObject({
      verdict: 'fault',
      found: expect.stringContaining(`${planted} belongs to another user`),
    });
    // Root looks at the logs of the bridge's user.
    for (const path of [logs, join(logs, 'sessions')]) chownSync(path, NOBODY, NOBODY);
    expect(await checkPrivacy(logs)).toMatchObject({ verdict: 'ok' });
  });

  test('names the link if a folder contains one', async () => {
    const logs = testFolder();
    chmodSync(logs, 0o700);
    symlinkSync('/etc/passwd', join(logs, 'bridge.log'));
    expect(await checkPrivacy(logs)).toMatchObject({
      verdict: 'warning',
      found: expect.stringContaining('bridge.log'),
      remedy: expect.stringContaining('remove the links'),
    });
  });
});

describe('the configuration', () => {
  const look = (path: string) =>
    checkConfigurationFiles({ ownFiles: { secret: [`${path}.env`], settled: [path], memories: [] } });

  test('is a fault if others can change it, or put another file in its place; not behind a folder that only its owner enters', async () => {
    const above = testFolder();
    const folder = join(above, 'work');
    const file = join(folder, 'watchkeeper.config.json');
    mkdirSync(folder, { mode: 0o755 });
    expect(await look(file)).toMatchObject({ verdict: 'ok' });
    for (const path of [file, `${file}.env`]) writeFileSync(path, '{}', { mode: 0o644 });
    openToOthers(above);
    expect(await look(file)).toMatchObject({ verdict: 'ok' });
    for (const [path, mode] of [
      [file, 0o646],
      [`${file}.env`, 0o666],
      [folder, 0o777],
    ] as const) {
      const { mode: before } = statSync(path);
      chmodSync(path, mode);
      const { verdict, found, remedy } = await look(file);
      expect([verdict, found]).toEqual(['fault', expect.stringContaining(`${path} can be written by other users`)]);
      chmodSync(above, 0o700);
      expect(await look(file)).toMatchObject({ verdict: 'ok' });
      chmodSync(above, 0o755);
      execFileSync('sh', ['-c', /run: (.*)/.exec(remedy ?? '')?.[1] ?? 'false']);
      expect(await look(file)).toMatchObject({ verdict: 'ok' });
      chmodSync(path, before);
    }
    // On many systems everything is writable by a group of the user alone.
    chmodSync(folder, 0o775);
    expect(await look(file)).toMatchObject({ verdict: 'ok' });
    chmodSync(folder, 0o1777);
    expect(await look(file)).toMatchObject({ verdict: 'ok' });
  });

  asRoot('is a fault if it belongs to another user, or lies in a folder of a group', async () => {
    const folder = testFolder();
    const file = join(folder, 'watchkeeper.config.json');
    writeFileSync(file, '{}', { mode: 0o644 });
    openToOthers(folder);
    chownSync(folder, 0, NOBODY);
    chmodSync(folder, 0o775);
    expect(await look(file)).toMatchObject({ verdict: 'fault', found: expect.stringContaining('(mode 0775)') });
    chmodSync(folder, 0o755);
    chownSync(file, NOBODY, NOBODY);
    expect(await look(file)).toMatchObject({ verdict: 'fault', found: expect.stringContaining('another user (uid') });
  });
});

describe('what was lost within a day', () => {
  const event = (name: string, at: number, id: string) =>
    `${JSON.stringify({ v: 1, id, incident_id: id, event: name, timestamp: isoTime(at), final: true, details: { missing: '/srv/logs/.id' } })}\n`;

  // rule: the-doctor-names-each-fault
  test('is named, also when all is well again, and no longer after that day', async () => {
    const folder = testFolder();
    expect(await checkLosses(folder, systemClock)).toEqual([]);
    const now = systemClock.now();
    const lines = [
      event('files_deleted', now - 30 * HOUR, 'a'),
      event('store_forgot', now - 3 * HOUR, 'b'),
      event('files_deleted', now - 23 * HOUR, 'c'),
      event('watchdog_gap', now, 'd'),
    ];
    writeFileSync(join(folder, 'critical_events.jsonl'), lines.join(''));
    expect(await checkLosses(folder, systemClock)).toMatchObject([
      { name: 'deleted files', verdict: 'warning', found: expect.stringMatching(/^23 h ago, somebody deleted \/srv/) },
      { name: 'lost records', verdict: 'warning', found: expect.stringMatching(/^3 h ago, Redis lost records/) },
    ]);
    const tomorrow = { ...systemClock, now: () => now + 22 * HOUR };
    expect(await checkLosses(folder, tomorrow)).toEqual([]);
  });
});

describe('Telegram, while no bridge of ours fetches', () => {
  // rule: the-doctor-names-each-fault
  test('is well, and says so if messages are waiting', async () => {
    let passedMs = 0;
    const sleep = async (ms: number) => {
      passedMs += ms;
    };
    const clock = { ...systemClock, monotonic: () => passedMs, sleep };
    const peer = await startTelegramPeer();
    afterThisTest(() => peer.stop());
    peer.say(4711, 'anybody?');
    const api = new TelegramApi({ token: peer.token, apiRoot: peer.url }, systemClock);
    const settings = testSettings([project('yard', '/srv/yard', [])]);
    const checks = await checkTelegram(api, settings, { presence: null, isKnown: true }, clock);
    const found = 'nobody fetches messages, and some are waiting';
    expect(checks).toContainEqual(expect.objectContaining({ name: 'telegram poller', verdict: 'ok', found }));
  });
});

describeWithRedis('a clock', () => {
  test.each([
    [0, 'ok'],
    [-3, 'warning'],
    [8, 'fault'],
  ])('that is %i s ahead is %s', async (aheadS, verdict) => {
    const { redis } = await openTestRedis();
    const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadS * SECOND };
    const checks = await checkRedis(redis, clock, 10 * SECOND, false);
    const [check] = checks.filter(({ name }) => name === 'clock');
    expect(check).toMatchObject({ verdict });
    if (verdict !== 'ok') expect(check?.remedy).toContain('synchronise the clocks');
  });
});

test('the JavaScript server is a warning: it has no settings to correct, and only another server keeps messages', async () => {
  const [folder, bin] = [testFolder(), testFolder()];
  symlinkSync(process.execPath, join(bin, 'node'));
  const settings = await readSettings({ environment: {}, workingDirectory: folder });
  const redis = await startEmbeddedRedis({
    logsFolder: settings.logsFolder,
    path: bin,
    host: 'test',
    clock: systemClock,
    stopping: new AbortController().signal,
    hungMs: 60 * SECOND,
    notify: () => undefined,
  });
  afterThisTest(() => redis.stop());
  const options = { clock: systemClock, limitMs: 10 * SECOND, botId: null, mayWrite: false };
  const { checks } = await examineRedis(settings, options);
  const remedy = expect.stringContaining('install redis-server');
  expect(checks).toContainEqual(expect.objectContaining({ name: 'redis persistence', verdict: 'warning', remedy }));
});

describe('before the first start', () => {
  const lookWith = async (PATH: string) => {
    const settings = await readSettings({ environment: { PATH }, workingDirectory: testFolder() });
    const options = { clock: systemClock, limitMs: 10 * SECOND, botId: null, mayWrite: false };
    return (await examineRedis(settings, options)).checks;
  };

  test('a path without redis-server is a warning: what would be started keeps nothing', async () => {
    const found = expect.stringContaining('neither redis-server nor valkey-server is on PATH');
    expect(await lookWith(testFolder())).toMatchObject([{ name: 'redis', verdict: 'warning', found }]);
  });

  test('a redis-server that is too old is a fault', async () => {
    const bin = testFolder();
    writeFileSync(join(bin, 'redis-server'), '#!/bin/sh\necho "Redis server v=5.0.7 sha=0"\n', { mode: 0o755 });
    expect(await lookWith(bin)).toMatchObject([
      { name: 'redis', verdict: 'fault', found: expect.stringContaining('is version 5.0.7') },
    ]);
  });
});
