// covers: memory/handoffs/outcome.ts
import { expect, test } from '@jest/globals';
import { Handoffs } from '../../../memory/handoffs/handoffs.js';
import { handoffKind } from '../../../memory/handoffs/kind.js';
import { noteOutcome } from '../../../memory/handoffs/outcome.js';
import { offerHandoff } from '../../../memory/verbs/createHandoff.js';
import { scratch } from '../verbs/asked.js';

test('an end that is noted again, after its author has read it, is not told again', async () => {
  const scene = scratch();
  const given = { title: 'Fix', learnings: ['a'], next: ['b'] };
  const id = String((await scene.asked(offerHandoff, given)).handoff_id);
  const memory = scene.memory();
  const line = handoffKind.line('accepted', { as: 'follow', session_id: 'cli_p_1', workspace: memory.workspace.id });
  new Handoffs(memory).answer(id, line, () => false);
  const note = () => noteOutcome(memory, {}, id, { session_id: 'cli_p_1_r1', ended: 'answered' });
  const told = () => memory.claims.takeReports(memory.workspace, 'ses_reader');
  note();
  expect(told()).toEqual([expect.stringContaining('session cli_p_1_r1 took it, and answered')]);
  note();
  expect(told()).toEqual([]);
});
