/** What becomes of a report for each thing that GitHub may answer: filed once in the end, or given up after a day. */
import { describe, expect, test } from '@jest/globals';
import { ConfiguredIssues } from '../../../../monitoring/incident/issue/configuredIssues.js';
import { GitHubIssues } from '../../../../monitoring/incident/issue/githubIssues.js';
import { IncidentReporter } from '../../../../monitoring/incident/saga/incidentReporter.js';
import { createLogger } from '../../../../src/log/logger.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/time.js';
import { project, testSettings } from '../../../bridge/telegram/scene.js';
import { type GithubFault, secondaryLimit } from '../../../peers/github/faults.js';
import {
  CREATE,
  GOING,
  InMemoryIssueRecords,
  occurrence,
  REPOSITORY,
  type Scene,
  scene,
  sessionsIn,
} from './reportScene.js';

const LIST = { method: 'GET', path: /\/issues$/ } as const;
const RENAMED = 'harbour/popoto-two';

function status(code: number, headers: Record<string, string> = {}): GithubFault {
  return { kind: 'status', status: code, headers };
}

/** The limit of the whole hour ends in ten minutes. */
function primaryLimit(now: number): GithubFault {
  return status(403, {
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil((now + 10 * MINUTE) / SECOND)),
  });
}

/** Reports again whenever the outcome asks for it. @returns the state at each try, the last one at the end */
async function reportUntilOver({
  reporter,
  clock,
}: Scene): Promise<{ states: string[]; url: string | null; error: string | null }> {
  const one = occurrence('A', 'silence', { at: clock.now() });
  const states: string[] = [];
  for (;;) {
    const outcome = await reporter.createInvestigationIssue(one);
    states.push(outcome.state);
    if (outcome.retry_at === null) return { states, url: outcome.url, error: outcome.error };
    await clock.advance(Math.max(outcome.retry_at - clock.now(), SECOND));
  }
}

describe('a temporary fault', () => {
  const faults: readonly [string, (now: number) => GithubFault, string[], number][] = [
    ['502 for the list', () => ({ ...status(502), ...LIST }), ['pending', 'filed'], 1],
    ['502 for the POST', () => ({ ...status(502), ...CREATE }), ['ambiguous', 'filed'], 2],
    ['403, secondary limit', () => ({ ...secondaryLimit(120), ...CREATE }), ['pending', 'filed'], 2],
    ['403, secondary limit of hours', () => ({ ...secondaryLimit(3 * 3_600), ...LIST }), ['pending', 'filed'], 1],
    ['403, primary limit', (now) => ({ ...primaryLimit(now), ...LIST }), ['pending', 'filed'], 1],
    ['403, no right', () => ({ ...status(403), ...CREATE }), ['pending', 'filed'], 2],
    ['404', () => ({ ...status(404), ...LIST }), ['pending', 'filed'], 1],
    ['410, issues are switched off', () => ({ ...status(410), ...CREATE }), ['pending', 'filed'], 2],
    ['422', () => ({ ...status(422), ...CREATE }), ['pending', 'filed'], 2],
    ['401, token revoked', () => ({ ...status(401), ...LIST }), ['pending', 'filed'], 1],
    ['reset', () => ({ kind: 'reset', ...CREATE }), ['ambiguous', 'filed'], 2],
    ['lost answer', () => ({ kind: 'lost_answer', ...CREATE }), ['ambiguous', 'filed'], 1],
  ];

  // rule: an-issue-is-filed-once
  test.each(faults)('%s: the issue is filed once in the end', async (_name, fault, states, expectedPosts) => {
    const opened = await scene();
    const { peer, clock, posts } = opened;
    const injected = peer.inject(fault(clock.now()));
    const { states: seen, url } = await reportUntilOver(opened);
    expect(injected.used).toBe(1);
    expect([...new Set(seen)]).toEqual(states);
    expect(posts()).toBe(expectedPosts);
    expect(peer.issues()).toMatchObject([{ url, state: 'open', labels: ['watchdog'] }]);
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['A']);
  });
});

describe('a permanent fault', () => {
  const faults: readonly [string, GithubFault, RegExp][] = [
    ['401, token revoked', status(401), /GITHUB_TOKEN, which is wrong, expired or revoked/],
    ['404', status(404), /repository's name/],
    ['410, issues are switched off', status(410), /issues are disabled/],
    ['403, no right', status(403), /right to write issues/],
    ['422', { ...status(422), ...CREATE }, /422/],
    ['502', status(502), /502/],
    ['403, limit without an end', secondaryLimit(3_600), /limits the requests/],
    ['reset', { kind: 'reset' }, /did not answer/],
  ];

  // rule: an-issue-is-given-up-after-a-day
  test.each(faults)(
    '%s: tried for a day, at growing intervals, then given up with the reason',
    async (_name, fault, words) => {
      const opened = await scene();
      const { peer, clock } = opened;
      const begun = clock.now();
      peer.inject({ ...fault, times: Number.POSITIVE_INFINITY });
      const { states, url, error } = await reportUntilOver(opened);
      expect(states.at(-1)).toBe('given_up');
      expect({ url, error }).toEqual({ url: null, error: expect.stringMatching(words) });
      expect(clock.now() - begun).toBeGreaterThan(DAY);
      expect(clock.now() - begun).toBeLessThan(DAY + 2 * HOUR);
      expect(peer.issues()).toEqual([]);
    },
  );
});

describe('a repository that was renamed', () => {
  // rule: an-issue-is-filed-once
  test('gets its issue under its new name, by one POST, and that is logged once', async () => {
    const heard: string[] = [];
    const opened = await scene({}, true, RENAMED);
    const { peer, clock, records, posts } = opened;
    peer.redirectFrom(REPOSITORY);
    const access = { apiUrl: peer.url, token: peer.token, repository: REPOSITORY };
    const reporter = opened.successor({
      sink: new GitHubIssues(access, clock, GOING, (name) => void heard.push(name)),
    });
    const filed = await reporter.createInvestigationIssue(occurrence('A'));
    expect(filed).toMatchObject({ state: 'filed', url: peer.issues()[0]?.url, retry_at: null });
    await clock.advance(5 * HOUR);
    expect(await reporter.createInvestigationIssue(occurrence('B'))).toMatchObject({
      state: 'joined',
      error: null,
    });
    expect(peer.issues()).toHaveLength(1);
    expect(peer.issues()[0]?.comments).toHaveLength(1);
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['B', 'A']);
    expect(heard).toEqual([RENAMED]);
    expect(posts()).toBe(1);
    expect(records.stored.size).toBe(1);
  });
});

describe('the issues of the configured projects', () => {
  test('name a renamed repository in the log, once, and none for a project that is gone', async () => {
    const { peer, clock, records } = await scene({}, true, RENAMED);
    peer.redirectFrom(REPOSITORY);
    const logged: string[] = [];
    const redact = (text: string) => text;
    const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
    const logger = createLogger({ level: 'warn', redact, clock, destinations });
    const settings = {
      ...testSettings([{ ...project('popoto', '/srv/popoto', []), repository: REPOSITORY }]),
      github: { apiUrl: peer.url, token: peer.token },
    };
    const issues = new ConfiguredIssues({ settings, records, clock, logger, redact, stopping: GOING });
    for (const id of ['A', 'B']) await issues.of('popoto')?.createInvestigationIssue(occurrence(id));
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { project_key: 'popoto', msg: expect.stringContaining(`${REPOSITORY} is called ${RENAMED} on GitHub`) },
    ]);
    expect(issues.of('orca')).toBeNull();
    const reporter = new IncidentReporter(clock, '/nowhere', issues, { trouble: null });
    const incident = { project_key: 'orca', report: { tries: 0 } } as never;
    expect(await reporter.report(incident, null)).toMatchObject({ state: 'given_up', due_at: null });
  });
});

describe('a twin that a race made', () => {
  // rule: an-issue-is-filed-once
  test('is closed by the first process that sees both: the older one is kept, with both occurrences', async () => {
    const opened = await scene();
    const { peer, posts } = opened;
    // Another installation, which shares no record, posts between our list and our POST.
    const other = opened.successor({ records: new InMemoryIssueRecords() });
    opened.records.meanwhile = async () => {
      expect(await other.createInvestigationIssue(occurrence('B'))).toMatchObject({ state: 'filed' });
    };
    const joined = await opened.reporter.createInvestigationIssue(occurrence('A'));
    const [kept, twin] = peer.issues();
    expect(posts()).toBe(2);
    expect(joined).toMatchObject({ state: 'joined', url: kept?.url, retry_at: null });
    expect(kept).toMatchObject({ state: 'open' });
    expect(twin).toMatchObject({ state: 'closed', stateReason: 'not_planned' });
    expect(twin?.comments.map(({ body }) => body)).toEqual([expect.stringContaining(`#${kept?.number} goes on`)]);
    expect(sessionsIn(kept?.body)).toEqual(['A', 'B']);
    expect(await opened.reporter.createInvestigationIssue(occurrence('C'))).toMatchObject({ url: kept?.url });
    expect(peer.issues()).toHaveLength(2);
  });

  test('that cannot be looked for does not remove the link', async () => {
    const { peer, reporter } = await scene();
    let lists = 0;
    peer.inject({ ...status(502), ...LIST, when: () => ++lists === 2 });
    const filed = await reporter.createInvestigationIssue(occurrence('A'));
    expect(filed).toMatchObject({ state: 'filed', url: peer.issues()[0]?.url, error: null });
    expect(lists).toBe(2);
  });
});
