// covers: memory/workspaces/scan.ts memory/show/changes.ts memory/fold/rules/watch.ts memory/verbs/status.ts
/** How a session is: what somebody reads who asks. */
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { asks, calls, returns, says, transcript } from '../../../src/transcripts/told.js';
import { WorkScene } from '../work/scene.js';

let scene: WorkScene;
let id = '';
let lines = 0;

beforeEach(async () => {
  scene = new WorkScene();
  id = await scene.begin('Fix the login');
});

const status = () => scene.say('track', ['status']);
const json = () => scene.json('track', ['status']);
const write = (event: string, fields: object = {}) => {
  lines += 1;
  const line = { v: 1, id: `x${lines}`, timestamp: new Date().toISOString(), event, origin: 'watchkeeper', ...fields };
  appendFileSync(join(scene.home, 'sessions', id, 'worklog.jsonl'), `${JSON.stringify(line)}\n`);
};

test('shows the task, the axes, the step, the files in progress and what changed since the scan', async () => {
  writeFileSync(join(scene.directory, 'old'), 'x');
  writeFileSync(join(scene.directory, 'gone'), 'x');
  // The beginning of the session was a scan.
  expect((await json()).changes).toMatchObject({ created: { paths: ['gone', 'old'] } });
  await scene.say('track', ['scan']);
  await scene.say('track', ['step', '1', '--start', '--file', 'src/a.ts']);
  mkdirSync(join(scene.directory, 'src/deep'), { recursive: true });
  for (let index = 0; index < 7; index += 1) writeFileSync(join(scene.directory, `src/deep/${index}`), 'x');
  renameSync(join(scene.directory, 'old'), join(scene.directory, 'new'));
  rmSync(join(scene.directory, 'gone'));
  const { code, out } = await status();
  expect(code).toBe(0);
  const shown = out.replace(/\d{4}-\S+ [\d:]+ (?:UTC|[+-]\d\d:\d\d)/g, 'TIME').replace(id, 'ID');
  expect(shown.trimEnd().split('\n')).toEqual([
    'ID: Fix the login',
    'resting; no agent is known; last activity just now (TIME)',
    '0 of 1 step, now step 1: a',
    '  [~] 1 a',
    'files in progress:',
    '  src/a.ts',
    'changes since the scan of TIME:',
    ...['new', 'src/deep/0', 'src/deep/1', 'src/deep/2', 'src/deep/3'].map((path) => `  created   ${path}`),
    '  … and 3 more created',
    '  deleted   gone',
    '  deleted   old',
  ]);
  expect((await json()).changes).toMatchObject({ created: { count: 8 }, deleted: { paths: ['gone', 'old'] } });
  // To ask is no scan: the next one still has all of it.
  expect((await scene.json('track', ['scan'])).created.count).toBe(8);
});

test('a notice is shown, with exit code 1, until it is closed; what is waited for is no fault', async () => {
  await scene.say('track', ['step', '1', '--start']);
  write('wait_start', { kind: 'permission', tool_use_id: 't1' });
  expect(await status()).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^its agent waits for a permission, since .* \(just now\)$/m),
  });
  write('wait_end', { kind: 'permission', tool_use_id: 't1' });
  write('notice', { rule: 'silence', sentence: 'nothing was seen for 3 min' });
  const { code, out } = await status();
  expect([code, out]).toEqual([1, expect.stringContaining('notice, just now: nothing was seen for 3 min\n')]);
  expect(await json()).toMatchObject({ waits: [], stuck: true, notices: [{ rule: 'silence' }] });
  write('notice_closed', { notice: `x${lines}` });
  expect(await status()).toMatchObject({ code: 0, out: expect.not.stringContaining('notice') });
});

test('a session tracked by hand that is silent says so, as the check of a monitor does; its state is no fault', async () => {
  expect((await status()).out).not.toContain('silent for');
  const path = join(scene.home, 'sessions', id, 'worklog.jsonl');
  const earlier = (text: string) => new Date(Date.parse(text) - 3_600_000).toISOString();
  writeFileSync(path, readFileSync(path, 'utf8').replace(/(?<="timestamp":")[^"]+/g, earlier));
  expect((await scene.say('track', ['monitor', '--check'])).code).toBe(1);
  expect(await status()).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^silent for 60 min, and no transcript shows its work: .*--check` calls it stuck/m),
  });
  await scene.say('track', ['ping']);
  expect((await status()).out).not.toContain('silent for');
});

test('a file that is said again to be as it is adds no line', async () => {
  const text = () => readFileSync(join(scene.home, 'sessions', id, 'worklog.jsonl'), 'utf8');
  const file = (...args: string[]) => scene.say('track', ['file', 'src/a.ts', ...args]);
  expect((await file('--working')).out).toBe('src/a.ts is being worked on\n');
  const before = text();
  expect(await file('--working')).toMatchObject({ code: 0, out: 'src/a.ts is being worked on\n' });
  expect(text()).toBe(before);
  // Another step, or another status, is news.
  await file('--working', '--step', '1');
  await file('--working', '--step', '1');
  await file('--done');
  expect(text().split('\n')).toHaveLength(before.split('\n').length + 2);
  expect((await file('--working', '--step', '9')).code).toBe(1);
});

test('a notice is shown by work show, and beside the session where no directory is held', async () => {
  scene = new WorkScene();
  id = (await scene.json('track', ['init', 'Fix the login', '--concurrent', '--step', 'a'])).session_id;
  // A word that writes does not guess.
  const choice = () => scene.say('track', ['sync']);
  expect(await choice()).toMatchObject({ code: 2, err: expect.stringMatching(/\n {2}\S+ {2}Fix the login$/) });
  write('notice', { rule: 'silence', sentence: 'nothing was seen for 3 min' });
  const stuck = { code: 2, err: expect.stringMatching(/\n {2}\S+ {2}its agent seems stuck {2}Fix the login$/) };
  expect(await choice()).toMatchObject(stuck);
  const shown = await scene.say('work', ['show', id]);
  expect(shown.out.split('\n').slice(2, 4)).toEqual([
    expect.stringMatching(/^stuck; no agent is known/),
    'seems stuck, noticed just now: nothing was seen for 3 min',
  ]);
  write('notice_closed', { notice: `x${lines}` });
  expect((await scene.say('work', ['show', id])).out).not.toContain('stuck');
});

test('an agent that is silent in the middle of its turn is stuck, unless a ping, a wait or its end says why', async () => {
  const path = transcript([asks(0, 'go'), calls(1, 't1', 'Bash', { command: 'sleep 1' })]);
  const talk = { provider: 'claude', conversation: 'c1', source: 'startup', transcript: path };
  write('conversation', talk);
  const stuck = await status();
  expect([stuck.code, stuck.out]).toEqual([
    1,
    expect.stringMatching(/^a call of its agent is running\nseems stuck: no activity of the agent for /m),
  ]);
  await scene.say('track', ['ping', '--for', '1m']);
  expect((await status()).code).toBe(0);
  write('ping', { until: new Date(0).toISOString() });
  expect((await status()).code).toBe(1);
  write('wait_start', { kind: 'permission' });
  expect(await json()).toMatchObject({ attention: 'waiting', stuck: false });
  write('wait_end', { kind: 'permission' });
  await scene.say('work', ['end']);
  expect(await scene.json('track', ['status', '--session', id])).toMatchObject({ attention: 'idle', stuck: false });
});

test('a notice that nobody has closed says nothing of an agent that has gone on since', async () => {
  const path = transcript([asks(0, 'go'), says(1, 'Done.', 'end_turn')]);
  write('conversation', { provider: 'claude', conversation: 'c1', source: 'startup', transcript: path });
  write('notice', { rule: 'silence', sentence: 'nothing was seen for 3 min' });
  const { code, out } = await status();
  expect([code, out]).toEqual([0, expect.stringContaining('nothing was seen for 3 min (over, or excused)\n')]);
});

test('a dialog that was answered is not waited for any more, though no hook says so', async () => {
  write('wait_start', { kind: 'permission' });
  const path = transcript([asks(0, 'go'), calls(1, 't1'), returns(3_600, 't1'), says(3_601, 'Done.', 'end_turn')]);
  write('conversation', { provider: 'claude', conversation: 'c1', source: 'startup', transcript: path });
  expect(await json()).toMatchObject({ attention: 'idle', waits: [] });
  expect((await status()).out).not.toContain('waits for');
});

test('to look is no activity, however often and in whatever way', async () => {
  await scene.say('track', ['step', '1', '--start', '--file', 'a']);
  await scene.say('track', ['checkpoint', 'c']);
  const path = join(scene.home, 'sessions', id, 'worklog.jsonl');
  const before = [readFileSync(path, 'utf8'), (await json()).last_activity];
  const looks = ['status', 'scan', 'sync', 'resume', 'crash-detect', 'checkpoint --list', 'checkpoint --verify c'];
  for (let round = 0; round < 3; round += 1) {
    for (const look of looks) await scene.say('track', look.split(' '));
    for (const look of [`show ${id}`, 'list', 'list --all', `verify ${id}`, `export ${id}`, `rebuild ${id}`])
      await scene.say('work', look.split(' '));
  }
  expect([readFileSync(path, 'utf8'), (await json()).last_activity]).toEqual(before);
});

test('a ping excuses silence only, and a person who is asked now not the hours before: who works for hours is stuck', async () => {
  const path = transcript([asks(0, 'go'), calls(1, 't1'), returns(2, 't1'), calls(9_000, 't2'), returns(9_001, 't2')]);
  write('conversation', { provider: 'claude', conversation: 'c1', source: 'startup', transcript: path });
  await scene.say('track', ['ping', '--for', '1m']);
  const { stuck, findings } = await json();
  expect([stuck, findings.map(({ rule }: { rule: string }) => rule)]).toEqual([true, ['runaway']]);
  write('wait_start', { kind: 'permission' });
  expect(await json()).toMatchObject({ attention: 'waiting', stuck: true, findings: [{ rule: 'runaway' }] });
});
