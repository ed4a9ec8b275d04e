/** How far an incident got, as the lists say it. */
import { describe, expect, test } from '@jest/globals';
import { laterEnd, openStep } from '../../../bridge/cli/incidents.js';
import { newIncident } from '../../../monitoring/incident/newIncident.js';
import { findCrash } from '../../../monitoring/verdict/detectors/crash.js';
import { DEFAULT_ACTIONS } from '../../../src/config/projects.js';
import { type Incident, isIncident } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { ManualClock } from '../../harness/clock.js';

function incidentOf(changes: Partial<Incident>): Incident {
  const session = { session_id: 'tg_boat_1_2', project_key: 'boat', attempt: 1 } as AgentSession;
  const facts = { session, findings: [findCrash('run_failed_exit_1', 0)], actions: DEFAULT_ACTIONS };
  return { ...newIncident(new ManualClock(), { ...facts, toolCount: 1, lastToolCall: null }), ...changes };
}

function attempt(status: AgentSession['status']): AgentSession {
  return { session_id: 'tg_boat_1_2_r1', status } as AgentSession;
}

describe('an open incident', () => {
  test.each([
    ['active', 'revived: the second attempt is running'],
    ['pending', 'revived: the second attempt waits'],
  ] as const)('whose second attempt is %s says so', (status, words) => {
    expect(openStep(incidentOf({ step: 'revived' }), attempt(status))).toBe(words);
  });

  test('says its step otherwise', () => {
    expect(openStep(incidentOf({ step: 'revived' }), null)).toBe('revived');
    expect(openStep(incidentOf({ step: 'stopping' }), null)).toBe('stopping');
  });
});

describe('an incident of an earlier version, closed at the first call of its second attempt', () => {
  const failed_later = { incident_id: 'B', rule: 'crash', url: null } as const;
  const closed = incidentOf({
    step: 'closed',
    outcome: 'recovered',
    revival_session_id: 'tg_boat_1_2_r1',
    failed_later,
  });

  test('is still read', () => {
    expect(isIncident(JSON.parse(JSON.stringify(closed)))).toBe(true);
  });

  test('says how that attempt ended', () => {
    const failed = 'the second attempt was at work again, but failed later, without an answer';
    expect(laterEnd(closed, attempt('failed'))).toBe(failed);
    expect(laterEnd(closed, attempt('cancelled'))).toBe('the second attempt was cancelled later, without an answer');
    expect(laterEnd(closed, attempt('completed'))).toBeNull();
    expect(laterEnd(incidentOf({ step: 'closed', outcome: 'told' }), attempt('failed'))).toBeNull();
  });
});
