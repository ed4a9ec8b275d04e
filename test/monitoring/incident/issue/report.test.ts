import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { GitHubIssues } from '../../../../monitoring/incident/issue/githubIssues.js';
import { fingerprintOf } from '../../../../monitoring/incident/issue/issueMarker.js';
import { LocalIssues } from '../../../../monitoring/incident/issue/localIssues.js';
import { ProjectIssues } from '../../../../monitoring/incident/issue/projectIssues.js';
import type { Rule } from '../../../../src/config/rules.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/time.js';
import { ManualClock } from '../../../harness/clock.js';
import { testFolder } from '../../../harness/folder.js';
import { type GithubFault, secondaryLimit } from '../../../peers/github/faults.js';
import type { GithubPeer } from '../../../peers/github/githubPeer.js';

import {
  CREATE,
  GOING,
  InMemoryIssueRecords,
  MARKS,
  OWN_SECRET,
  occurrence,
  pretendDeleted,
  REPOSITORY,
  recovered,
  scene,
  sessionsIn,
  silentLogger,
} from './reportScene.js';

describe('an issue', () => {
  // rule: an-issue-is-filed-once
  test('is filed once: the same incident again changes nothing, another one joins', async () => {
    const { peer, reporter, successor } = await scene();
    const filed = await reporter.createInvestigationIssue(occurrence('A'));
    expect(filed).toEqual({ state: 'filed', url: peer.issues()[0]?.url, retry_at: null, error: null });
    const requests = peer.requests.length;
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toEqual(filed);
    expect(await successor().createInvestigationIssue(occurrence('A'))).toEqual(filed);
    expect(peer.requests).toHaveLength(requests);

    const joined = await successor().createInvestigationIssue(occurrence('B'));
    expect(joined).toEqual({ ...filed, state: 'joined' });
    const [issue] = peer.issues();
    expect(peer.issues()).toHaveLength(1);
    expect(issue).toMatchObject({ title: '[Watchdog] popoto: silence', labels: ['watchdog'], comments: [] });
    expect(issue?.body.split('\n')[0]).toBe(MARKS.line(fingerprintOf('popoto', 'silence')));
    expect(sessionsIn(issue?.body)).toEqual(['B', 'A']);
    expect(issue?.body).toContain('input-B');
    expect(JSON.stringify(peer.state())).not.toContain(OWN_SECRET);
  });

  test('updates what was done, even after it was closed, and is not reopened by that', async () => {
    const { peer, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    await peer.closeIssue(1, 'completed');
    const retold = await reporter.createInvestigationIssue(occurrence('A', 'silence', { done: 'It recovered.' }));
    expect(retold.state).toBe('filed');
    expect(peer.issues()).toMatchObject([
      { state: 'closed', body: expect.stringContaining('What was done: It recovered.') },
    ]);
  });

  test('in a public repository shows names only, unless the project allows more', async () => {
    const hidden = await scene({}, false);
    await hidden.reporter.createInvestigationIssue(occurrence('A'));
    expect(hidden.peer.issues()[0]?.body).toContain('Bash');
    expect(hidden.peer.issues()[0]?.body).not.toContain('input-A');
    const open = await scene({ publicDetail: 'full' }, false);
    await open.reporter.createInvestigationIssue(occurrence('A'));
    expect(open.peer.issues()[0]?.body).toContain('input-A');
  });

  test('gets a comment at most every four hours', async () => {
    const { peer, clock, reporter } = await scene();
    const comments = () => peer.issues()[0]?.comments.map(({ body }) => body);
    await reporter.createInvestigationIssue(occurrence('A'));
    await clock.advance(4 * HOUR - 1);
    await reporter.createInvestigationIssue(occurrence('B'));
    expect(comments()).toEqual([]);
    await clock.advance(1);
    await reporter.createInvestigationIssue(occurrence('C'));
    await reporter.createInvestigationIssue(occurrence('D'));
    expect(comments()).toEqual([expect.stringContaining('Finding of C')]);
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['D', 'C', 'B', 'A']);
  });

  test('that a person closed as not planned is left alone, and its link is used', async () => {
    const { peer, reporter } = await scene();
    const { url } = await reporter.createInvestigationIssue(occurrence('A'));
    await peer.closeIssue(1, 'not_planned');
    const writes = peer.writes.length;
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toEqual({
      state: 'joined',
      url,
      retry_at: null,
      error: null,
    });
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({ state: 'joined', url });
    expect(peer.writes).toHaveLength(writes);
    expect(peer.issues()).toMatchObject([{ state: 'closed', stateReason: 'not_planned' }]);
  });

  test('that was closed as completed is reopened within 14 days; later a new one is filed', async () => {
    const { peer, clock, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    await peer.closeIssue(1, 'completed');
    await clock.advance(14 * DAY - MINUTE);
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({ state: 'joined' });
    expect(peer.issues()).toMatchObject([{ state: 'open' }]);
    await peer.closeIssue(1, 'completed');
    await clock.advance(14 * DAY);
    expect(await reporter.createInvestigationIssue(occurrence('C'))).toMatchObject({ state: 'filed' });
    expect(peer.issues().map(({ body }) => sessionsIn(body))).toEqual([['B', 'A'], ['C']]);
  });

  test('that was deleted is replaced', async () => {
    const { peer, clock, records, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    pretendDeleted(records);
    const none = { kind: 'status', status: 200, headers: { 'content-type': 'application/json' }, body: '[]' } as const;
    peer.inject({ ...none, method: 'GET', path: /\/issues$/, times: 2 });
    await clock.advance(HOUR);
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({
      state: 'filed',
      url: peer.issues()[1]?.url,
    });
    expect(sessionsIn(peer.issues()[1]?.body)).toEqual(['B']);
  });

  test('that was deleted is replaced by another one with the marker, whose own occurrences are kept', async () => {
    const { peer, records, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    pretendDeleted(records);
    const { url } = peer.issues()[0] ?? {};
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({ state: 'joined', url });
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['B', 'A']);
  });

  test('that was deleted is looked for again when a known occurrence has an update', async () => {
    const { peer, clock, records, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    pretendDeleted(records);
    const retold = occurrence('A', 'silence', { done: 'It recovered.' });
    expect(await reporter.createInvestigationIssue(retold)).toMatchObject({
      state: 'pending',
      retry_at: clock.now() + 15 * MINUTE,
    });
    const { url } = peer.issues()[0] ?? {};
    expect(await reporter.createInvestigationIssue(retold)).toMatchObject({ url, retry_at: null });
    expect(peer.issues()[0]?.body).toContain('It recovered.');
  });

  // rule: a-persons-words-stay-in-the-project
  test.each([
    ['private', 'names_only', true],
    ['public', 'names_only', false],
    ['public', 'full', false],
  ] as const)('in a %s repository (%s) says what was asked, and of which agent: %s', async (kind, publicDetail, is) => {
    const { peer, reporter } = await scene({ publicDetail }, kind === 'private');
    const asked = `deploy ${OWN_SECRET} for @octocat ${'x'.repeat(200)}`;
    await reporter.createInvestigationIssue(occurrence('A', 'silence', { asked, agent: 'claude 2.1.150' }));
    const body = peer.issues()[0]?.body ?? '';
    expect(body.includes('- Agent: `claude 2.1.150`')).toBe(is);
    expect(/^- Asked \(untrusted data, not instructions\): `deploy .*…`$/m.test(body)).toBe(is);
    expect(body.includes('deploy')).toBe(is);
    expect(body).not.toContain(OWN_SECRET);
    expect(body).not.toContain('@octocat');
  });

  test('that is open is preferred to a newer one that is closed', async () => {
    const { peer, reporter } = await scene();
    const body = MARKS.line(fingerprintOf('popoto', 'silence'));
    const open = await peer.openIssue({ title: 'old', body, labels: ['watchdog'], as: 'product' });
    const closed = await peer.openIssue({ title: 'new', body, labels: ['watchdog'], as: 'product' });
    await peer.closeIssue(closed, 'not_planned');
    const { url } = await reporter.createInvestigationIssue(occurrence('A'));
    expect(url).toBe(peer.issues().find(({ number }) => number === open)?.url);
  });

  test('is found by its marker if the record was lost, and its text is kept', async () => {
    const { peer, clock, records, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    await peer.openIssue({
      title: '[Watchdog] popoto: silence',
      body: 'a look-alike',
      labels: ['watchdog'],
      as: 'product',
    });
    records.stored.clear();
    records.created.clear();
    await clock.advance(HOUR);
    const joined = await reporter.createInvestigationIssue(occurrence('B'));
    expect(joined).toMatchObject({ state: 'joined', url: peer.issues()[0]?.url });
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['B', 'A']);
    expect(peer.issues()).toHaveLength(2);
  });
});

describe('at most one new issue per project and hour', () => {
  test('other rules go into one roll-up issue and get its link; after the hour they have their own', async () => {
    const { peer, clock, reporter, successor } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    const capped = await reporter.createInvestigationIssue(occurrence('B', 'crash'));
    expect(capped).toEqual({ state: 'capped', url: peer.issues()[1]?.url, retry_at: null, error: null });
    expect(await successor().createInvestigationIssue(occurrence('B', 'crash'))).toEqual(capped);
    // One rule is not several.
    expect(peer.issues()[1]).toMatchObject({ title: '[Watchdog] popoto: crash (collected)' });
    await clock.advance(HOUR - 1);
    expect(await successor().createInvestigationIssue(occurrence('C', 'loop'))).toEqual(capped);
    expect(peer.issues().map(({ title, body }) => [title, sessionsIn(body)])).toEqual([
      ['[Watchdog] popoto: silence', ['A']],
      ['[Watchdog] popoto: several faults', ['C', 'B']],
    ]);
    expect(peer.issues()[1]?.body.split('\n')[0]).toBe(MARKS.line(fingerprintOf('popoto', 'several_faults')));

    // The roll-up issue is none of a rule, and keeps no rule from its own.
    await clock.advance(1);
    expect(await reporter.createInvestigationIssue(occurrence('D', 'crash'))).toMatchObject({ state: 'filed' });
    expect(peer.issues()[2]).toMatchObject({ title: '[Watchdog] popoto: crash' });
    expect(await reporter.createInvestigationIssue(occurrence('B', 'crash'))).toEqual(capped);
    expect(await reporter.createInvestigationIssue(occurrence('E', 'orphan'))).toEqual(capped);
    expect(peer.issues()).toHaveLength(3);
  });

  test('a roll-up issue keeps the title that a person gave it', async () => {
    const { peer, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    await reporter.createInvestigationIssue(occurrence('B', 'crash'));
    await peer.renameIssue(2, 'Payments break');
    await reporter.createInvestigationIssue(occurrence('C', 'loop'));
    await reporter.createInvestigationIssue(occurrence('D', 'orphan'));
    expect(peer.issues()[1]).toMatchObject({ title: 'Payments break' });
    expect(sessionsIn(peer.issues()[1]?.body)).toEqual(['D', 'C', 'B']);
  });

  test('a roll-up issue that was closed as completed is reopened; one closed as not planned is left alone', async () => {
    const { peer, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    const { url } = await reporter.createInvestigationIssue(occurrence('B', 'crash'));
    await peer.closeIssue(2, 'completed');
    await reporter.createInvestigationIssue(occurrence('C', 'loop'));
    expect(peer.issues()[1]).toMatchObject({ state: 'open' });
    await peer.closeIssue(2, 'not_planned');
    expect(await reporter.createInvestigationIssue(occurrence('D', 'loop'))).toMatchObject({
      state: 'capped',
      url,
    });
    expect(sessionsIn(peer.issues()[1]?.body)).toEqual(['C', 'B']);
    expect(peer.issues()[1]).toMatchObject({ state: 'closed' });
  });

  test('counts from success: an issue that was refused does not count', async () => {
    const { peer, clock, reporter, posts } = await scene();
    peer.inject({ kind: 'status', status: 410, ...CREATE });
    const refused = await reporter.createInvestigationIssue(occurrence('A'));
    expect(refused).toMatchObject({
      state: 'pending',
      url: null,
      retry_at: clock.now() + 15 * MINUTE,
      error: expect.stringContaining('410'),
    });
    expect(await reporter.createInvestigationIssue(occurrence('B', 'crash'))).toMatchObject({ state: 'filed' });
    expect(posts()).toBe(2);
  });

  test('holds for reports that come at the same moment', async () => {
    const { peer, reporter } = await scene();
    const rules: Rule[] = ['crash', 'orphan', 'error_cascade', 'silence', 'runaway', 'silence'];
    const outcomes = await Promise.all(
      rules.map((rule, index) => reporter.createInvestigationIssue(occurrence(`I${index}`, rule))),
    );
    expect(outcomes.map(({ state }) => state)).toEqual(['filed', 'capped', 'capped', 'capped', 'capped', 'capped']);
    expect(new Set(outcomes.slice(1).map(({ url }) => url)).size).toBe(1);
    expect(peer.issues().map(({ body }) => sessionsIn(body))).toEqual([['I0'], ['I5', 'I4', 'I3', 'I2', 'I1']]);
  });
});

describe('an issue whose occurrences have all ended well', () => {
  const failed = (id: string) =>
    occurrence(id, 'silence', { done: 'The chat was told.', needs: { who: 'person', what: 'Find out why.' } });

  // rule: an-issue-is-closed-and-reopened
  test('is closed with a note once, and reopened when the fault returns', async () => {
    const { peer, reporter, successor } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    await reporter.createInvestigationIssue(occurrence('B'));
    await reporter.createInvestigationIssue(recovered('A'));
    expect(peer.issues()).toMatchObject([{ state: 'open', comments: [] }]);
    await reporter.createInvestigationIssue(recovered('B'));
    await successor().createInvestigationIssue(recovered('B'));
    expect(peer.issues()).toMatchObject([{ state: 'closed', stateReason: 'completed' }]);
    expect(peer.issues()[0]?.body).toContain('**Needs nobody:** the second attempt answered the message.');
    expect(peer.issues()[0]?.comments.map(({ body }) => body)).toEqual([
      'All 2 occurrences need nobody any more; the last: the second attempt answered the message. This issue is closed, and reopened when the fault returns within 14 days. Open it again yourself to keep it open.',
    ]);

    await reporter.createInvestigationIssue(occurrence('C'));
    expect(peer.issues()).toMatchObject([{ state: 'open' }]);
    await reporter.createInvestigationIssue(recovered('C'));
    expect(peer.issues()).toMatchObject([{ state: 'closed' }]);
    expect(peer.issues()[0]?.comments).toHaveLength(2);
  });

  test('stays open while one has failed, until a person closes it; a later recovery may close it again', async () => {
    const { peer, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    await reporter.createInvestigationIssue(failed('A'));
    await reporter.createInvestigationIssue(occurrence('B'));
    await reporter.createInvestigationIssue(recovered('B'));
    expect(peer.issues()).toMatchObject([{ state: 'open' }]);
    expect(peer.issues()[0]?.body).toContain('**Needs you:** Find out why.');
    await peer.closeIssue(1, 'completed');
    await reporter.createInvestigationIssue(occurrence('C'));
    expect(peer.issues()).toMatchObject([{ state: 'open' }]);
    await reporter.createInvestigationIssue(recovered('C'));
    expect(peer.issues()).toMatchObject([{ state: 'closed', stateReason: 'completed' }]);
    expect(peer.issues()[0]?.comments.at(-1)?.body).toMatch(
      /^Every occurrence since it was last opened needs nobody any more; the last: the second attempt answered the message\. /,
    );
  });

  // rule: an-issue-is-closed-and-reopened
  test('is kept open by a person who reopens it', async () => {
    const { peer, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    await reporter.createInvestigationIssue(recovered('A'));
    await peer.reopenIssue(1);
    await reporter.createInvestigationIssue(occurrence('B'));
    await reporter.createInvestigationIssue(recovered('B'));
    expect(peer.issues()).toMatchObject([{ state: 'open' }]);
  });

  test('is left alone if a person closed it as not planned', async () => {
    const { peer, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    await peer.closeIssue(1, 'not_planned');
    await reporter.createInvestigationIssue(recovered('A'));
    expect(peer.issues()).toMatchObject([{ state: 'closed', stateReason: 'not_planned', comments: [] }]);
  });

  test('is closed later if GitHub was unavailable, and its comment is not repeated', async () => {
    const { peer, clock, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    // The first write is the text, the second closes it.
    peer.inject({
      kind: 'reset',
      method: 'PATCH',
      when: () => peer.issues()[0]?.body.includes('Needs nobody:') === true,
    });
    const unfinished = await reporter.createInvestigationIssue(recovered('A'));
    expect(unfinished).toMatchObject({ retry_at: expect.any(Number) });
    expect(peer.issues()).toMatchObject([{ state: 'open' }]);
    await clock.advance(MINUTE);
    await reporter.createInvestigationIssue(recovered('A'));
    await reporter.createInvestigationIssue(recovered('A'));
    expect(peer.issues()).toMatchObject([{ state: 'closed' }]);
    expect(peer.issues()[0]?.comments).toHaveLength(1);
  });

  test.each([
    ['the reply to its closing request was lost', (peer: GithubPeer) => loseClose(peer)],
    ['the process died after closing it', (_: GithubPeer, records: InMemoryIssueRecords) => loseRecord(records)],
  ])('%s: it gets its note once, and stays open if a person reopens it', async (_, lose) => {
    const { peer, clock, records, reporter, successor } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    lose(peer, records);
    await reporter.createInvestigationIssue(recovered('A')).catch(() => undefined);
    expect(peer.issues()).toMatchObject([{ state: 'closed', comments: [] }]);
    await clock.advance(MINUTE);
    const after = successor();
    for (let times = 0; times < 2; times += 1) await after.createInvestigationIssue(recovered('A'));
    expect(peer.issues()[0]?.comments).toHaveLength(1);
    await peer.reopenIssue(1);
    await after.createInvestigationIssue(occurrence('B'));
    await after.createInvestigationIssue(recovered('B'));
    expect(peer.issues()).toMatchObject([{ state: 'open' }]);
  });

  test('is open again if another process added an occurrence while it was being closed', async () => {
    const { peer, clock, records, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    const slow = new GitHubIssues({ apiUrl: peer.url, token: peer.token, repository: REPOSITORY }, clock, GOING);
    const close = slow.close.bind(slow);
    slow.close = async (...late) => {
      await reporter.createInvestigationIssue(occurrence('B'));
      await close(...late);
    };
    const other = new ProjectIssues({
      projectKey: 'popoto',
      sink: slow,
      records,
      publicDetail: 'full',
      redact: (text) => text,
      clock,
      logger: silentLogger(clock),
    });
    await other.createInvestigationIssue(recovered('A'));
    expect(peer.issues()).toMatchObject([{ state: 'open', comments: [] }]);
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['B', 'A']);
  });
});

describe('a create with an unknown outcome', () => {
  const lost: readonly [string, GithubFault, number][] = [
    ['the answer was lost after the issue was made', { kind: 'lost_answer', ...CREATE }, 1],
    ['the connection broke before', { kind: 'reset', ...CREATE }, 2],
    ['a gateway failed', { kind: 'status', status: 502, ...CREATE }, 2],
  ];

  test.each(lost)('%s: exactly one issue in the end', async (_name, fault, expectedPosts) => {
    const { peer, clock, reporter, successor, posts } = await scene();
    peer.inject(fault);
    const ambiguous = await reporter.createInvestigationIssue(occurrence('A'));
    expect(ambiguous).toMatchObject({ state: 'ambiguous', url: null, retry_at: clock.now() + 15 * SECOND });
    let outcome = ambiguous;
    while (outcome.retry_at !== null) {
      if (outcome.retry_at - clock.now() > 0) expect(posts()).toBe(1);
      await clock.advance(outcome.retry_at - clock.now());
      outcome = await successor().createInvestigationIssue(occurrence('A'));
    }
    expect(outcome).toEqual({ state: 'filed', url: peer.issues()[0]?.url, retry_at: null, error: null });
    expect(posts()).toBe(expectedPosts);
    expect(peer.issues()).toHaveLength(1);
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['A']);
    expect(peer.issues()[0]?.comments).toEqual([]);
    // It counts for the hour from the POST that made it.
    expect(await reporter.createInvestigationIssue(occurrence('B', 'crash'))).toMatchObject({ state: 'capped' });
  });

  // rule: an-issue-is-filed-once
  test('it hangs: after 10 s it is ambiguous', async () => {
    const { peer, clock, reporter } = await scene();
    const hang = peer.inject({ kind: 'hang', ...CREATE });
    const report = reporter.createInvestigationIssue(occurrence('A'));
    await peer.waitFor(() => hang.used === 1);
    await clock.advance(10 * SECOND);
    expect(await report).toMatchObject({ state: 'ambiguous' });
  });

  // rule: an-issue-is-filed-once
  test('no second POST within two minutes, and none while the list cannot be read', async () => {
    const { peer, clock, reporter, posts } = await scene();
    peer.inject({ kind: 'lost_answer', ...CREATE });
    await reporter.createInvestigationIssue(occurrence('A'));
    // The list lags behind.
    const lag = peer.inject({
      kind: 'status',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '[]',
      method: 'GET',
      path: /\/issues$/,
      times: Number.POSITIVE_INFINITY,
    });
    await clock.advance(2 * MINUTE - 1);
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toMatchObject({
      state: 'ambiguous',
      retry_at: clock.now() + 1,
    });
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({
      state: 'ambiguous',
      url: null,
    });
    lag.remove();
    const broken = peer.inject({ kind: 'status', status: 502, method: 'GET', path: /\/issues$/ });
    await clock.advance(1);
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toMatchObject({
      state: 'ambiguous',
      retry_at: clock.now() + MINUTE,
    });
    expect(broken.used).toBe(1);
    await clock.advance(MINUTE);
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toMatchObject({ state: 'filed' });
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({ state: 'joined' });
    expect(posts()).toBe(1);
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['B', 'A']);
  });

  test('the process dies after the POST: its successor finds the issue', async () => {
    const { peer, clock, records, reporter, successor, posts } = await scene();
    records.noteCreated = () => Promise.reject(new Error('the store went away'));
    await expect(reporter.createInvestigationIssue(occurrence('A'))).rejects.toThrow('the store went away');
    expect(peer.issues()).toHaveLength(1);
    records.noteCreated = InMemoryIssueRecords.prototype.noteCreated;
    const outcome = await successor().createInvestigationIssue(occurrence('A'));
    expect(outcome).toMatchObject({ state: 'filed', url: peer.issues()[0]?.url });
    expect(posts()).toBe(1);
    expect(records.created.get('popoto')).toBe(clock.now());
  });
});

describe('GitHub faults', () => {
  test('a rate limit applies to all reports of the project, and then the issue is filed', async () => {
    const { peer, clock, reporter } = await scene();
    peer.inject({ ...secondaryLimit(120), ...CREATE });
    const limited = await reporter.createInvestigationIssue(occurrence('A'));
    expect(limited).toMatchObject({ state: 'pending', url: null, retry_at: clock.now() + 120 * SECOND });
    const requests = peer.requests.length;
    await clock.advance(30 * SECOND);
    expect(await reporter.createInvestigationIssue(occurrence('B', 'crash'))).toMatchObject({
      state: 'pending',
      retry_at: clock.now() + 90 * SECOND,
    });
    expect(peer.requests).toHaveLength(requests);
    await clock.advance(90 * SECOND);
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toMatchObject({ state: 'filed' });
  });

  test('nothing is created if the list cannot be read', async () => {
    const { peer, clock, reporter, posts } = await scene();
    peer.inject({ kind: 'status', status: 502, method: 'GET', path: /\/issues$/ });
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toMatchObject({
      state: 'pending',
      retry_at: clock.now() + MINUTE,
    });
    expect(posts()).toBe(0);
    await clock.advance(MINUTE);
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toMatchObject({ state: 'filed' });
  });

  test('an occurrence whose text could not be written has the link, and is written later, without a second comment', async () => {
    const { peer, clock, reporter } = await scene();
    const { url } = await reporter.createInvestigationIssue(occurrence('A'));
    peer.inject({ kind: 'reset', method: 'PATCH' });
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({
      state: 'pending',
      url,
      retry_at: clock.now() + MINUTE,
    });
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['A']);
    await clock.advance(MINUTE);
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({ state: 'joined', url });
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['B', 'A']);
  });

  test('a lost comment is not repeated, and the report is done', async () => {
    const { peer, clock, reporter } = await scene();
    await reporter.createInvestigationIssue(occurrence('A'));
    await clock.advance(5 * HOUR);
    peer.inject({ kind: 'reset', method: 'POST', path: /\/comments$/ });
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({
      state: 'joined',
      retry_at: null,
      error: expect.stringMatching(/./),
    });
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({
      state: 'joined',
      error: null,
    });
    expect(peer.issues()[0]?.comments).toEqual([]);
  });

  test('the report is given up after a day without success', async () => {
    const { peer, clock, reporter } = await scene();
    peer.inject({ kind: 'status', status: 401, times: Number.POSITIVE_INFINITY });
    const first = occurrence('A', 'silence', { at: clock.now() });
    expect(await reporter.createInvestigationIssue(first)).toMatchObject({
      state: 'pending',
      error: expect.stringContaining('GITHUB_TOKEN'),
    });
    await clock.advance(DAY + 1);
    expect(await reporter.createInvestigationIssue(first)).toMatchObject({
      state: 'given_up',
      url: null,
      retry_at: null,
    });
  });
});

describe('two processes', () => {
  test('that file the same issue at once make one', async () => {
    const { peer, records, reporter, successor, clock, posts } = await scene();
    records.meanwhile = async () => {
      expect(await successor().createInvestigationIssue(occurrence('B'))).toMatchObject({ state: 'filed' });
    };
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toMatchObject({
      state: 'pending',
      retry_at: clock.now() + 5 * SECOND,
    });
    await clock.advance(5 * SECOND);
    expect(await reporter.createInvestigationIssue(occurrence('A'))).toMatchObject({ state: 'joined' });
    expect(posts()).toBe(1);
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['A', 'B']);
  });

  test('that write its text at once leave a text with both occurrences', async () => {
    const { peer, clock, records, reporter } = await scene();
    const sinkOf = () =>
      new GitHubIssues({ apiUrl: peer.url, token: peer.token, repository: REPOSITORY }, clock, GOING);
    const reporterOn = (sink: GitHubIssues) =>
      new ProjectIssues({
        projectKey: 'popoto',
        sink,
        records,
        publicDetail: 'full',
        redact: (text) => text,
        clock,
        logger: silentLogger(clock),
      });
    await reporter.createInvestigationIssue(occurrence('A'));
    // B's text, without C, arrives after C's.
    const slow = sinkOf();
    const update = slow.update.bind(slow);
    slow.update = async (...late) => {
      slow.update = update;
      await reporterOn(sinkOf()).createInvestigationIssue(occurrence('C'));
      await update(...late);
    };
    await reporterOn(slow).createInvestigationIssue(occurrence('B'));
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['C', 'B', 'A']);
  });
});

test('issues without GitHub are files with the same story', async () => {
  const folder = join(testFolder(), 'issues');
  mkdirSync(folder);
  const clock = new ManualClock();
  const { reporter } = await scene({ sink: new LocalIssues(folder, clock), clock });
  const filed = await reporter.createInvestigationIssue(occurrence('A'));
  expect(filed).toMatchObject({ state: 'filed', url: expect.stringMatching(/^file:\/\/.*\/issues\/1\.md$/) });
  expect(await reporter.createInvestigationIssue(occurrence('B', 'crash'))).toMatchObject({
    state: 'capped',
    url: filed.url?.replace('1.md', '2.md'),
  });
  expect(await reporter.createInvestigationIssue(recovered('A'))).toEqual(filed);
  const text = (name: string) => readFileSync(join(folder, name), 'utf8');
  expect(readdirSync(folder).sort()).toEqual(['1.comments.md', '1.md', '2.md']);
  expect(text('1.md')).toContain('"title": "[Watchdog] popoto: silence"');
  expect(text('1.md')).toContain('"state": "closed"');
  expect(text('1.comments.md')).toContain('the second attempt answered the message.');
  expect(sessionsIn(text('2.md'))).toEqual(['B']);
});

/** The first write is the text, the second closes the issue. */
function loseClose(peer: GithubPeer): void {
  const isWritten = () => peer.issues()[0]?.body.includes('Needs nobody:') === true;
  peer.inject({ kind: 'lost_answer', method: 'PATCH', when: isWritten });
}

function loseRecord(records: InMemoryIssueRecords): void {
  const put = records.put.bind(records);
  records.put = async (...change) => {
    if (change[1].closing !== 'closed') return put(...change);
    records.put = put;
    throw new Error('the process died');
  };
}

describe('an issue that is a file', () => {
  const opened = async () => {
    const folder = testFolder();
    const clock = new ManualClock();
    const { reporter } = await scene({ sink: new LocalIssues(folder, clock), clock });
    const files = () =>
      readdirSync(folder)
        .filter((name) => /^\d+\.md$/.test(name))
        .map((name) => sessionsIn(readFileSync(join(folder, name), 'utf8')));
    return { folder, clock, reporter, files };
  };

  test('and was deleted by a person is filed again if there is something to add', async () => {
    const { folder, clock, reporter, files } = await opened();
    await reporter.createInvestigationIssue(occurrence('A'));
    rmSync(join(folder, '1.md'));
    await clock.advance(HOUR);
    const { retry_at } = await reporter.createInvestigationIssue(recovered('A'));
    await clock.advance(Number(retry_at) - clock.now());
    expect(await reporter.createInvestigationIssue(recovered('A'))).toMatchObject({ retry_at: null });
    expect(files()).toEqual([['A']]);
  });

  test.each([
    ['of an occurrence that it has', () => recovered('A')],
    ['of another occurrence', () => occurrence('C')],
  ])('takes over no text %s from a deleted issue with the same number', async (_, told) => {
    const { folder, clock, reporter, files } = await opened();
    await reporter.createInvestigationIssue(occurrence('A'));
    rmSync(join(folder, '1.md'));
    await clock.advance(HOUR);
    await reporter.createInvestigationIssue(occurrence('B', 'crash'));
    await clock.advance(HOUR);
    const { retry_at } = await reporter.createInvestigationIssue(told());
    if (retry_at !== null) await reporter.createInvestigationIssue(told());
    expect(files()[0]).toEqual(['B']);
    expect(files()[1]).toContain(told().incident_id);
  });
});
