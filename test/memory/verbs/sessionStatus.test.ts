import { expect, test } from '@jest/globals';
import { createSession } from '../../../memory/verbs/createSession.js';
import { sessionStatus } from '../../../memory/verbs/sessionStatus.js';
import { transitionPhase } from '../../../memory/verbs/transitionPhase.js';
import { scratch } from './asked.js';

const PHASES = [
  { id: 1, name: 'Design' },
  { id: 2, name: 'Build', blocked_by: [1] },
  { id: 3, name: 'Write' },
];

test('it says that there is no session, then what can be started, who works, and what failed', async () => {
  const { asked, directory } = scratch();
  expect(await asked(sessionStatus, {})).toEqual({ exists: false, workspace: directory });
  await asked(createSession, { task: 'Ship it', phases: PHASES });
  const next = (...ids: string[]) => ids.map((step) => expect.objectContaining({ step }));
  expect(await asked(sessionStatus, {})).toMatchObject({ exists: true, holders: [], next: next('1', '3') });
  await asked(transitionPhase, { next_phase_id: 1, agent: 'architect' });
  expect(await asked(sessionStatus, {})).toMatchObject({
    holders: [{ phase: '1', agent: 'architect', words: 'agent architect', alive: null }],
    next: next('1'),
  });
  await asked(transitionPhase, { failed_phase_id: 1, error: 'it broke' });
  expect(await asked(sessionStatus, {})).toMatchObject({
    holders: [],
    unresolved_errors: [{ message: 'it broke', step: '1' }],
    conflicts: [],
    unattributed_changes: [],
    next: next('1', '3'),
  });
});
