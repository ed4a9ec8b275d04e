/** In a public repository anybody may file an issue with any text; whose it is decides whether it counts. */
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { GitHubIssues } from '../../../../monitoring/incident/issue/githubIssues.js';
import { fingerprintOf, IssueMarks, issueTitle } from '../../../../monitoring/incident/issue/issueMarker.js';
import type { IssueRecord } from '../../../../monitoring/incident/issue/issueRecords.js';
import { StoredIssueRecords } from '../../../../src/jobs/issueRecords.js';
import { keysIn } from '../../../../src/jobs/keys.js';
import { HOUR } from '../../../../src/time.js';
import { ManualClock } from '../../../harness/clock.js';
import { testFolder } from '../../../harness/folder.js';
import { describeWithRedis, openTestRedis } from '../../../harness/redis.js';
import { afterThisTest } from '../../../harness/scope.js';
import { startGithubPeer } from '../../../peers/github/githubPeer.js';
import {
  formerMark,
  GOING,
  InMemoryIssueRecords,
  MARKS,
  occurrence,
  REPOSITORY,
  scene,
  sessionsIn,
} from './reportScene.js';

const SILENCE = fingerprintOf('popoto', 'silence');
const LOOK_ALIKE = { title: issueTitle('popoto', 'silence'), labels: ['watchdog'] };
/** A repository whose label the token cannot set: every issue is looked at. */
const NO_LABELS = { kind: 'status', status: 403, method: 'POST', path: /\/labels$/, times: Infinity } as const;

describe('an issue that a stranger files', () => {
  // rule: only-own-issues-count
  test.each([
    ['the mark of older versions', formerMark(SILENCE)],
    ['a copied mark of an own issue', MARKS.line(SILENCE)],
  ])('with %s and closes as not planned does not keep the watchdog from filing its own', async (_name, mark) => {
    const { peer, reporter } = await scene({}, false);
    peer.inject(NO_LABELS);
    const number = await peer.openIssue({ ...LOOK_ALIKE, body: `${mark}\n\nnothing to see` });
    await peer.closeIssue(number, 'not_planned');
    const filed = await reporter.createInvestigationIssue(occurrence('A'));
    expect(filed).toMatchObject({ state: 'filed', url: peer.issues()[1]?.url });
    expect(peer.issues()).toMatchObject([
      { body: `${mark}\n\nnothing to see`, comments: [] },
      { state: 'open', author: 'watchkeeper-bot' },
    ]);
  });

  test('and leaves open is neither joined, by its own rule or because of the cap, nor closed as a twin', async () => {
    const { peer, successor } = await scene();
    await peer.openIssue({ ...LOOK_ALIKE, body: MARKS.line(SILENCE) });
    const { url } = await successor().createInvestigationIssue(occurrence('A'));
    await peer.openIssue({ ...LOOK_ALIKE, body: MARKS.line(fingerprintOf('popoto', 'crash')) });
    expect(await successor().createInvestigationIssue(occurrence('B', 'crash'))).toMatchObject({
      state: 'capped',
    });
    const [before, own, after, rollUp] = peer.issues();
    expect(own).toMatchObject({ state: 'open', url });
    expect(rollUp).toMatchObject({ state: 'open', title: '[Watchdog] popoto: crash (collected)' });
    for (const foreign of [before, after]) expect(foreign).toMatchObject({ state: 'open', comments: [] });
  });

  test('and that an older version had adopted is dropped: the own one continues', async () => {
    const { peer, clock, records, successor } = await scene();
    await successor().createInvestigationIssue(occurrence('A'));
    const number = await peer.openIssue({ ...LOOK_ALIKE, body: formerMark(SILENCE) });
    await peer.closeIssue(number, 'not_planned');
    await peer.closeIssue(1, 'completed');
    const record = records.stored.get(SILENCE);
    if (record) records.stored.set(SILENCE, { ...record, issue: { number, url: 'https://github.invalid/2' } });
    await clock.advance(HOUR);
    expect(await successor().createInvestigationIssue(occurrence('B'))).toMatchObject({
      state: 'joined',
      url: peer.issues()[0]?.url,
    });
    expect(peer.issues()[0]?.state).toBe('open');
  });
});

describe('an issue of our own', () => {
  test('from an older version is joined, and gets the mark with the key', async () => {
    const { peer, reporter } = await scene();
    const number = await peer.openIssue({
      ...LOOK_ALIKE,
      body: `${formerMark(SILENCE)}\n\nearlier text`,
      as: 'product',
    });
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toMatchObject({ state: 'joined' });
    const [issue] = peer.issues();
    expect(issue).toMatchObject({ number, body: expect.stringContaining('earlier text') });
    expect(issue?.body.split('\n')[0]).toBe(MARKS.line(SILENCE));
  });

  test('continues when the token becomes that of another user', async () => {
    const { peer, clock, records, successor } = await scene();
    await successor().createInvestigationIssue(occurrence('A'));
    const { body = '' } = peer.issues()[0] ?? {};
    // As if the first token had been the maintainer's.
    const number = await peer.openIssue({ ...LOOK_ALIKE, body });
    const record = records.stored.get(SILENCE);
    if (record) records.stored.set(SILENCE, { ...record, issue: { number, url: 'https://github.invalid/2' } });
    await clock.advance(HOUR);
    await successor().createInvestigationIssue(occurrence('B'));
    expect(sessionsIn(peer.issues()[1]?.body)).toEqual(['B', 'A']);
    expect(peer.issues()).toHaveLength(2);
  });

  // rule: only-own-issues-count
  test('is not that of another installation of the same user: each files its own', async () => {
    const { peer, successor } = await scene();
    const other = new InMemoryIssueRecords();
    other.markerKey = async () => '0'.repeat(64);
    await successor().createInvestigationIssue(occurrence('A'));
    const filed = await successor({ records: other }).createInvestigationIssue(occurrence('B'));
    expect(filed).toMatchObject({ state: 'filed', url: peer.issues()[1]?.url });
    expect(peer.issues().map(({ body }) => sessionsIn(body))).toEqual([['A'], ['B']]);
    expect(peer.issues()[1]?.body.split('\n')[0]).toBe(new IssueMarks('0'.repeat(64)).line(SILENCE));
  });
});

describe('the token of an app, whose owner cannot be queried', () => {
  const ASKED = { kind: 'status', status: 403, method: 'GET', path: /^\/user$/, times: Infinity } as const;

  test('files, and knows its own issues by their author from then on', async () => {
    const peer = await startGithubPeer({ repository: REPOSITORY, token: 'ghs_installation0000000000000000000000000' });
    afterThisTest(() => peer.stop());
    peer.inject(ASKED);
    const access = { apiUrl: peer.url, token: peer.token, repository: REPOSITORY };
    const sink = new GitHubIssues(access, new ManualClock(), GOING);
    await peer.openIssue({ ...LOOK_ALIKE, body: MARKS.line(SILENCE) });
    expect(await sink.list()).toEqual([]);
    const created = await sink.create('own', MARKS.line(SILENCE));
    expect(await sink.list()).toEqual([created]);
  });

  test('takes issues of bots as its own before that, because only an installed app files as one', async () => {
    const peer = await startGithubPeer({ repository: REPOSITORY, token: 'ghs_installation0000000000000000000000000' });
    afterThisTest(() => peer.stop());
    peer.inject(ASKED);
    const access = { apiUrl: peer.url, token: peer.token, repository: REPOSITORY };
    const sink = new GitHubIssues(access, new ManualClock(), GOING);
    const issue = { number: 4, html_url: 'https://github.invalid/4', state: 'open', body: '' };
    const body = [
      { ...issue, user: { id: 9, type: 'Bot' } },
      { ...issue, number: 3, user: { id: 8, type: 'User' } },
    ];
    peer.inject({
      kind: 'status',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body,
      method: 'GET',
      path: /\/issues$/,
    });
    expect((await sink.list()).map(({ number }) => number)).toEqual([4]);
  });

  test('that belongs to a person instead is an error, and nothing is filed', async () => {
    const { peer, reporter } = await scene();
    peer.inject(ASKED);
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toMatchObject({ state: 'pending' });
    expect(peer.writes).toEqual([]);
  });
});

describeWithRedis('the key of the marks', () => {
  test('is the same for all processes and after a restart, and is restored from its copy if the store was lost', async () => {
    const { redis, prefix } = await openTestRedis();
    const keys = keysIn(prefix);
    const copy = join(testFolder(), 'issue-marker-key');
    const open = () => new StoredIssueRecords<IssueRecord>(redis, keys, copy);
    const [one, other] = await Promise.all([open().markerKey(), open().markerKey()]);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(other).toBe(one);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    await redis.del(keys.issueMarkerKey);
    expect(await open().markerKey()).toBe(one);
    rmSync(copy);
    expect(await open().markerKey()).toBe(one);
    expect(existsSync(copy) && readFileSync(copy, 'utf8').trim()).toBe(one);
  });

  test('outlives the store in a process that knows it', async () => {
    const { redis, prefix } = await openTestRedis();
    const records = new StoredIssueRecords<IssueRecord>(redis, keysIn(prefix));
    const key = await records.markerKey();
    await redis.del(keysIn(prefix).issueMarkerKey);
    expect(await records.markerKey()).toBe(key);
    expect(await redis.get(keysIn(prefix).issueMarkerKey)).toBe(key);
  });
});
