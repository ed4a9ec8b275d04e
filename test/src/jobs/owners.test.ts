import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/host/program.js';
import { INCIDENT_STEPS, REPORT_STATES } from '../../../src/jobs/incidents.js';
import { DELIVERY_STATES, isDelivered, SESSION_STATUSES } from '../../../src/jobs/model.js';
import { codeSpans, tableBelow } from '../../docs/markdown.js';
import {
  DELIVERY_OWNERS,
  HOLD_OWNERS,
  INCIDENT_OWNERS,
  OUTAGE_OWNERS,
  type Owner,
  REPORT_OWNERS,
  SESSION_OWNERS,
} from './owners.js';

const ROOT = packageRoot();

/** The ends, once more and on purpose: whoever makes a state an end has to mean it. */
const MACHINES: readonly [name: string, owners: Readonly<Record<string, Owner | null>>, ends: readonly string[]][] = [
  ['session', SESSION_OWNERS, ['completed', 'failed', 'cancelled']],
  ['final message', DELIVERY_OWNERS, ['sent', 'unknown', 'given_up']],
  ['incident', INCIDENT_OWNERS, ['closed']],
  ['report', REPORT_OWNERS, ['filed', 'joined', 'capped', 'given_up']],
  ['outage', OUTAGE_OWNERS, []],
  ['held message', HOLD_OWNERS, []],
];
const END = 'nobody: an end';

describe('every state', () => {
  // rule: every-state-has-one-owner
  test.each(MACHINES)(
    'of a %s has exactly one owner, whose file exists, unless the state is an end',
    (_, owners, ends) => {
      for (const [state, owner] of Object.entries(owners)) {
        expect([state, owner === null]).toEqual([state, ends.includes(state)]);
        if (owner !== null) expect([state, existsSync(join(ROOT, owner.place))]).toEqual([state, true]);
      }
    },
  );

  test('of the model is in the table', () => {
    const known = [SESSION_OWNERS, DELIVERY_OWNERS, INCIDENT_OWNERS, REPORT_OWNERS].map((owners) =>
      Object.keys(owners),
    );
    const all = [SESSION_STATUSES, DELIVERY_STATES, INCIDENT_STEPS, REPORT_STATES];
    expect(known.map((states) => states.sort())).toEqual(all.map((states) => [...states].sort()));
  });

  test('of a final message is delivered if nobody owns it', () => {
    for (const state of DELIVERY_STATES) expect([state, isDelivered(state)]).toEqual([state, !DELIVERY_OWNERS[state]]);
  });

  // rule: every-state-has-one-owner
  test('is in the document once, with its owner in the code', () => {
    const rows = tableBelow(
      readFileSync(join(ROOT, 'docs/internals/owners.md'), 'utf8'),
      '## Every state has one owner',
    );
    const told = rows.flatMap(([first = '', second = '']) => {
      const machine = first.split('`')[0]?.trim() ?? '';
      const owner = second.startsWith(END) ? END : second;
      return MACHINES.some(([name]) => name === machine)
        ? codeSpans(first).map((state) => `${machine} ${state}: ${owner}`)
        : [];
    });
    const meant = MACHINES.flatMap(([machine, owners]) =>
      Object.entries(owners).map(([state, owner]) => `${machine} ${state}: ${owner?.name ?? END}`),
    );
    expect(told.sort()).toEqual(meant.sort());
  });
});
