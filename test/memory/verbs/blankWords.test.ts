// covers: memory/verbs/fields.ts memory/verbs/records.ts memory/verbs/change.ts
/** Words of blanks say nothing: models fill fields with them that they have nothing for. They never replace what is known. */
import { expect, test } from '@jest/globals';
import { changeSession } from '../../../memory/verbs/change.js';
import { checkpoint } from '../../../memory/verbs/checkpoint.js';
import { createSession } from '../../../memory/verbs/createSession.js';
import { recordError, recordTokens } from '../../../memory/verbs/records.js';
import { resumeSession } from '../../../memory/verbs/resumeSession.js';
import { set } from '../../../memory/verbs/set.js';
import { transitionPhase } from '../../../memory/verbs/transitionPhase.js';
import type { AnyVerb } from '../../../memory/verbs/verb.js';
import { type Scratch, scratch } from './asked.js';

const PHASES = [
  { id: 1, name: 'Design', agents: ['architect', ' ', ''] },
  { id: 2, name: 'Build', agent: ' ' },
];

async function planned(): Promise<Scratch> {
  const scene = scratch();
  await scene.asked(createSession, { task: 'Ship it', phases: PHASES, execution_mode: ' ' });
  return scene;
}

const stateIn = ({ memory }: Scratch) => memory().which(null).log.state;
const stepIn = (scene: Scratch, id: string) => stateIn(scene).steps.get(id);

test('a plan has no agents without a name', async () => {
  const scene = await planned();
  expect([stepIn(scene, '1')?.agents, stepIn(scene, '2')?.agents]).toEqual([['architect'], []]);
  expect(stateIn(scene).facts?.set.execution_mode).toBeUndefined();
});

test('a person who skips a phase has given a reason, whichever tool says so', async () => {
  const scene = await planned();
  const skip = { decision: 'skip', phase_id: 1, decided_by: 'person', reason: ' \n' };
  expect(await scene.asked(resumeSession, skip)).toMatchObject({ code: 'person_needed' });
  await scene.asked(resumeSession, { decision: 'retry', phase_id: 1, agent: ' ' });
  expect(stepIn(scene, '1')).toMatchObject({ status: 'in_progress', agent: null });
});

test('completing again with a blank output keeps the output', async () => {
  const scene = await planned();
  await scene.asked(transitionPhase, { next_phase_id: 1 });
  await scene.asked(transitionPhase, { completed_phase_id: 1, output: 'it is built' });
  await scene.asked(transitionPhase, { completed_phase_id: 1, output: ' ', validation: { passed: true, details: '' } });
  expect(stepIn(scene, '1')).toMatchObject({ output: 'it is built', validation: { passed: true } });
  expect(stepIn(scene, '1')?.validation?.details).toBeUndefined();
});

test('an error and tokens are of no agent without a name', async () => {
  const scene = await planned();
  await scene.asked(transitionPhase, { next_phase_id: 1 });
  const error = { type: 'runtime', message: 'it broke', agent: '', resolution: ' ' };
  await scene.asked(transitionPhase, { failed_phase_id: 1, error, token_usage: { agent: '', input: 3 } });
  const { errors, tokens } = stateIn(scene);
  expect(errors).toMatchObject([{ agent: null, message: 'it broke', resolution: 'pending' }]);
  expect([...tokens.keys()]).not.toContain('');
});

const REFUSED: readonly (readonly [AnyVerb, object])[] = [
  [changeSession, { purpose: '  ' }],
  [changeSession, { name: ' ' }],
  [set, { pairs: ['purpose= '] }],
  [recordError, { message: ' ' }],
  [recordError, { message: 'it broke', agent: ' ' }],
  [recordTokens, { agent: ' ', input: 1 }],
  [checkpoint, { name: ' ' }],
];

test.each(REFUSED.map(([verb, given]) => ({ name: verb.name, verb, given })))(
  '$name is refused where words are needed: $given',
  async ({ verb, given }) => {
    const scene = await planned();
    const { lines } = scene.memory().which(null).log.counts;
    expect(await scene.asked(verb, given)).toMatchObject({ code: 'usage' });
    expect(scene.memory().which(null).log.counts.lines).toBe(lines);
  },
);
