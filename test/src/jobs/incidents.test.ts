import { describe, expect, test } from '@jest/globals';
import { type Incident, isIncident } from '../../../src/jobs/incidents.js';

const INCIDENT: Incident = {
  incident_id: '01J',
  session_id: 's1',
  project_key: 'popoto',
  rule: 'silence',
  findings: [
    {
      rule: 'silence',
      reason: 'silent_for_15_minutes',
      since: '2026-11-20T09:00:00Z',
      evidence: [],
      waits_considered: [],
    },
  ],
  step: 'opened',
  acting: true,
  not_revived_because: null,
  attempt: 1,
  last_tool_call: null,
  tool_count: 3,
  revival_session_id: null,
  report: { state: 'pending', url: null, tries: 0, due_at: 0, last_error: null },
  opened_at: 0,
  detected_at: null,
  stopping_at: null,
  closed_at: null,
  outcome: null,
  last_action: 'detected',
  rev: 1,
};

function stored(changes: object): unknown {
  return JSON.parse(JSON.stringify({ ...INCIDENT, ...changes }));
}

describe('the record of an incident', () => {
  test.each([
    ['of a run', {}],
    ['of a queue', { subject: { kind: 'queue', host: 'deck' } }],
    [
      'of an outage',
      { course: { phase: 'down', has_members: true, probes: 0, next_probe_at: 0, out: null, out_since: null } },
    ],
    ['that waits for an outage', { hold: { incident_id: '01K', state: 'held', is_told: true } }],
    ['that is closed', { step: 'closed', outcome: 'revival_cancelled', closed_at: 1 }],
    ['with a field of a later version', { colour: 'red' }],
  ])('%s is read', (_what, changes) => {
    expect(isIncident(stored(changes))).toBe(true);
  });

  test.each([
    ['an unknown step', { step: 'resting' }],
    ['a misspelt outcome', { outcome: 'revival_canceled' }],
    ['an unknown rule', { rule: 'sloth' }],
    ['a subject without its lane', { subject: { kind: 'lane' } }],
    ['a report without its time', { report: { ...INCIDENT.report, due_at: undefined } }],
    ['no findings', { findings: undefined }],
    ['a third attempt', { attempt: 3 }],
  ])('with %s is unreadable', (_what, changes) => {
    expect(isIncident(stored(changes))).toBe(false);
  });
});
