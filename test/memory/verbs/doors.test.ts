// covers: memory/verbs/verb.ts memory/verbs/fields.ts bridge/verbs/commandWord.ts bridge/verbs/verbsCommand.ts bridge/verbs/askVerb.ts
/** One definition of a verb serves every door: here the command line, and a toy that takes JSON, one request a line. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { command as track } from '../../../bridge/cli/track/track.js';
import { Memory } from '../../../memory/sessions/memory.js';
import { init } from '../../../memory/verbs/begin.js';
import { checkpoint } from '../../../memory/verbs/checkpoint.js';
import { file } from '../../../memory/verbs/file.js';
import { end } from '../../../memory/verbs/lifecycle.js';
import { log, note, ping } from '../../../memory/verbs/notes.js';
import { step } from '../../../memory/verbs/step.js';
import { type AnyVerb, ask } from '../../../memory/verbs/verb.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';
import { runCommand } from '../../bridge/cli/inProcess.js';
import { testFolder } from '../../harness/folder.js';
import { DOOR } from './asked.js';

// The toy door, whole.
const VERBS: Readonly<Record<string, AnyVerb>> = { init, step, file, log, note, ping, checkpoint, end };
async function answer(memory: Memory, request: string): Promise<string> {
  const { verb = '', ...input } = JSON.parse(request);
  const found = VERBS[verb];
  if (found === undefined) return JSON.stringify({ error: `unknown: ${verb}` });
  return ask(found, memory, input, DOOR).then(
    ({ value, verdict }) => JSON.stringify({ value, verdict }),
    (error: Error) => JSON.stringify({ error: error.message }),
  );
}

let folder = '';
let directory = '';
const surroundings = () => ({
  directory,
  process: readProcessIdentity('host'),
  variables: { WATCHKEEPER_HOME: folder, ...(process.env.PATH && { PATH: process.env.PATH }) },
});

beforeEach(() => {
  folder = join(testFolder(), 'home');
  directory = join(testFolder(), 'work');
  mkdirSync(directory, { recursive: true });
});

async function through(requests: readonly object[]): Promise<{ value?: unknown; error?: string; verdict?: string }[]> {
  const answers = [];
  for (const request of requests) {
    const memory = new Memory({ surroundings: surroundings(), folder: null, clock: systemClock, redact: redactShapes });
    answers.push(JSON.parse(await answer(memory, JSON.stringify(request))));
  }
  return answers;
}

describe('a door of JSON lines', () => {
  test('does what the command line does, and the command line shows what it did', async () => {
    const [begun, started, noted] = await through([
      { verb: 'init', task: 'Fix the login', step: ['Find the cause', 'Test it'] },
      { verb: 'step', step: '1', to: 'in_progress', file: ['src/login.ts'] },
      { verb: 'note', text: 'the API wants UTC', priority: 'critical' },
    ]);
    expect(begun?.value).toMatchObject({ steps: 2 });
    expect(started?.value).toEqual({ step: '1', status: 'in_progress' });
    expect(noted?.value).toMatchObject({ priority: 'critical' });
    const { out, code } = await runCommand(track, ['status', '--json'], { surroundings: surroundings() });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      purpose: 'Fix the login',
      notes: [{ text: 'the API wants UTC', priority: 'critical' }],
    });
  });

  test('refuses what is no field, misses one, or has another type, and changes nothing', async () => {
    const answers = await through([
      { verb: 'init', task: 'Fix the login' },
      { verb: 'log', mesage: 'done' },
      { verb: 'log', message: '  ' },
      { verb: 'step', step: 1, to: 'in_progress' },
      { verb: 'step', step: '1', to: 'finished' },
      { verb: 'checkpoint', name: 'a', list: 'yes' },
    ]);
    expect(answers.slice(1).map(({ error }) => error)).toEqual([
      'unknown field "mesage"; did you mean "message"?',
      expect.stringContaining('what should be logged?'),
      expect.stringContaining('step: '),
      expect.stringContaining('to: '),
      expect.stringContaining('list: '),
    ]);
    const { out } = await runCommand(track, ['status', '--json'], { surroundings: surroundings() });
    expect(JSON.parse(out)).toMatchObject({ steps: [], log: { lines: 1 } });
  });
});
