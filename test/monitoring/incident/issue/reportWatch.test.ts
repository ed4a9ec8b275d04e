/** What an operator learns of a GitHub that refuses reports: once when it begins, and once when it is over. */
import { expect, test } from '@jest/globals';
import { checkReports } from '../../../../bridge/doctor/redisExamination.js';
import { asSinkError } from '../../../../monitoring/incident/issue/githubRepository.js';
import { ReportWatch } from '../../../../monitoring/incident/issue/reportWatch.js';
import type { CriticalEvent } from '../../../../src/jobs/incidents.js';
import { createLogger } from '../../../../src/log/logger.js';
import { HOUR } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import { openSagaScene } from '../saga/sagaScene.js';
import { occurrence, REPOSITORY, scene } from './reportScene.js';

const REVOKED = {
  kind: 'status',
  status: 401,
  body: { message: 'Bad credentials' },
  times: Number.POSITIVE_INFINITY,
} as const;

describeWithRedis('a GitHub that refuses reports', () => {
  // rule: refused-reports-are-said-once
  test('is said in the log, as an event and by the doctor once, whoever reports; and again when it is over', async () => {
    const { store } = await openSagaScene();
    const { peer, clock, successor } = await scene();
    const told: CriticalEvent[] = [];
    const lines: string[] = [];
    const logger = createLogger({
      level: 'info',
      redact: (text) => text,
      clock,
      destinations: [{ write: (line: string) => void lines.push(line), flush: () => undefined }] as never,
    });
    const watched = () => {
      const events = { logCriticalEvent: async (event: CriticalEvent) => void told.push(event) };
      const watch = new ReportWatch({ troubles: store.reportTroubles, events, clock, logger } as never, REPOSITORY);
      return successor({ watch });
    };
    const refusal = peer.inject(REVOKED);
    expect(await watched().createInvestigationIssue(occurrence('A'))).toMatchObject({ refused: true });
    await clock.advance(2 * HOUR);
    // Another process, or the same one after a restart.
    await watched().createInvestigationIssue(occurrence('B', 'crash'));
    expect(told).toMatchObject([
      {
        event: 'reports_refused',
        final: false,
        details: { repository: REPOSITORY, words: expect.stringMatching(/401.*GITHUB_TOKEN/) },
      },
    ]);
    const said = () => lines.filter((line) => line.includes('cannot be filed'));
    expect(said()).toHaveLength(1);
    expect(await checkReports(store, clock)).toMatchObject([
      {
        verdict: 'fault',
        found: expect.stringMatching(/2 hours.*401.*GITHUB_TOKEN/),
        // With a new token, the check of GitHub is fine before this one is.
        remedy: expect.stringContaining('then this line goes'),
      },
    ]);

    // Behind the mended cause there is another one.
    refusal.remove();
    const switchedOff = peer.inject({
      ...REVOKED,
      status: 410,
      path: /issues$/,
      method: 'POST',
      body: { message: 'Issues are disabled for this repo' },
    });
    for (const id of ['A', 'B']) await watched().createInvestigationIssue(occurrence(id));
    expect(said().slice(1)).toEqual([expect.stringMatching(/410.*issues are disabled/)]);
    expect(await checkReports(store, clock)).toMatchObject([{ found: expect.stringMatching(/2 hours.*410/) }]);
    expect(told).toHaveLength(1);

    switchedOff.remove();
    for (const id of ['A', 'B']) await watched().createInvestigationIssue(occurrence(id));
    expect(told.slice(1)).toMatchObject([{ event: 'reports_refused', final: true, incident_id: told[0]?.incident_id }]);
    expect(lines.filter((line) => line.includes('are filed again, after 2 hours'))).toHaveLength(1);
    expect(await checkReports(store, clock)).toEqual([]);
  });
});

test('an archived repository is not blamed on the rights of the token', () => {
  const refused = (message: string) =>
    asSinkError(
      Object.assign(new Error(message), { response: { status: 403, headers: {} } }),
      'once',
      'acme/archived',
      0,
    ).message;
  expect(refused('Repository was archived so is read-only.')).toMatch(/unarchive it, or name another one$/);
  expect(refused('Resource not accessible by personal access token')).toContain('its right to write issues');
});
