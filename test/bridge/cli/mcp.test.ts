/** `mcp --call`: a tool from a shell. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { command } from '../../../bridge/cli/mcp.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { runCommand } from './inProcess.js';
import { watchkeeper } from './program.js';
import { WorkScene } from './work/scene.js';

let scene: WorkScene;

beforeEach(() => {
  scene = new WorkScene();
});

const worklogOf = (id: string) => join(scene.home, 'sessions', id, 'worklog.jsonl');

async function call(tool: string, piped: string, variables: Readonly<Record<string, string>> = {}) {
  const surroundings = {
    directory: scene.directory,
    process: readProcessIdentity('host'),
    variables: { WATCHKEEPER_HOME: scene.home, PATH: process.env.PATH ?? '', ...variables },
  };
  const { code, out, err } = await runCommand(command, ['--call', tool], { surroundings, piped });
  return { code, value: JSON.parse(out), err };
}

test('prints the result as JSON, and writes as its caller', async () => {
  const id = await scene.begin('T');
  const { code, value, err } = await call('add_note', '{"text": "the API wants UTC", "priority": "high"}');
  expect({ code, value, err }).toEqual({ code: 0, value: { session_id: id, priority: 'high' }, err: '' });
  await call('add_note', '{"text": "by an agent"}', { CLAUDECODE: '1' });
  const lines = readFileSync(worklogOf(id), 'utf8').trim().split('\n').slice(-2);
  expect(lines.map((line) => JSON.parse(line).origin)).toEqual(['person', 'agent']);
});

test('takes no input for no arguments', async () => {
  expect(await call('get_session_status', ' \n')).toMatchObject({ code: 0, value: { exists: false } });
});

test.each([
  ['{"txt": "a"}', 2, 'usage', 'unknown field "txt"; did you mean "text"?'],
  ['{"text": 7}', 2, 'usage', 'text: '],
  ['{"text": "a", "session_id": 7}', 2, 'usage', 'session_id: '],
  ['["a"]', 2, 'usage', 'the arguments of a tool are an object'],
  ['{"text": "a"}', 2, 'usage', 'no session holds '],
])('answers %s with exit %i and the code %s', async (piped, code, word, beginning) => {
  const answer = await call('add_note', piped);
  expect(answer).toMatchObject({ code, value: { code: word, message: expect.stringContaining(beginning) } });
  expect(answer.err).toContain(beginning);
});

test('answers a refusal with exit 1 and its code', async () => {
  await scene.begin('T');
  expect(await call('checkpoint', '{"drop": "a"}')).toMatchObject({ code: 1, value: { code: 'unknown_checkpoint' } });
});

test('answers with exit 3 if the record cannot be read', async () => {
  const id = await scene.begin('T');
  rmSync(worklogOf(id));
  mkdirSync(worklogOf(id));
  const answer = await call('add_note', JSON.stringify({ text: 'a', session_id: id }));
  expect(answer).toMatchObject({ code: 3, value: { code: 'unreachable' } });
});

test('refuses what is no JSON', async () => {
  const surroundings = { directory: scene.directory, process: readProcessIdentity('host'), variables: {} };
  const asked = runCommand(command, ['--call', 'add_note'], { surroundings, piped: '{"text": ' });
  await expect(asked).rejects.toThrow('standard input is not JSON');
});

test('prints what cannot be read as JSON, too', () => {
  const { code, out } = watchkeeper(scene.directory, ['mcp', '--call'], {});
  expect({ code, out }).toEqual({ code: 2, out: '' });
  const unknown = watchkeeper(scene.directory, ['mcp', '--call', 'add_nte'], { HOME: scene.directory });
  expect(unknown.code).toBe(2);
  expect(JSON.parse(unknown.out)).toMatchObject({ code: 'usage', message: expect.stringContaining('"add_note"') });
});
