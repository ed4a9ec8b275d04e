// covers: memory/keeping/sessionText.ts memory/show/shown.ts memory/observed/commits.ts memory/observed/prompt.ts memory/verbs/list.ts
/** What a person reads of sessions that recorded themselves, and what a program gets of a refusal. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { command as work } from '../../../../bridge/cli/work/work.js';
import { endRun } from '../../../../memory/programs/runEnd.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { HOUR, localDay, localTime, MINUTE } from '../../../../src/time.js';
import { SessionScene } from '../../../contracts/sessionScenes.js';
import { testFolder } from '../../../harness/folder.js';
import { asks, calls, returns, START, says } from '../../../src/transcripts/told.js';
import { runCommand } from '../inProcess.js';
import { watchkeeperAgain } from '../manyCalls.js';
import { WorkScene } from './scene.js';

const HERE = readProcessIdentity('host');
const ZONE = 'Asia/Kathmandu';

/** An hour ago: two prompts, a list of tasks, a call that fails, a commit, an answer. */
function worked() {
  const from = (Date.now() - HOUR - START) / 1_000;
  const todos = (status: string) => ({ todos: [{ content: 'Sand it', status, activeForm: 'Sanding' }] });
  return [
    asks(from, 'Paint the door'),
    calls(from + 1, 't1', 'TodoWrite', todos('pending')),
    returns(from + 2, 't1'),
    calls(from + 3, 't2', 'Bash', { command: 'npm test' }),
    returns(from + 4, 't2', 'Exit code 1\nno paint', true),
    calls(from + 5, 't3', 'Bash', { command: 'git commit -qa -m x; git commit -m "Paint it"' }),
    returns(from + 6, 't3', '[main 1a2b3c4] Paint it\n 1 file changed'),
    says(from + 7, 'Painted.', 'end_turn'),
    asks(from + 60, 'And the frame?'),
    calls(from + 61, 't4', 'TodoWrite', todos('completed')),
    returns(from + 62, 't4'),
    says(from + 63, 'It is green already.', 'end_turn'),
  ];
}

async function recorded(): Promise<SessionScene> {
  const scene = new SessionScene();
  scene.begins(HERE, worked());
  scene.in((memory, session) => endRun(memory, session, HERE, 'prompt_input_exit'));
  await scene.say(work, 'keep', scene.id);
  await scene.say(work, 'rebuild', scene.id);
  return scene;
}

test('the text of a session that recorded itself has its tasks, prompts, calls and commits, also without its transcript', async () => {
  const scene = await recorded();
  const path = join(scene.home, 'sessions', scene.id, 'session.md');
  const text = readFileSync(path, 'utf8');
  const lines = text
    .split('\n')
    .map((line) => line.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, 'TIME'))
    .filter((line) => /^(?:[#-] ?|#+ )/.test(line) && line !== '---');
  expect(lines).toEqual([
    '# Paint the door',
    '## Tasks',
    '- ✓ Sand it',
    '## Prompts',
    '- TIME Paint the door',
    '- TIME And the frame?',
    '## Calls',
    '- TIME TodoWrite: ok',
    '- TIME Bash: npm test: failed',
    '- TIME Bash: git commit -qa -m x; git commit -m "Paint it": ok',
    '- TIME TodoWrite: ok',
    '## Commits',
    '- TIME `1a2b3c4` Paint it',
  ]);
  rmSync(path);
  rmSync(join(scene.home, 'sessions', scene.id, 'observed.json'));
  await scene.say(work, 'rebuild', scene.id);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('work show ends with what the agent did and said last, and has the duration', async () => {
  const scene = await recorded();
  const { out } = await runCommand(work, ['show', scene.id], { surroundings: scene.surroundings });
  const time = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?:UTC|[+-]\d\d:\d\d)/g;
  const lines = out.replace(time, 'TIME').trimEnd().split('\n');
  expect(lines.slice(lines.indexOf('its last commits:'))).toEqual([
    'its last commits:',
    '  TIME  1a2b3c4 Paint it',
    'what the agent did last:',
    '  TIME  TodoWrite',
    '  TIME  Bash: npm test, failed',
    '  TIME  Bash: git commit -qa -m x; git commit -m "Paint it"',
    '  TIME  TodoWrite',
    'its last words: It is green already.',
  ]);
  expect(lines).toContainEqual(expect.stringMatching(/^began TIME; duration \S+/));
  expect(out).not.toMatch(/\d{4}-\d\d-\d\dT/);
});

test('the duration is from the beginning to the end', async () => {
  const scene = new WorkScene();
  const id = await scene.begin('Fix it');
  await scene.say('track', ['done', '--complete']);
  const { created_at, ended_at, end, duration } = await scene.json('work', ['show', id]);
  expect(duration).toBe((ended_at ?? end.at) - created_at);
});

test('a person reads local times with their zone, and ids have the local day', () => {
  const folder = testFolder();
  const home = join(folder, 'home');
  mkdirSync(join(folder, 'work'));
  const say = (...args: string[]) => watchkeeperAgain(join(folder, 'work'), args, { WATCHKEEPER_HOME: home, TZ: ZONE });
  const { session_id: id } = JSON.parse(say('track', 'init', 'T', '--step', 'a', '--json').out);
  const days = [-MINUTE, 0].map((ms) => localDay(Date.now() + ms, 345));
  expect(days.map((day) => `${day}-t`)).toContain(id);
  say('track', 'log', 'x');
  say('track', 'checkpoint', 'c');
  for (const args of [
    ['track', 'status'],
    ['work', 'show', id],
    ['track', 'ping'],
    ['track', 'monitor', '--check'],
    ['track', 'checkpoint', '--list'],
  ]) {
    const { out } = say(...args);
    expect(out).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+05:45/);
    expect(out).not.toMatch(/\d\dZ/);
  }
  expect(say('track', 'status').out).toContain('\n0 of 1 step');
  expect(JSON.parse(say('track', 'ping', '--json').out).until).toMatch(/T.*Z$/);
  expect(readFileSync(join(home, 'sessions', id, 'worklog.jsonl'), 'utf8')).not.toContain('+05:45');
});

test.each([
  [0, '2026-02-05 09:00:00 UTC'],
  [60, '2026-02-05 10:00:00 +01:00'],
  [-570, '2026-02-04 23:30:00 -09:30'],
])('an instant in a zone that is %i minutes ahead', (ahead, words) => {
  expect(localTime(START, ahead)).toBe(words);
  expect(localDay(START, ahead)).toBe(words.slice(0, 10));
});

test('a refused command with --json answers in JSON', () => {
  const folder = testFolder();
  const say = (...args: string[]) => watchkeeperAgain(folder, args, { WATCHKEEPER_HOME: join(folder, 'home') });
  const told = (...args: string[]) => {
    const { code, out, err } = say(...args, '--json');
    return { exit: code, ...JSON.parse(out), err };
  };
  say('track', 'init', 'first', '--step', 'a');
  expect(told('work', 'start', '--purpose', 'second')).toMatchObject({ exit: 1, code: 'held' });
  expect(told('track', 'init', 'second')).toMatchObject({
    ...{ exit: 1, code: 'refused', message: expect.stringContaining('is unfinished here: first') },
  });
  expect(told('track', 'step', '9', '--start')).toMatchObject({ exit: 1, code: 'unknown_step' });
  expect(told('track', 'done')).toMatchObject({ exit: 1, code: 'refused', err: expect.stringContaining('--complete') });
  expect(told('work', 'show', 'nobody')).toMatchObject({
    ...{ exit: 2, code: 'usage', message: expect.stringMatching(/^there is no session "nobody"/) },
    err: expect.stringMatching(/^watchkeeper: there is no session/),
  });
  expect(told('track', 'stpe')).toMatchObject({ exit: 2, code: 'usage' });
  // Words of a person that follow `--` are no option.
  expect(say('track', 'log', '--', '--json', 'x').out).not.toMatch(/^\{/);
  expect(existsSync(join(folder, 'home'))).toBe(true);
});

test('sessions are listed by directory, the heaviest one first, twenty of them', async () => {
  const scene = new WorkScene();
  const other = join(testFolder(), 'other');
  mkdirSync(other);
  const begin = async (task: string, where: string, ...steps: string[]) =>
    scene.say('track', ['init', task, '--concurrent', ...steps], { where });
  await begin('light here', scene.directory);
  await begin('light there', other);
  await begin('heavy there', other, '--step', 'a');
  const order = async () => {
    const { out } = await scene.say('work', ['list']);
    return [...out.matchAll(/\b(?:light|heavy) (?:here|there)/g)].map(String);
  };
  expect(await order()).toEqual(['heavy there', 'light there', 'light here']);
  for (let index = 0; index < 20; index += 1) await begin('heavy here', scene.directory, '--step', 'a');
  const { out } = await scene.say('work', ['list']);
  expect(out).toMatch(/\n… and 3 more: /);
});
