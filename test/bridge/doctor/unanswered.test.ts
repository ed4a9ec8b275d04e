/** Questions of the doctor that fail or take too long: nothing is said as if there had been an answer. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { CheckResult } from '../../../bridge/doctor/checkResult.js';
import { checkDirectory } from '../../../bridge/doctor/folderChecks.js';
import { checkGitHub } from '../../../bridge/doctor/githubChecks.js';
import { checkGrowth } from '../../../bridge/doctor/growthChecks.js';
import { checkTelegram } from '../../../bridge/doctor/telegramChecks.js';
import { checkTornLines } from '../../../bridge/doctor/tornLineChecks.js';
import { TelegramApi } from '../../../bridge/telegram/api.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import type { GithubFault } from '../../peers/github/faults.js';
import { startGithubPeer } from '../../peers/github/githubPeer.js';
import type { Fault } from '../../peers/telegram/faults.js';
import { startTelegramPeer } from '../../peers/telegram/telegramPeer.js';
import { project, testSettings } from '../telegram/scene.js';

const PATH = process.env.PATH ?? '';
const REPOSITORY = 'example/yard';

/** @returns a result that says why it was not checked */
const unchecked = (name: string, why: RegExp) => ({
  name,
  verdict: 'warning',
  found: expect.stringMatching(new RegExp(`^could not be checked: .*${why.source}`)),
  remedy: 'fix what it says, then run the doctor again',
});

function checkout(): string {
  const folder = testFolder();
  execFileSync('git', ['init', '--quiet', folder]);
  return folder;
}

describe('a directory', () => {
  test('that is a checkout is not said to be none if git fails for a fault of the user; without a repository it is none', async () => {
    const HOME = testFolder();
    writeFileSync(join(HOME, '.gitconfig'), 'torn [\n');
    const [folder, bare] = [checkout(), testFolder()];
    mkdirSync(join(folder, 'below'));
    const failing = unchecked('directory of yard', /`git` fails with exit code 128: fatal: bad config line/);
    for (const path of [folder, join(folder, 'below')])
      expect(await checkDirectory('yard', path, { PATH, HOME })).toEqual(failing);
    const none = { verdict: 'warning', found: expect.stringContaining(`${bare} is not a git checkout`) };
    expect(await checkDirectory('yard', bare, { PATH, HOME })).toMatchObject(none);
    expect(await checkDirectory('yard', folder, { PATH })).toMatchObject({ verdict: 'ok' });
  });

  test('is not said to be well or amiss if git takes too long', async () => {
    const [folder, bin] = [checkout(), testFolder()];
    writeFileSync(join(bin, 'git'), '#!/bin/sh\nread -r _\n', { mode: 0o755 });
    const slow = unchecked('directory of yard', /`git` did not answer within 1 s$/);
    expect(await checkDirectory('yard', folder, { PATH: bin })).toEqual(slow);
  });

  test('is not said to be closed to a user as whom nothing can be started', async () => {
    const nobody = { uid: 65_534, gid: Number.NaN, name: 'nobody', home: null };
    const folder = testFolder();
    const why = new RegExp(`user 65534 can write ${folder}: \`test\` fails with exit code \\d+: .*setpriv`);
    expect(await checkDirectory('yard', folder, { PATH }, nobody)).toEqual(unchecked('directory of yard', why));
  });
});

describe('the group privacy of a bot', () => {
  async function privacy(fault: Fault): Promise<CheckResult[]> {
    const peer = await startTelegramPeer();
    afterThisTest(() => peer.stop());
    peer.openChat(-5);
    peer.setPrivacyMode(true);
    peer.inject({ ...fault, method: 'getChatMember' });
    const api = new TelegramApi({ token: peer.token, apiRoot: peer.url }, systemClock);
    const settings = testSettings([project('yard', '/srv/yard', [-5])]);
    const checks = await checkTelegram(api, settings, { presence: null, isKnown: false }, systemClock);
    return checks.filter(({ name }) => name === 'telegram group privacy');
  }

  test('is unknown if Telegram does not say what the bot is there', async () => {
    const why = /did not say whether the bot is an administrator of -5 \(.*\)$/;
    expect(await privacy({ kind: 'reset' })).toEqual([unchecked('telegram group privacy', why)]);
    expect(await privacy({ kind: 'server_error' })).toEqual([unchecked('telegram group privacy', why)]);
  });

  test('counts where Telegram says that the bot is no member', async () => {
    const refused = { kind: 'bad_request', description: 'Bad Request: member not found' } as const;
    expect(await privacy(refused)).toMatchObject([{ found: expect.stringContaining('a mention never does') }]);
  });
});

describe('a repository', () => {
  async function checks(permissions: object, fault: GithubFault): Promise<CheckResult[]> {
    const peer = await startGithubPeer({ repository: REPOSITORY, logFile: join(testFolder(), 'writes.jsonl') });
    afterThisTest(() => peer.stop());
    const body = { private: true, has_issues: true, permissions };
    peer.inject({ kind: 'status', status: 200, body, method: 'GET', path: new RegExp(`/repos/${REPOSITORY}$`) });
    peer.inject(fault);
    const settings = testSettings([{ ...project('yard', '/srv/yard', []), repository: REPOSITORY }]);
    return checkGitHub({ ...settings, github: { token: peer.token, apiUrl: peer.url } }, systemClock);
  }
  const label = (status: number): GithubFault => ({
    kind: 'status',
    status,
    method: 'GET',
    path: /\/labels\/watchdog$/,
  });

  test('is not said to lack the label if GitHub fails, but if it says so', async () => {
    const name = `github ${REPOSITORY} label`;
    for (const permissions of [{ triage: true }, { push: true }])
      expect(await checks(permissions, label(502))).toContainEqual(unchecked(name, /GitHub failed .*502/));
    expect(await checks({ triage: true }, label(404))).toContainEqual(
      expect.objectContaining({ name, verdict: 'warning', found: expect.stringContaining('does not exist') }),
    );
    expect(await checks({ push: true }, label(404))).toContainEqual(expect.objectContaining({ name, verdict: 'ok' }));
  });

  test('is not said to be closed to the token if GitHub limits the requests', async () => {
    const limit: GithubFault = { kind: 'status', status: 403, headers: { 'retry-after': '60' }, method: 'POST' };
    const name = `github ${REPOSITORY} issues`;
    expect(await checks({ push: true }, limit)).toContainEqual(unchecked(name, /GitHub limits the requests/));
  });
});

test('a logs folder that cannot be read is not said to be missing', async () => {
  const logsFolder = join(testFolder(), 'logs');
  symlinkSync('logs', logsFolder);
  expect(await checkGrowth({ ...testSettings([]), logsFolder }, systemClock)).toEqual(
    unchecked('retention', /\/logs cannot be read \(ELOOP\)$/),
  );
});

test('files that cannot be read are not said to have no torn line', async () => {
  const logs = testFolder();
  symlinkSync('sessions', join(logs, 'sessions'));
  expect(await checkTornLines(logs)).toEqual([unchecked('torn lines', /\/sessions \(ELOOP\)$/)]);
  mkdirSync(join(logs, 'bridge.log'));
  writeFileSync(join(logs, 'critical_events.jsonl'), '{"v":1,\n');
  expect(await checkTornLines(logs)).toEqual([
    expect.objectContaining({ found: expect.stringContaining('1 in ') }),
    unchecked('torn lines', /\/sessions \(ELOOP\), .*\/bridge\.log \(it is a directory, not a plain file\)$/),
  ]);
});
