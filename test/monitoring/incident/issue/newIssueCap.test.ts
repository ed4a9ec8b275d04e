/** A project gets one new issue an hour, beside its roll-up issue, whatever becomes of the answers to the requests that create them. */

import { describe, expect, test } from '@jest/globals';
import type { ReportOutcome } from '../../../../monitoring/incident/issue/projectIssues.js';
import type { Rule } from '../../../../src/config/rules.js';
import { HOUR, MINUTE, SECOND } from '../../../../src/time.js';
import type { GithubFault } from '../../../peers/github/faults.js';
import { CREATE, occurrence, type Scene, scene, sessionsIn } from './reportScene.js';

/** Each report by another process: they share the records only. @returns the outcome when it asks for no other try */
async function reportUntilOver({ clock, successor }: Scene, id: string, rule: Rule): Promise<ReportOutcome> {
  for (;;) {
    const outcome = await successor().createInvestigationIssue(occurrence(id, rule));
    if (outcome.retry_at === null) return outcome;
    await clock.advance(Math.max(outcome.retry_at - clock.now(), SECOND));
  }
}

describe('a rule that is reported while the answer to the POST of another rule is lost', () => {
  // rule: new-issues-are-capped
  test('is in the roll-up issue: one new issue within the hour, also for a third rule', async () => {
    const opened = await scene();
    const { peer, clock, successor, posts } = opened;
    peer.inject({ kind: 'lost_answer', ...CREATE });
    const begun = clock.now();
    const ambiguous = await successor().createInvestigationIssue(occurrence('A'));
    expect(ambiguous.state).toBe('ambiguous');
    const capped = await successor().createInvestigationIssue(occurrence('B', 'crash'));
    expect(capped).toEqual({ state: 'capped', url: peer.issues()[1]?.url, retry_at: null, error: null });
    expect(await successor().createInvestigationIssue(occurrence('C', 'loop'))).toEqual(capped);
    expect(await reportUntilOver(opened, 'A', 'silence')).toMatchObject({
      state: 'filed',
      url: peer.issues()[0]?.url,
    });
    await clock.advance(begun + HOUR - 1 - clock.now());
    expect(await successor().createInvestigationIssue(occurrence('D', 'orphan'))).toEqual(capped);
    expect(posts()).toBe(2);
    expect(peer.issues().map(({ body }) => sessionsIn(body))).toEqual([['A'], ['D', 'C', 'B']]);
    await clock.advance(1);
    expect(await successor().createInvestigationIssue(occurrence('E', 'crash'))).toMatchObject({
      state: 'filed',
    });
  });

  const unmade: readonly [string, GithubFault][] = [
    ['the connection broke', { kind: 'reset', ...CREATE }],
    ['a gateway failed', { kind: 'status', status: 502, ...CREATE }],
  ];

  test.each(unmade)('is there as well if that issue was not created, and is filed later: %s', async (_name, fault) => {
    const opened = await scene();
    const { peer, clock, successor, posts } = opened;
    const begun = clock.now();
    peer.inject(fault);
    expect((await successor().createInvestigationIssue(occurrence('A'))).state).toBe('ambiguous');
    const capped = await successor().createInvestigationIssue(occurrence('B', 'crash'));
    expect(capped).toEqual({ state: 'capped', url: peer.issues()[0]?.url, retry_at: null, error: null });
    expect(await reportUntilOver(opened, 'A', 'silence')).toMatchObject({ state: 'filed' });
    expect(await reportUntilOver(opened, 'B', 'crash')).toEqual(capped);
    expect(posts()).toBe(3);
    expect(clock.now() - begun).toBeLessThan(3 * MINUTE);
    expect(peer.issues().map(({ body }) => sessionsIn(body))).toEqual([['B'], ['A']]);
  });

  test('files its own issue after the hour although nobody came back to resolve the first', async () => {
    const { peer, clock, successor } = await scene();
    peer.inject({ kind: 'reset', ...CREATE });
    await successor().createInvestigationIssue(occurrence('A'));
    await clock.advance(HOUR);
    expect(await successor().createInvestigationIssue(occurrence('B', 'crash'))).toMatchObject({
      state: 'filed',
    });
    expect(peer.issues()).toHaveLength(1);
  });
});

describe('two rules that two hosts report at the same moment', () => {
  // rule: new-issues-are-capped
  test('make one new issue: if both have announced theirs, neither posts, and the later one is rolled up', async () => {
    const { peer, clock, records, successor, posts } = await scene();
    const [first, second] = [successor(), successor()];
    let other: Promise<ReportOutcome> | null = null;
    records.meanwhile = async () => {
      // Both have found the hour free; the other one goes out first.
      const isOut = peer.waitFor(() => posts() === 1);
      other = second.createInvestigationIssue(occurrence('B', 'crash'));
      await isOut;
    };
    const waiting = await first.createInvestigationIssue(occurrence('A'));
    await (other ?? Promise.reject(new Error('the other host did not come')));
    expect(waiting).toMatchObject({ state: 'pending', url: null });
    await clock.advance(5 * SECOND);
    expect(await first.createInvestigationIssue(occurrence('A'))).toMatchObject({ state: 'capped' });
    expect(peer.issues().map(({ body }) => sessionsIn(body))).toEqual([['B'], ['A']]);
  });
});

describe('an incident that is in the roll-up issue because of the cap', () => {
  test('stays there although its own POST had failed before', async () => {
    const { peer, clock, successor } = await scene();
    peer.inject({ kind: 'status', status: 403, ...CREATE });
    expect(await successor().createInvestigationIssue(occurrence('A'))).toMatchObject({ state: 'pending' });
    await successor().createInvestigationIssue(occurrence('B', 'crash'));
    const { state, url } = await successor().createInvestigationIssue(occurrence('A'));
    expect([state, url]).toEqual(['capped', peer.issues()[1]?.url]);
    await clock.advance(2 * HOUR);
    await successor().createInvestigationIssue(occurrence('C'));
    const ended = occurrence('A', 'silence', { done: 'It recovered.' });
    expect(await successor().createInvestigationIssue(ended)).toMatchObject({ state: 'capped', url });
    expect(peer.issues().map(({ body }) => sessionsIn(body))).toEqual([['B'], ['A'], ['C']]);
    expect(peer.issues()[1]?.body).toContain('It recovered.');
  });

  test('stays there as well if the answer to the POST of that issue was lost and the hour has passed', async () => {
    const { peer, clock, successor } = await scene();
    await successor().createInvestigationIssue(occurrence('A'));
    peer.inject({ kind: 'lost_answer', ...CREATE });
    expect(await successor().createInvestigationIssue(occurrence('B', 'crash'))).toMatchObject({
      state: 'ambiguous',
    });
    await clock.advance(2 * HOUR);
    expect(await successor().createInvestigationIssue(occurrence('B', 'crash'))).toEqual({
      state: 'capped',
      url: peer.issues()[1]?.url,
      retry_at: null,
      error: null,
    });
    expect(peer.issues().map(({ body }) => sessionsIn(body))).toEqual([['A'], ['B']]);
  });
});
