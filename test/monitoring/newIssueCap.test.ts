/** A project gets one new issue an hour, whatever becomes of the answers to the requests that create them. */
import { describe, expect, test } from '@jest/globals';
import type { ReportOutcome } from '../../monitoring/incident/report.js';
import type { Rule } from '../../src/findings.js';
import { HOUR, MINUTE, SECOND } from '../../src/time.js';
import type { GithubFault } from '../peers/github/faults.js';
import { CREATE, going, occurrence, type Scene, scene, sessionsIn } from './reportScene.js';

/** Each report by another process: they share the records only. @returns the outcome when it asks for no other try */
async function reportUntilOver({ clock, successor }: Scene, id: string, rule: Rule): Promise<ReportOutcome> {
  for (;;) {
    const outcome = await successor().createInvestigationIssue(occurrence(id, rule), going);
    if (outcome.retry_at === null) return outcome;
    await clock.advance(Math.max(outcome.retry_at - clock.now(), SECOND));
  }
}

describe('a rule that comes while the answer to the POST of another rule is lost', () => {
  test('joins the issue that was made: one within the hour, also for a third rule', async () => {
    const opened = await scene();
    const { peer, clock, successor, posts } = opened;
    peer.inject({ kind: 'lost_answer', ...CREATE });
    const begun = clock.now();
    const ambiguous = await successor().createInvestigationIssue(occurrence('A'), going);
    expect(ambiguous.state).toBe('ambiguous');
    const capped = { state: 'capped', url: peer.issues()[0]?.url, retry_at: null, error: null };
    expect(await successor().createInvestigationIssue(occurrence('B', 'crash'), going)).toEqual(capped);
    expect(await successor().createInvestigationIssue(occurrence('C', 'loop'), going)).toEqual(capped);
    expect(await reportUntilOver(opened, 'A', 'silence')).toMatchObject({ state: 'filed', url: capped.url });
    await clock.advance(begun + HOUR - 1 - clock.now());
    expect(await successor().createInvestigationIssue(occurrence('D', 'orphan'), going)).toEqual(capped);
    expect(posts()).toBe(1);
    expect(sessionsIn(peer.issues()[0]?.body).sort()).toEqual(['A', 'B', 'C', 'D']);
    await clock.advance(1);
    expect(await successor().createInvestigationIssue(occurrence('E', 'crash'), going)).toMatchObject({
      state: 'filed',
    });
  });

  const unmade: readonly [string, GithubFault][] = [
    ['the connection broke', { kind: 'reset', ...CREATE }],
    ['a gateway failed', { kind: 'status', status: 502, ...CREATE }],
  ];

  test.each(unmade)('waits until it is filed where none was made: %s', async (_name, fault) => {
    const opened = await scene();
    const { peer, clock, successor, posts } = opened;
    const begun = clock.now();
    peer.inject(fault);
    expect((await successor().createInvestigationIssue(occurrence('A'), going)).state).toBe('ambiguous');
    const waiting = await successor().createInvestigationIssue(occurrence('B', 'crash'), going);
    expect(waiting).toMatchObject({ state: 'capped', url: null, retry_at: begun + 2 * MINUTE + 15 * SECOND });
    expect(posts()).toBe(1);
    const { url } = await reportUntilOver(opened, 'A', 'silence');
    expect(await reportUntilOver(opened, 'B', 'crash')).toEqual({ state: 'capped', url, retry_at: null, error: null });
    expect(clock.now() - begun).toBeLessThan(3 * MINUTE);
    expect(peer.issues()).toHaveLength(1);
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['B', 'A']);
  });

  test('files its own after the hour though nobody came back to find out', async () => {
    const { peer, clock, successor } = await scene();
    peer.inject({ kind: 'reset', ...CREATE });
    await successor().createInvestigationIssue(occurrence('A'), going);
    await clock.advance(HOUR);
    expect(await successor().createInvestigationIssue(occurrence('B', 'crash'), going)).toMatchObject({
      state: 'filed',
    });
    expect(peer.issues()).toHaveLength(1);
  });
});

describe('two rules that two hosts file in the same moment', () => {
  test('make one new issue: of two that see each other announced neither posts, and the later joins', async () => {
    const { peer, clock, records, successor, posts } = await scene();
    const [first, second] = [successor(), successor()];
    let other: Promise<ReportOutcome> | null = null;
    records.meanwhile = async () => {
      // Both have found the hour free; the other one goes out first.
      const isOut = peer.waitFor(() => posts() === 1);
      other = second.createInvestigationIssue(occurrence('B', 'crash'), going);
      await isOut;
    };
    const waiting = await first.createInvestigationIssue(occurrence('A'), going);
    const { url } = await (other ?? Promise.reject(new Error('the other host did not come')));
    expect(waiting).toMatchObject({ state: 'pending', url: null });
    await clock.advance(5 * SECOND);
    expect(await first.createInvestigationIssue(occurrence('A'), going)).toMatchObject({ state: 'capped', url });
    expect(peer.issues()).toHaveLength(1);
    expect(sessionsIn(peer.issues()[0]?.body)).toEqual(['A', 'B']);
  });
});

describe('an incident that joined the issue of another rule because of the cap', () => {
  test('stays there though its own POST had failed before', async () => {
    const { peer, clock, successor } = await scene();
    peer.inject({ kind: 'status', status: 403, ...CREATE });
    expect(await successor().createInvestigationIssue(occurrence('A'), going)).toMatchObject({ state: 'pending' });
    const { url } = await successor().createInvestigationIssue(occurrence('B', 'crash'), going);
    expect(await successor().createInvestigationIssue(occurrence('A'), going)).toMatchObject({ state: 'capped', url });
    await clock.advance(2 * HOUR);
    const ended = occurrence('A', 'silence', { done: 'It recovered.' });
    expect(await successor().createInvestigationIssue(ended, going)).toMatchObject({ state: 'capped', url });
    expect(peer.issues()).toHaveLength(1);
    expect(peer.issues()[0]?.body).toContain('It recovered.');
  });
});
