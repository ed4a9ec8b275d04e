// covers: bridge/hook/main.ts bridge/hook/program.ts bridge/hook/answers.ts memory/programs/payload.ts
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { watchkeeper } from '../cli/program.js';
import { begin, eventsOf, failed, hook, payload, scene, silent, worklogs } from './hookScene.js';

const MEGABYTE = 1024 * 1024;

test('a start, a permission dialog and an end are in the worklog of one session', async () => {
  const place = scene();
  expect(await hook(place, payload(place, 'SessionStart', { source: 'startup' }))).toEqual(silent);
  expect(await hook(place, payload(place, 'PermissionRequest', { tool_name: 'Bash' }))).toEqual(silent);
  expect(await hook(place, payload(place, 'SessionEnd', { reason: 'clear' }))).toEqual(silent);
  expect(await hook(place, payload(place, 'SessionEnd', { reason: 'other' }))).toEqual(silent);
  const [log = '', ...others] = worklogs(place);
  expect(others).toEqual([]);
  // Whatever is kept afterwards, in a process of its own, comes later.
  const lines = log
    .trim()
    .split('\n')
    .slice(0, 5)
    .map((line) => JSON.parse(line));
  expect(lines.map(({ event }) => event)).toEqual([
    'session_started',
    'conversation',
    'run_started',
    'wait_start',
    'run_ended',
  ]);
  expect(lines[2].process.pid).toBe(process.pid);
  expect(lines[4].reason).toBe('other');
  expect(new Set(lines.map(({ origin }) => origin))).toEqual(new Set(['program']));
});

test('a crash is told to the model and to the person, as the agents read it', async () => {
  const place = scene();
  await hook(place, payload(place, 'SessionStart', { source: 'startup' }));
  const log = join(place.home, 'sessions', readdirSync(join(place.home, 'sessions'))[0] ?? '', 'worklog.jsonl');
  const stamp = { v: 1, timestamp: new Date().toISOString(), origin: 'agent' };
  writeFileSync(
    log,
    `${JSON.stringify({ ...stamp, id: 'n', event: 'note', text: 'mind the cache', priority: 'high' })}\n`,
    { flag: 'a' },
  );
  // As if the machine had been started again.
  writeFileSync(log, readFileSync(log, 'utf8').replaceAll(/"boot_id":"[^"]*"/g, '"boot_id":"another"'));
  const { code, out } = await hook(place, payload(place, 'SessionStart', { source: 'startup', session_id: 'c-2' }));
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: expect.stringContaining('mind the cache') },
    systemMessage: expect.stringMatching(/^watchkeeper: an agent here crashed/),
  });
});

test('what became of sessions of the directory is shown to the person at the next start, once', async () => {
  const place = scene();
  await hook(place, payload(place, 'SessionStart', { source: 'startup' }));
  const folder = join(place.home, 'workspaces');
  const [log = ''] = readdirSync(folder);
  const line = { v: 1, id: 't', timestamp: new Date().toISOString(), origin: 'watchkeeper', event: 'told' };
  const sentence = 'session x rested for more than 30 days';
  writeFileSync(join(folder, log), `${JSON.stringify({ ...line, session_id: 'x', sentence })}\n`, { flag: 'a' });
  const start = (session_id: string) => hook(place, payload(place, 'SessionStart', { source: 'startup', session_id }));
  expect(JSON.parse((await start('c-2')).out)).toEqual({ systemMessage: `watchkeeper: ${sentence}` });
  expect((await start('c-3')).out).toBe('');
});

test.each<[string, string | Buffer]>([
  ['nothing', ''],
  ['binary input', Buffer.from([0, 255, 1, 254, 125])],
  ['50 MB', Buffer.alloc(50 * MEGABYTE, 'x')],
  ['50 MB of JSON', `{"hook_event_name":"SessionStart","session_id":"c-1","prompt":"${'x'.repeat(50 * MEGABYTE)}"}`],
  ['no object', '[]'],
  ['an event without a conversation', '{"hook_event_name":"SessionStart"}'],
  ['an unknown event', '{"hook_event_name":"Later","session_id":"c-1"}'],
])('%s: one line says that nothing was recorded, and the agent works on', async (_, input) => {
  const place = scene();
  expect(await hook(place, input)).toEqual(failed);
  expect(worklogs(place)).toEqual([]);
});

test('an event of a conversation that nobody has recorded changes nothing', async () => {
  const place = scene();
  for (const event of ['SubagentStart', 'PermissionRequest', 'SessionEnd'])
    expect(await hook(place, payload(place, event))).toEqual(silent);
  expect(worklogs(place)).toEqual([]);
});

test('the runs of a bridge are left to it', async () => {
  const place = scene();
  expect(await hook(place, payload(place, 'SessionStart'), { WATCHKEEPER_RUN: 'run-1' })).toEqual(silent);
  expect(worklogs(place)).toEqual([]);
});

test('a window that has inherited the variables of a run that is over is recorded for the person', async () => {
  const place = scene();
  const logs = join(place.home, '../logs');
  mkdirSync(join(logs, 'sessions'), { recursive: true, mode: 0o700 });
  const inherited = { WATCHKEEPER_RUN: 'run-1', WATCHKEEPER_MEMORY: logs, WATCHKEEPER_SESSION: 's-1' };
  expect(await hook(place, payload(place, 'SessionStart'), inherited)).toEqual(silent);
  expect(eventsOf(place)).toEqual(['session_started', 'conversation', 'run_started']);
  expect(readdirSync(join(logs, 'sessions'))).toEqual([]);
});

test('a home that cannot be used is said in one line', async () => {
  const place = scene();
  writeFileSync(place.home, 'a file');
  expect(await hook(place, payload(place, 'SessionStart'))).toEqual(failed);
  rmSync(place.home);
  mkdirSync(join(place.home, 'sessions'), { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, 'bindings'), 'a file');
  chmodSync(join(place.home, 'bindings'), 0o600);
  const out = expect.stringMatching(/^\{"systemMessage":"watchkeeper: this session is not recorded: .+"\}\n$/);
  expect(await hook(place, payload(place, 'SessionStart'))).toEqual({ ...failed, out });
});

test('a hook whose folder was removed exits with 0', async () => {
  const place = scene();
  const gone = { ...place, work: join(place.work, 'gone') };
  mkdirSync(gone.work);
  const child = begin(gone);
  rmSync(gone.work, { recursive: true });
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error('no pipes');
  stdin.end(JSON.stringify(payload(gone, 'SessionStart')));
  const [out, said, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(said.split('\n').length).toBeLessThanOrEqual(2);
});

test.each(['', '\n', '\r\n '])('an input that stays open after %j does not hold it up', async (end) => {
  const place = scene();
  const child = begin(place);
  child.stdin?.write(`${JSON.stringify(payload(place, 'SessionStart'))}${end}`);
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(worklogs(place)).toHaveLength(1);
});

test('two hooks of one start at the same time: one session, one conversation, one run', async () => {
  const place = scene();
  await Promise.all(Array.from({ length: 4 }, () => hook(place, payload(place, 'SessionStart'))));
  const [id = ''] = readdirSync(join(place.home, 'sessions'));
  expect(eventsOf(place)[0]).toBe('session_started');
  // Each may have written a line before it could see that of another.
  const { out } = watchkeeper(place.work, ['work', 'show', id, '--json'], { WATCHKEEPER_HOME: place.home });
  expect(JSON.parse(out)).toMatchObject({ conversations: [{ id: 'c-1' }], runs: [{}], violations: { refused: 0 } });
});
