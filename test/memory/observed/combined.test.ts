import { expect, test } from '@jest/globals';
import { combinedState } from '../../../memory/observed/combined.js';
import { Observed } from '../../../memory/observed/observed.js';
import { isoTime, SECOND } from '../../../src/time.js';
import { WorklogScene } from '../worklogScene.js';

const MANY = 2_500;

test('what was declared and what was observed have one bound together, with counts for the rest', () => {
  const { log, write } = sceneOf();
  const fold = new Observed();
  const take = (event: string, index: number, fields: object) =>
    fold.take({ event, timestamp: isoTime(Date.UTC(2026, 0) + index * SECOND), ...fields } as never);
  write('file', { path: 'declared.ts', to: 'working' });
  for (let index = 0; index < 150; index += 1) write('error', { type: 'runtime', message: `declared ${index}` });
  for (let index = 0; index < MANY; index += 1) {
    take('files', index, { created: [`f${index}`] });
    const call = { tool_use_id: `c${index}`, tool_name: 'Bash', agent_id: `a${index}` };
    take('pre_tool_use', index, call);
    take('post_tool_use', index, { ...call, outcome: 'failed' });
    take('usage', index, { agent_id: `a${index}`, message_id: `m${index}`, input: 1, output: 0, cached: 0 });
  }
  const state = combinedState(log, 0, { isUnseen: false, observed: 'transcript', fold });
  const { files, errors, agents, tokens } = state;
  expect(Object.keys(files)).toHaveLength(2_000);
  expect(files).toMatchObject({ 'declared.ts': { status: 'working' }, [`f${MANY - 1}`]: { change: 'created' } });
  expect(errors).toHaveLength(200);
  expect(agents).toHaveLength(200);
  expect(Object.keys(tokens.by_agent)).toHaveLength(200);
  expect(tokens).toMatchObject({ total: { input: MANY } });
  expect(state.more).toEqual({
    files: MANY + 1 - 2_000,
    errors: MANY + 150 - 200,
    agents: MANY - 200,
    tokens: MANY - 200,
  });
});

test('declaring a file hides nothing that was observed of it', () => {
  const { log, write } = sceneOf();
  const fold = new Observed();
  const at = Date.UTC(2026, 0);
  write('file', { path: 'two.txt', to: 'done', step: '2' });
  write('file', { path: 'said.txt', to: 'done' });
  fold.take({ event: 'files', timestamp: isoTime(at), created: ['two.txt', 'one.txt'] } as never);
  expect(combinedState(log, 0, { isUnseen: false, observed: 'transcript', fold }).files).toMatchObject({
    'one.txt': { change: 'created', status: null },
    'two.txt': { change: 'created', at, status: 'done', step: '2' },
    'said.txt': { status: 'done' },
  });
});

function sceneOf() {
  const scene = new WorklogScene();
  const write = (event: string, fields: Record<string, unknown>) => scene.write(event, fields);
  write('session_started', { session_id: 's', purpose: 'p' });
  return { log: scene.log, write };
}

test('calls that were refused or stopped are among the errors of the record, with their outcome', () => {
  const fold = new Observed();
  const [failed, refused] = ['failed', 'rejected'].map((outcome, index) => {
    const call = { tool_use_id: `c${index}`, tool_name: 'Bash', tool_input: { command: 'ls' } };
    const line = (event: string, more = {}) =>
      fold.take({ event, timestamp: isoTime(Date.UTC(2026, 0) + index * SECOND), ...call, ...more } as never);
    line('pre_tool_use');
    line('post_tool_use', { outcome });
    return outcome;
  });
  const { errors } = combinedState(sceneOf().log, 0, { isUnseen: false, observed: 'transcript', fold });
  expect(errors.map((error) => ('outcome' in error ? error.outcome : null))).toEqual([failed, refused]);
});
